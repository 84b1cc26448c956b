//! What is changed at run time, in memory.

use std::collections::BTreeMap;

use async_trait::async_trait;
use mcpr_auth::Timestamp;

use super::Memory;
use crate::{
    Definition, SavedEquip, SavedPin, SavedPins, SavedProject, SavedToolset, StateStore, StoreError, Switch,
};

#[async_trait]
impl StateStore for Memory {
    async fn toolsets(&self) -> Result<Vec<SavedToolset>, StoreError> {
        self.with(|records| records.toolsets.values().cloned().collect())
    }

    async fn put_toolset(
        &self,
        toolset: SavedToolset,
        definitions: Vec<Definition>,
    ) -> Result<(), StoreError> {
        self.with(|records| {
            let key = (toolset.owner.clone(), toolset.name.clone());
            records.toolsets.insert(key, toolset);
            let bodies = definitions.into_iter().map(|known| (known.hash, known.body));
            records.definitions.extend(bodies);
            records.forget_unpinned();
        })
    }

    async fn delete_toolset(&self, owner: &str, name: &str) -> Result<bool, StoreError> {
        self.with(|records| {
            let gone = records.toolsets.remove(&(owner.to_owned(), name.to_owned()));
            records.forget_unpinned();
            gone.is_some()
        })
    }

    async fn definitions(&self, mut hashes: Vec<String>) -> Result<Vec<Definition>, StoreError> {
        hashes.sort();
        hashes.dedup();
        self.with(|records| {
            let known = |hash: String| {
                let body = records.definitions.get(&hash)?.clone();
                Some(Definition { hash, body })
            };
            hashes.into_iter().filter_map(known).collect()
        })
    }

    async fn equips(&self) -> Result<Vec<SavedEquip>, StoreError> {
        self.with(|records| records.equips.values().cloned().collect())
    }

    async fn put_equip(&self, equip: SavedEquip) -> Result<(), StoreError> {
        self.with(|records| drop(records.equips.insert(equip.principal.clone(), equip)))
    }

    async fn delete_equip(&self, principal: &str) -> Result<bool, StoreError> {
        self.with(|records| records.equips.remove(principal).is_some())
    }

    async fn switches(&self) -> Result<Vec<Switch>, StoreError> {
        self.with(|records| records.switches.values().cloned().collect())
    }

    async fn put_switch(&self, switch: Switch) -> Result<(), StoreError> {
        self.with(|records| {
            let key = (switch.server.clone(), switch.tool.clone());
            match switch.is_set() {
                true => drop(records.switches.insert(key, switch)),
                false => drop(records.switches.remove(&key)),
            }
        })
    }

    async fn pins(&self) -> Result<Vec<SavedPins>, StoreError> {
        self.with(|records| {
            let whole = |(server, tools): (&String, &BTreeMap<String, SavedPin>)| SavedPins {
                server: server.clone(),
                tools: tools.values().cloned().collect(),
            };
            records.pins.iter().map(whole).collect()
        })
    }

    async fn put_first_pins(&self, first: SavedPins, _: Timestamp) -> Result<bool, StoreError> {
        self.with(|records| {
            let is_first = !records.pins.contains_key(&first.server);
            let tools = first.tools.into_iter().map(|pin| (pin.tool.clone(), pin));
            records
                .pins
                .entry(first.server)
                .or_insert_with(|| tools.collect());
            is_first
        })
    }

    async fn approve_pins(
        &self,
        server: &str,
        approved: Vec<SavedPin>,
        forgotten: Vec<String>,
    ) -> Result<(), StoreError> {
        self.with(|records| {
            let tools = records.pins.entry(server.to_owned()).or_default();
            tools.retain(|tool, _| !forgotten.contains(tool));
            tools.extend(approved.into_iter().map(|pin| (pin.tool.clone(), pin)));
        })
    }

    async fn projects(&self) -> Result<Vec<SavedProject>, StoreError> {
        self.with(|records| records.projects.values().cloned().collect())
    }

    async fn put_project(&self, project: SavedProject) -> Result<(), StoreError> {
        self.with(|records| drop(records.projects.insert(project.name.clone(), project)))
    }

    async fn delete_project(&self, name: &str) -> Result<bool, StoreError> {
        self.with(|records| records.projects.remove(name).is_some())
    }
}
