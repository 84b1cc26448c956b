//! Toolsets, and who has which equipped.

mod asker;
mod build;
mod delete;
mod detail;
mod discover;
mod equip;
mod signature;
mod slot;

use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mcpr_auth::Timestamp;
use mcpr_registry::Selection;
use mcpr_store::{DEFAULT, FILED, OPERATOR, SavedEquip, SavedToolset};
use parking_lot::RwLock;
use tokio::sync::watch;

pub(crate) use self::asker::{Asker, ToolsetError, Whom};
pub(crate) use self::detail::absent;
pub(crate) use self::signature::description;
pub(crate) use self::slot::{Slot, Worn};

/// A named choice of tools, in one version: a change makes another.
#[derive(Clone, Debug)]
pub(crate) struct Toolset {
    version: u64,
    /// The key of the principal that built it, or `operator`.
    pub(crate) owner: Box<str>,
    pub(crate) name: Box<str>,
    /// Whether it stands in a configuration file.
    pub(crate) from_file: bool,
    pub(crate) description: Option<String>,
    pub(crate) selection: Selection,
    /// The hashes of the definitions that it was made with, by origin name.
    pub(crate) pins: BTreeMap<String, String>,
    pub(crate) created: Timestamp,
    pub(crate) changed: Timestamp,
}

/// By owner and name.
type Saved = BTreeMap<(Box<str>, Box<str>), Arc<Toolset>>;

/// All toolsets, and what each principal has equipped.
pub(crate) struct Toolsets {
    saved: RwLock<Saved>,
    slots: RwLock<HashMap<Box<str>, Arc<Slot>>>,
    /// Changes of toolsets go one after the other.
    pub(crate) changing: tokio::sync::Mutex<()>,
}

impl Toolset {
    /// One of the configuration, with the pins that were stored of it.
    pub(crate) fn filed(filed: &mcpr_config::Toolset, stored: Option<&SavedToolset>) -> Self {
        let now = Timestamp::now();
        Self {
            version: fresh_version(),
            owner: OPERATOR.into(),
            name: filed.name.as_str().into(),
            from_file: true,
            description: filed.description.clone(),
            selection: Selection::new(&filed.tools),
            pins: stored.map(|stored| stored.pins.clone()).unwrap_or_default(),
            created: stored.map_or(now, |stored| stored.created),
            changed: stored.map_or(now, |stored| stored.changed),
        }
    }

    /// One of the database.
    pub(crate) fn stored(stored: &SavedToolset) -> Self {
        Self {
            version: fresh_version(),
            owner: stored.owner.as_str().into(),
            name: stored.name.as_str().into(),
            from_file: false,
            description: stored.description.clone(),
            selection: Selection::new(&stored.tools),
            pins: stored.pins.clone(),
            created: stored.created,
            changed: stored.changed,
        }
    }

    /// How it is stored.
    pub(crate) fn to_stored(&self) -> SavedToolset {
        SavedToolset {
            // When the file has it no longer, it is gone, and not an operator's.
            owner: if self.from_file { FILED } else { &self.owner }.to_owned(),
            name: self.name.to_string(),
            description: self.description.clone(),
            tools: self
                .selection
                .names()
                .iter()
                .map(|name| name.to_string())
                .collect(),
            pins: self.pins.clone(),
            created: self.created,
            changed: self.changed,
        }
    }

    fn key(&self) -> (Box<str>, Box<str>) {
        (self.owner.clone(), self.name.clone())
    }

    /// Whether nothing but its version differs.
    fn says_the_same(&self, other: &Self) -> bool {
        self.from_file == other.from_file
            && self.description == other.description
            && self.pins == other.pins
            && self.selection.names() == other.selection.names()
    }
}

impl PartialEq for Toolset {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version
    }
}

impl Eq for Toolset {}

impl Hash for Toolset {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.version.hash(state);
    }
}

impl Toolsets {
    /// Those of the configuration and of the database; where both have one, that of the configuration.
    pub(crate) fn new(
        filed: &[mcpr_config::Toolset],
        stored: &[SavedToolset],
        equips: Vec<SavedEquip>,
    ) -> Self {
        let toolsets = Self {
            saved: RwLock::new(gathered(filed, stored)),
            slots: RwLock::default(),
            changing: tokio::sync::Mutex::default(),
        };
        toolsets.wear_as_stored(equips);
        toolsets
    }

    /// Takes what the configuration and the database say now; whether that differs for everybody:
    /// in an operator's toolset, or in the default.
    pub(crate) fn replace(
        &self,
        filed: &[mcpr_config::Toolset],
        stored: &[SavedToolset],
        equips: Option<Vec<SavedEquip>>,
    ) -> bool {
        let default = self.default_worn();
        let mut fresh = gathered(filed, stored);
        let mut differs = {
            let mut saved = self.saved.write();
            for (key, toolset) in &mut fresh {
                if let Some(same) = saved.get(key).filter(|known| known.says_the_same(toolset)) {
                    *toolset = same.clone();
                }
            }
            let of_operator = |saved: &Saved| -> Vec<Arc<Toolset>> {
                let all = saved.values().filter(|toolset| *toolset.owner == *OPERATOR);
                all.cloned().collect()
            };
            let differs = of_operator(&saved) != of_operator(&fresh);
            *saved = fresh;
            differs
        };
        if let Some(equips) = equips {
            self.wear_as_stored(equips);
        }
        for slot in self.all_slots() {
            slot.1.renew(|owner, name| self.exactly(owner, name));
        }
        differs |= default != self.default_worn();
        differs
    }

