//! Toolsets, without a gateway: whether their tools are there is not known.

use std::collections::BTreeMap;

use mcpr_admin::{
    Built, DeleteToolset, ListToolsets, SaveToolset, ShowToolset, ToolsetDetail, ToolsetEntry, ToolsetList,
    ToolsetReport,
};
use mcpr_auth::Timestamp;
use mcpr_config::Config;
use mcpr_store::{FILED, OPERATOR, SavedEquip, SavedToolset};

use super::{Absent, Database, Offline, check_name, from_file};
use crate::problem::Problem;

/// All toolsets, and who has which equipped.
pub(super) struct Shelf {
    pub(super) config: Config,
    toolsets: Vec<Kept>,
    pub(super) equips: Vec<SavedEquip>,
}

/// A toolset.
pub(super) struct Kept {
    pub(super) saved: SavedToolset,
    /// Whether it stands in a configuration file.
    from_file: bool,
}

/// What nobody can say without a gateway.
pub(super) const UNKNOWN: &str = "which of these tools are there is not known without a running gateway";

impl Offline<ListToolsets> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, _: ListToolsets) -> Result<ToolsetList, Problem> {
        let shelf = self.shelf().await?;
        Ok(ToolsetList {
            toolsets: shelf.toolsets.iter().map(|kept| shelf.report(kept)).collect(),
        })
    }
}

impl Offline<ShowToolset> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, asked: ShowToolset) -> Result<ToolsetDetail, Problem> {
        let shelf = self.shelf().await?;
        let kept = shelf.named(&asked.name, asked.owner.as_deref())?;
        Ok(shelf.detail(kept))
    }
}

impl Offline<SaveToolset> for Database {
    const ABSENT: Absent = Absent::Make;

    async fn carry_out(&self, asked: SaveToolset) -> Result<Built, Problem> {
        check_shape(&asked)?;
        let shelf = self.shelf().await?;
        let before = shelf.find(OPERATOR, &asked.name);
        match before {
            Some(kept) if kept.from_file => return Err(shelf.is_from_file(kept)),
            Some(_) if !asked.replace => return Err(taken(&asked.name)),
            _ => {}
        }
        let created = before.map(|kept| kept.saved.created);
        let name = asked.name.clone();
        self.store.put_toolset(saved(asked, created), Vec::new()).await?;
        let shelf = self.shelf().await?;
        Ok(Built {
            toolset: shelf.report(shelf.named(&name, None)?),
            replaced: created.is_some(),
            warnings: vec![UNKNOWN.to_owned()],
        })
    }
}

impl Offline<DeleteToolset> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, asked: DeleteToolset) -> Result<ToolsetReport, Problem> {
        let shelf = self.shelf().await?;
        let kept = shelf.named(&asked.name, asked.owner.as_deref())?;
        if kept.from_file {
            return Err(shelf.is_from_file(kept));
        }
        let wearers = shelf.wearers(kept);
        if !wearers.is_empty() && !asked.force {
            return Err(in_use(&asked.name, &wearers));
        }
        for principal in wearers {
            self.store.delete_equip(&principal).await?;
        }
        self.store
            .delete_toolset(&kept.saved.owner, &kept.saved.name)
            .await?;
        Ok(shelf.report(kept))
    }
}

impl Database {
    /// All toolsets, those of the configuration in place of others of the same name.
    pub(super) async fn shelf(&self) -> Result<Shelf, Problem> {
        let config = self.config()?;
        let equips = self.store.equips().await?;
        let mut toolsets: BTreeMap<_, (SavedToolset, bool)> = BTreeMap::new();
        for saved in self.store.toolsets().await? {
            toolsets.insert((saved.owner.clone(), saved.name.clone()), (saved, false));
        }
        for filed in &config.gateway.toolsets {
            let remembered = toolsets.remove(&(FILED.to_owned(), filed.name.clone()));
            let pins = remembered.map(|(saved, _)| saved.pins).unwrap_or_default();
            let key = (OPERATOR.to_owned(), filed.name.clone());
            toolsets.insert(key, (of_file(filed, pins), true));
        }
        toolsets.retain(|(owner, _), _| owner != FILED);
        let kept = toolsets
            .into_values()
            .map(|(saved, from_file)| Kept { saved, from_file });
        Ok(Shelf {
            toolsets: kept.collect(),
            config,
            equips,
        })
    }
}

