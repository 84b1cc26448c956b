//! Making toolsets.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcpr_admin::{
    AcceptToolset, BuildToolset, Built, ErrorCode, Failure, SaveToolset, ToolState, ToolsetDetail,
    ToolsetEntry,
};
use mcpr_auth::Timestamp;
use mcpr_registry::{Selection, Tool, View, definition_hash, nearest};
use mcpr_store::{Definition, OPERATOR};

use super::detail::{OUT_OF_SCOPE, absent};
use super::{Asker, Toolset, ToolsetError, fresh_version};
use crate::gateway::Gateway;
use crate::scope::Scope;
use crate::sight::Sight;
use crate::snapshot::Snapshot;

/// The longest name of a toolset, in characters.
const LONGEST_NAME: usize = 64;
/// The entries of one toolset, at the most (SEC-05).
const MOST_ENTRIES: usize = 5000;
/// Those of them with a `*`, at the most: each is held against every tool there is.
const MOST_PATTERNS: usize = 200;
/// The longest entry, in bytes.
const LONGEST_ENTRY: usize = 512;
/// The longest description, in characters.
const LONGEST_DESCRIPTION: usize = 4096;
/// The toolsets of one principal, at the most.
const MOST_TOOLSETS: usize = 100;
/// How many wrong names are told at once.
const TOLD: usize = 10;

/// A toolset to be made.
struct Draft {
    name: String,
    description: Option<String>,
    tools: Vec<ToolsetEntry>,
    /// Whether one that is there is replaced.
    replace: bool,
    /// Whether names are taken that no tool has.
    force: bool,
}

impl Gateway {
    /// Makes a toolset of whoever asks, or replaces his own of that name.
    pub(crate) async fn build(
        self: &Arc<Self>,
        asker: &Asker,
        asked: BuildToolset,
    ) -> Result<Built, ToolsetError> {
        let draft = Draft {
            name: asked.name,
            description: asked.description,
            tools: asked.tools,
            replace: true,
            force: false,
        };
        self.save(asker, draft).await
    }

    /// Makes a toolset of the operator.
    pub(crate) async fn save_toolset(
        self: &Arc<Self>,
        asker: &Asker,
        asked: SaveToolset,
    ) -> Result<Built, ToolsetError> {
        let draft = Draft {
            name: asked.name,
            description: asked.description,
            tools: asked.tools,
            replace: asked.replace,
            force: asked.force,
        };
        self.save(asker, draft).await
    }

    async fn save(self: &Arc<Self>, asker: &Asker, draft: Draft) -> Result<Built, ToolsetError> {
        check_shape(&draft)?;
        let _one_at_a_time = self.toolsets.changing.lock().await;
        let before = self.replaced(asker, &draft)?;
        let snapshot = self.snapshot();
        let reach = asker.reach(self);
        let sight = snapshot.sight(&reach);
        let known = before.as_ref().map(|before| &before.selection);
        let warnings = check_names(&snapshot, &sight, &reach, &draft, known)?;
        let selection = Selection::new(draft.tools.iter().map(|entry| &entry.namespaced_name));
        let (mut pins, definitions) = pinned(&sight.reachable.select(&selection));
        for entry in &draft.tools {
            if let Some(hash) = &entry.definition_hash {
                pins.insert(entry.namespaced_name.clone(), hash.clone());
            }
        }
        let now = Timestamp::now();
        let toolset = Toolset {
            version: fresh_version(),
            owner: asker.owner().into(),
            name: draft.name.into(),
            from_file: false,
            description: draft.description,
            selection,
            pins,
            created: before.as_ref().map_or(now, |before| before.created),
            changed: now,
        };
        let toolset = self.keep(toolset, definitions, before.as_deref()).await?;
        Ok(Built {
            toolset: self.report(asker, &toolset),
            replaced: before.is_some(),
            warnings,
        })
    }

    /// Stores a toolset, then lets it count.
    async fn keep(
        self: &Arc<Self>,
        toolset: Toolset,
        definitions: Vec<Definition>,
        before: Option<&Toolset>,
    ) -> Result<Arc<Toolset>, ToolsetError> {
        self.store.put_toolset(toolset.to_stored(), definitions).await?;
        let of_operator = *toolset.owner == *OPERATOR;
        let toolset = self.toolsets.put(toolset);
        if let Some(before) = before {
            self.snapshot().forget(before);
        }
        if of_operator {
            self.republish(); // Requests and projects may name it.
        }
        Ok(toolset)
    }