    fn wear_as_stored(&self, equips: Vec<SavedEquip>) {
        let mut bare: Vec<_> = self.all_slots();
        for equip in equips {
            bare.retain(|(principal, _)| **principal != *equip.principal);
            let toolset = self.exactly(&equip.owner, &equip.toolset);
            self.slot(&equip.principal).wear(Some(Arc::new(Worn {
                owner: equip.owner.into(),
                name: equip.toolset.into(),
                toolset,
            })));
        }
        for (_, slot) in &bare {
            slot.wear(None);
        }
    }

    fn all_slots(&self) -> Vec<(Box<str>, Arc<Slot>)> {
        let slots = self.slots.read();
        slots
            .iter()
            .map(|(key, slot)| (key.clone(), slot.clone()))
            .collect()
    }

    /// The toolset of that owner.
    pub(crate) fn exactly(&self, owner: &str, name: &str) -> Option<Arc<Toolset>> {
        self.saved.read().get(&(owner.into(), name.into())).cloned()
    }

    /// The toolset that a principal means by a name: its own, else the operator's.
    pub(crate) fn find(&self, principal: &str, name: &str) -> Option<Arc<Toolset>> {
        self.exactly(principal, name)
            .or_else(|| self.exactly(OPERATOR, name))
    }

    /// The toolsets that a principal can equip, by name; its own first where both have one.
    pub(crate) fn within_reach(&self, principal: &str) -> Vec<Arc<Toolset>> {
        let saved = self.saved.read();
        let reachable = saved
            .values()
            .filter(|toolset| *toolset.owner == *principal || *toolset.owner == *OPERATOR);
        let mut all: Vec<_> = reachable.cloned().collect();
        all.sort_by(|a, b| (&a.name, *a.owner == *OPERATOR).cmp(&(&b.name, *b.owner == *OPERATOR)));
        all.dedup_by(|later, earlier| later.name == earlier.name);
        all
    }

    /// All toolsets, by owner and name.
    pub(crate) fn all(&self) -> Vec<Arc<Toolset>> {
        self.saved.read().values().cloned().collect()
    }

    /// How many a principal has built.
    pub(crate) fn count_of(&self, owner: &str) -> usize {
        self.saved
            .read()
            .keys()
            .filter(|(known, _)| **known == *owner)
            .count()
    }

    /// Takes a toolset, in place of the one of its owner and name; whoever has that equipped sees
    /// the new one at once.
    pub(crate) fn put(&self, toolset: Toolset) -> Arc<Toolset> {
        let toolset = Arc::new(toolset);
        self.saved.write().insert(toolset.key(), toolset.clone());
        for (_, slot) in self.all_slots() {
            slot.renew(|owner, name| {
                let same = *owner == *toolset.owner && *name == *toolset.name;
                same.then(|| toolset.clone())
                    .or_else(|| self.exactly(owner, name))
            });
        }
        toolset
    }

    /// Deletes a toolset.
    pub(crate) fn remove(&self, toolset: &Toolset) {
        self.saved.write().remove(&toolset.key());
    }

    /// Who has a toolset equipped, in order.
    pub(crate) fn wearers(&self, toolset: &Toolset) -> Vec<String> {
        let wears = |(_, slot): &(Box<str>, Arc<Slot>)| {
            slot.worn()
                .is_some_and(|worn| worn.owner == toolset.owner && worn.name == toolset.name)
        };
        let mut all: Vec<String> = self
            .all_slots()
            .into_iter()
            .filter(wears)
            .map(|(principal, _)| principal.into())
            .collect();
        all.sort();
        all
    }

    /// Where it is kept what a principal has equipped; made when it is first asked for.
    pub(crate) fn slot(&self, principal: &str) -> Arc<Slot> {
        if let Some(slot) = self.slots.read().get(principal) {
            return slot.clone();
        }
        let mut slots = self.slots.write();
        slots.entry(principal.into()).or_default().clone()
    }

    /// What a principal has equipped.
    pub(crate) fn worn(&self, principal: &str) -> Option<Arc<Worn>> {
        self.slots.read().get(principal)?.worn()
    }

    /// What everybody sees who has nothing of his own.
    pub(crate) fn default_worn(&self) -> Option<Arc<Worn>> {
        self.worn(DEFAULT)
    }

    /// Wakes its holder when a principal equips something else.
    pub(crate) fn changes(&self, principal: &str) -> watch::Receiver<Option<Arc<Worn>>> {
        self.slot(principal).changes()
    }
}

fn gathered(filed: &[mcpr_config::Toolset], stored: &[SavedToolset]) -> Saved {
    let mut all = Saved::new();
    for toolset in stored.iter().filter(|stored| stored.owner != FILED) {
        let toolset = Toolset::stored(toolset);
        all.insert(toolset.key(), Arc::new(toolset));
    }
    for filed in filed {
        let known = stored
            .iter()
            .find(|stored| stored.owner == FILED && stored.name == filed.name);
        let toolset = Toolset::filed(filed, known);
        all.insert(toolset.key(), Arc::new(toolset));
    }
    all
}

fn fresh_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}