impl Shelf {
    /// The toolset of that owner.
    pub(super) fn find(&self, owner: &str, name: &str) -> Option<&Kept> {
        let meant = |kept: &&Kept| kept.saved.owner == owner && kept.saved.name == name;
        self.toolsets.iter().find(meant)
    }

    /// The toolset that a principal means: its own, else the operator's.
    pub(super) fn meant_by(&self, principal: &str, name: &str) -> Option<&Kept> {
        self.find(principal, name).or_else(|| self.find(OPERATOR, name))
    }

    /// The toolset of that owner, by default the operator's.
    fn named(&self, name: &str, owner: Option<&str>) -> Result<&Kept, Problem> {
        let of = owner.map_or_else(String::new, |owner| format!(" of `{owner}`"));
        self.find(owner.unwrap_or(OPERATOR), name)
            .ok_or_else(|| Problem::not_found(format!("there is no toolset `{name}`{of}")))
    }

    /// A toolset in short.
    pub(super) fn report(&self, kept: &Kept) -> ToolsetReport {
        let saved = &kept.saved;
        ToolsetReport {
            name: saved.name.clone(),
            owner: saved.owner.clone(),
            from_file: kept.from_file,
            description: saved.description.clone(),
            entries: saved.tools.len() as u64,
            tools: None,
            estimated_tokens: None,
            equipped: false,
            equipped_by: self.wearers(kept),
        }
    }

    /// All that is known of a toolset.
    pub(super) fn detail(&self, kept: &Kept) -> ToolsetDetail {
        let entry = |name: &String| ToolsetEntry {
            namespaced_name: name.clone(),
            definition_hash: kept.saved.pins.get(name).cloned(),
        };
        ToolsetDetail {
            toolset: self.report(kept),
            entries: kept.saved.tools.iter().map(entry).collect(),
            tools: Vec::new(),
        }
    }

    fn wearers(&self, kept: &Kept) -> Vec<String> {
        let wears = |equip: &&SavedEquip| equip.owner == kept.saved.owner && equip.toolset == kept.saved.name;
        let mut all: Vec<_> = self
            .equips
            .iter()
            .filter(wears)
            .map(|equip| equip.principal.clone())
            .collect();
        all.sort();
        all
    }

    fn is_from_file(&self, kept: &Kept) -> Problem {
        from_file(&format!("toolset `{}`", kept.saved.name), &self.config)
    }
}

/// Of those in files the database only keeps the hashes of definitions.
fn of_file(filed: &mcpr_config::Toolset, pins: BTreeMap<String, String>) -> SavedToolset {
    let now = Timestamp::now();
    SavedToolset {
        owner: OPERATOR.to_owned(),
        name: filed.name.clone(),
        description: filed.description.clone(),
        tools: filed.tools.clone(),
        pins,
        created: now,
        changed: now,
    }
}

/// As it is stored. Definitions without a hash are remembered by the gateway when it first sees them.
fn saved(asked: SaveToolset, created: Option<Timestamp>) -> SavedToolset {
    let now = Timestamp::now();
    let pin = |entry: &ToolsetEntry| Some((entry.namespaced_name.clone(), entry.definition_hash.clone()?));
    SavedToolset {
        owner: OPERATOR.to_owned(),
        name: asked.name,
        description: asked.description,
        pins: asked.tools.iter().filter_map(pin).collect(),
        tools: asked
            .tools
            .into_iter()
            .map(|entry| entry.namespaced_name)
            .collect(),
        created: created.unwrap_or(now),
        changed: now,
    }
}

fn check_shape(asked: &SaveToolset) -> Result<(), Problem> {
    check_name("toolset", &asked.name)?;
    if asked.tools.is_empty() {
        return Err(Problem::usage("a toolset has at least one entry"));
    }
    let wrong = |entry: &&ToolsetEntry| {
        let name = &entry.namespaced_name;
        name.is_empty() || name.chars().any(char::is_control)
    };
    match asked.tools.iter().find(wrong) {
        Some(entry) => Err(Problem::usage(format!(
            "`{}` cannot name a tool",
            entry.namespaced_name.escape_debug()
        ))),
        None => Ok(()),
    }
}

fn taken(name: &str) -> Problem {
    Problem::usage(format!("the name `{name}` is taken: there is a toolset of it"))
        .hint("replace it with --replace, or choose another")
}

fn in_use(name: &str, wearers: &[String]) -> Problem {
    Problem::usage(format!("toolset `{name}` is equipped by {}", wearers.join(", ")))
        .hint("unequip it first, or take it from them with --force")
}