    /// The toolset in whose place the new one comes.
    fn replaced(&self, asker: &Asker, draft: &Draft) -> Result<Option<Arc<Toolset>>, ToolsetError> {
        let own = self.toolsets.exactly(asker.owner(), &draft.name);
        let taken = |why: &str, hint: &str| {
            let text = format!("the name `{}` is taken: {why}", draft.name);
            Err(Failure::new(ErrorCode::Invalid, text)
                .hint(hint.to_owned())
                .into())
        };
        match &own {
            Some(own) if own.from_file => taken(
                "a configuration file has a toolset of it",
                "change it there, or choose another name",
            ),
            Some(_) if !draft.replace => taken(
                "there is a toolset of it",
                "replace it with --replace, or choose another",
            ),
            None if self.toolsets.exactly(OPERATOR, &draft.name).is_some() => taken(
                "an operator's toolset has it, which is read-only here",
                "choose another name",
            ),
            None if !asker.operator && self.toolsets.count_of(asker.owner()) >= MOST_TOOLSETS => {
                let text = format!("you have {MOST_TOOLSETS} toolsets, which is the limit");
                Err(Failure::new(ErrorCode::Invalid, text)
                    .hint("delete one with `delete-toolset` first")
                    .into())
            }
            _ => Ok(own),
        }
    }

    /// Takes the definitions that tools have now for those that a toolset was made with.
    pub(crate) async fn accept(
        self: &Arc<Self>,
        asker: &Asker,
        asked: &AcceptToolset,
    ) -> Result<ToolsetDetail, ToolsetError> {
        let _one_at_a_time = self.toolsets.changing.lock().await;
        let before = asker.find(self, &asked.name, asked.owner.as_deref())?;
        let snapshot = self.snapshot();
        let (pins, definitions) = pinned(&snapshot.all.select(&before.selection));
        let toolset = Toolset {
            version: fresh_version(),
            pins,
            changed: Timestamp::now(),
            ..(*before).clone()
        };
        let toolset = self.keep(toolset, definitions, Some(&before)).await?;
        Ok(self.detail(asker, &toolset, &asker.reach(self), false).await?)
    }

    /// Remembers the definitions of tools that a toolset has been seen with for the first time. Whoever
    /// asks for it holds the right to change toolsets.
    pub(super) async fn pin_new(
        self: &Arc<Self>,
        toolset: &Arc<Toolset>,
    ) -> Result<Arc<Toolset>, ToolsetError> {
        let snapshot = self.snapshot();
        let tools = snapshot.all.select(&toolset.selection);
        if tools
            .tools()
            .all(|tool| toolset.pins.contains_key(&tool.origin.to_string()))
        {
            return Ok(toolset.clone());
        }
        let (mut pins, definitions) = pinned(&tools);
        pins.extend(toolset.pins.clone());
        let fresh = Toolset {
            pins,
            ..(**toolset).clone()
        };
        self.store.put_toolset(fresh.to_stored(), definitions).await?;
        Ok(self.toolsets.put(fresh))
    }
}

fn check_shape(draft: &Draft) -> Result<(), ToolsetError> {
    let invalid = |text: String| Err(Failure::new(ErrorCode::Invalid, text).into());
    let (name, count) = (&draft.name, draft.tools.len());
    let printable = |c: char| !c.is_control() && c != '/';
    if !(1..=LONGEST_NAME).contains(&name.chars().count())
        || !name.chars().all(printable)
        || name.trim() != name
    {
        return invalid(format!(
            "`{}` cannot name a toolset: 1 to {LONGEST_NAME} printable characters without `/`",
            name.escape_debug()
        ));
    }
    if count == 0 || count > MOST_ENTRIES {
        return invalid(format!("a toolset has 1 to {MOST_ENTRIES} entries, not {count}"));
    }
    let is_pattern = |entry: &&ToolsetEntry| Selection::is_pattern(&entry.namespaced_name);
    let patterns = draft.tools.iter().filter(is_pattern).count();
    if patterns > MOST_PATTERNS {
        return invalid(format!(
            "a toolset has at most {MOST_PATTERNS} entries with `*`, not {patterns}: name the tools one by one"
        ));
    }
    let description = draft.description.as_deref().unwrap_or_default();
    if description.chars().count() > LONGEST_DESCRIPTION {
        return invalid(format!(
            "the description is longer than {LONGEST_DESCRIPTION} characters"
        ));
    }
    let unfit =
        |text: &str| text.is_empty() || text.len() > LONGEST_ENTRY || text.chars().any(char::is_control);
    let wrong = |entry: &&ToolsetEntry| {
        unfit(&entry.namespaced_name) || entry.definition_hash.as_deref().is_some_and(unfit)
    };
    match draft.tools.iter().find(wrong) {
        Some(entry) => invalid(format!(
            "`{}` cannot name a tool",
            entry.namespaced_name.escape_debug()
        )),
        None => Ok(()),
    }
}

/// Refuses names that no tool has, and gives what is worth knowing of the others. What a toolset
/// had before it may keep.
fn check_names(
    snapshot: &Snapshot,
    sight: &Sight,
    reach: &Scope,
    draft: &Draft,
    before: Option<&Selection>,
) -> Result<Vec<String>, ToolsetError> {
    let reachable = &sight.reachable;
    let had = |name: &str| before.is_some_and(|before| before.names().iter().any(|known| **known == *name));
    let (mut wrong, mut warnings) = (Vec::new(), Vec::new());
    for entry in &draft.tools {
        let name = entry.namespaced_name.as_str();
        if reachable.tool_by_origin(name).is_some() {
            continue;
        }
        if Selection::is_pattern(name) {
            let one = Selection::new([name]);
            if reachable.select(&one).tools().next().is_none() {
                warnings.push(format!("`{name}` fits no tool now"));
            }
            continue;
        }
        // Who may not use it is told the same whether it is there or not.
        let why = match reach.allows(name) {
            true => absent(snapshot, sight, name),
            false => (ToolState::Missing, OUT_OF_SCOPE.to_owned()),
        };
        match why {
            (ToolState::Missing, reason) if !draft.force && !had(name) => wrong.push((name, reason)),
            (_, reason) => warnings.push(format!("`{name}` is skipped for now: {reason}")),
        }
    }
    if wrong.is_empty() {
        return Ok(warnings);
    }
    let more = match wrong.len().checked_sub(TOLD) {
        Some(more) if more > 0 => format!("\nand {more} more"),
        _ => String::new(),
    };
    // What was meant takes long to find: only for those that are told.
    let told = wrong.iter().take(TOLD);
    let told = told.map(|(name, reason)| unknown(reachable, name, reason));
    let fit = if wrong.len() == 1 {
        "one of the names fits"
    } else {
        "some of the names fit"
    };
    let text = format!("{fit} no tool:\n{}{more}", told.collect::<Vec<_>>().join("\n"));
    Err(Failure::new(ErrorCode::Invalid, text).into())
}

fn unknown(reachable: &View, name: &str, reason: &str) -> String {
    // Who writes an exposed name, or the bare one of a single tool, means that tool.
    let meant = reachable.tool(name).map(|tool| tool.origin.to_string());
    let near = || {
        let all: Vec<String> = reachable.tools().map(|tool| tool.origin.to_string()).collect();
        nearest(name, all.iter().map(String::as_str)).map(str::to_owned)
    };
    match meant.or_else(near) {
        Some(near) => format!("`{name}`: {reason}; did you mean `{near}`?"),
        None => format!("`{name}`: {reason}"),
    }
}

/// The hashes of the definitions of all tools of a view, and the definitions.
fn pinned(view: &View) -> (BTreeMap<String, String>, Vec<Definition>) {
    let pin = |tool: &Tool| {
        let hash = definition_hash(&tool.definition);
        let definition = Definition {
            hash: hash.clone(),
            body: tool.definition.as_str().to_owned(),
        };
        ((tool.origin.to_string(), hash), definition)
    };
    view.tools().map(pin).unzip()
}
