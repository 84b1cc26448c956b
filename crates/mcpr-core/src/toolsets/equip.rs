//! Equipping: what a principal sees from now on (SET-05 to SET-07).

use std::sync::Arc;

use mcpr_admin::{
    Active, DefinitionState, EquipToolset, Equipped, ErrorCode, Failure, ShowToolset, Skipped, ToolState,
    ToolsetDetail, ToolsetList, UnequipToolset, Unequipped,
};
use mcpr_auth::Timestamp;
use mcpr_registry::Tool;
use mcpr_store::{DEFAULT, SavedEquip};

use super::signature::signature;
use super::{Asker, Toolset, ToolsetError, Whom, Worn};
use crate::fault::Fault;
use crate::gateway::Gateway;
use crate::scope::{Choice, Limit};

impl Gateway {
    /// Lets a principal see exactly the tools of a toolset.
    pub(crate) async fn equip(
        self: &Arc<Self>,
        asker: &Asker,
        asked: EquipToolset,
    ) -> Result<Equipped, ToolsetError> {
        let whom = asker.whom(self, asked.principal.as_deref()).await?;
        let toolset = self.toolsets.find(&whom.key, &asked.name);
        let toolset = toolset.ok_or_else(|| asker.no_toolset(self, &asked.name, None))?;
        let toolset = self.put_on(&whom.key, &toolset).await?;
        self.equipped(asker, &whom, &toolset).await
    }

    /// Takes a principal's toolset away.
    pub(crate) async fn unequip(
        self: &Arc<Self>,
        asker: &Asker,
        asked: UnequipToolset,
    ) -> Result<Unequipped, ToolsetError> {
        let whom = asker.whom(self, asked.principal.as_deref()).await?;
        let before = self.take_off(&whom.key).await?;
        Ok(Unequipped {
            toolset: before.map(|before| before.name.to_string()),
            principal: whom.key,
        })
    }

    /// A second one meanwhile fails; what was equipped stays in force until the new one is stored (SET-06).
    async fn put_on(self: &Arc<Self>, whom: &str, toolset: &Toolset) -> Result<Arc<Toolset>, ToolsetError> {
        let slot = self.toolsets.slot(whom);
        let _mine = slot
            .try_begin()
            .ok_or(ToolsetError::Fault(Fault::OperationInProgress))?;
        let _one_at_a_time = self.toolsets.changing.lock().await;
        // It may have been changed, or deleted, until now.
        let toolset = self
            .toolsets
            .exactly(&toolset.owner, &toolset.name)
            .ok_or_else(|| gone(toolset))?;
        let equip = SavedEquip {
            principal: whom.to_owned(),
            owner: toolset.owner.to_string(),
            toolset: toolset.name.to_string(),
            at: Timestamp::now(),
        };
        self.store.put_equip(equip).await?;
        let toolset = self.pin_new(&toolset).await.unwrap_or(toolset);
        let before = slot.wear(Some(Worn::of(&toolset)));
        self.has_changed(whom, before);
        tracing::info!(
            principal = whom,
            toolset = &*toolset.name,
            "a toolset was equipped"
        );
        Ok(toolset)
    }

    /// Waits for one that is being equipped; gives what was equipped.
    async fn take_off(self: &Arc<Self>, whom: &str) -> Result<Option<Arc<Worn>>, ToolsetError> {
        let slot = self.toolsets.slot(whom);
        let _mine = slot.begin().await;
        let _one_at_a_time = self.toolsets.changing.lock().await;
        self.store.delete_equip(whom).await?;
        let before = slot.wear(None);
        self.has_changed(whom, before.clone());
        tracing::info!(principal = whom, "nothing is equipped any more");
        Ok(before)
    }

    /// Frees what was made for those who saw the toolset before; the default is everybody's.
    fn has_changed(&self, whom: &str, before: Option<Arc<Worn>>) {
        if let Some(before) = before.and_then(|before| before.toolset.clone()) {
            self.snapshot().forget(&before);
        }
        if whom == DEFAULT {
            self.republish();
        }
    }

    /// What came of equipping.
    async fn equipped(
        &self,
        asker: &Asker,
        whom: &Whom,
        toolset: &Arc<Toolset>,
    ) -> Result<Equipped, ToolsetError> {
        let scope = whom.scope_with(self, toolset);
        let sight = self.snapshot().sight(&scope);
        let ToolsetDetail {
            toolset,
            entries,
            tools,
        } = self.detail(asker, toolset, &scope, false).await?;
        let unnamed = toolset.entries.saturating_sub(entries.len() as u64);
        let unnamed = (unnamed > 0)
            .then(|| format!("entries that are outside of what this token or project allows: {unnamed}"));
        let skipped = tools.iter().filter(|tool| tool.state != ToolState::Registered);
        let skipped = skipped.map(|tool| Skipped {
            namespaced_name: tool.namespaced_name.clone(),
            reason: tool.reason.clone().unwrap_or_default(),
        });
        let changed = tools
            .iter()
            .filter(|tool| tool.definition == DefinitionState::Breaking);
        let warnings = changed.map(|tool| {
            let changes = tool.changes.join("; ");
            format!(
                "`{}` has changed since the toolset was made: {changes}",
                tool.namespaced_name
            )
        });
        Ok(Equipped {
            principal: whom.key.clone(),
            tools: sight.listed.tools().map(signature as fn(&Tool) -> _).collect(),
            skipped: skipped.collect(),
            warnings: warnings.chain(unnamed).collect(),
            toolset,
        })
    }

    /// Which toolset a principal sees, and why.
    pub(crate) async fn active_of(&self, asker: &Asker, whom: &Whom) -> Result<Active, ToolsetError> {
        let (scope, by) = whom.scope(self);
        let toolset = match (&scope.choice, &scope.limit) {
            (Choice::Only(toolset), _) | (Choice::All, Limit::To(toolset)) => Some(toolset.clone()),
            _ => None,
        };
        let toolset = match toolset {
            Some(toolset) => Some(self.detail(asker, &toolset, &scope, false).await?),
            None => None,
        };
        Ok(Active {
            principal: whom.key.clone(),
            by,
            toolset,
        })
    }

    /// Which toolset whoever asks sees, and why.
    pub(crate) async fn active(&self, asker: &Asker) -> Result<Active, ToolsetError> {
        let whom = asker.whom(self, None).await?;
        self.active_of(asker, &whom).await
    }

    /// The toolsets in reach.
    pub(crate) fn list_toolsets(&self, asker: &Asker) -> ToolsetList {
        let toolsets = asker.toolsets(self);
        ToolsetList {
            toolsets: toolsets
                .iter()
                .map(|toolset| self.report(asker, toolset))
                .collect(),
        }
    }

    /// All about one toolset.
    pub(crate) async fn show_toolset(
        &self,
        asker: &Asker,
        asked: &ShowToolset,
    ) -> Result<ToolsetDetail, ToolsetError> {
        let toolset = asker.find(self, &asked.name, asked.owner.as_deref())?;
        Ok(self.detail(asker, &toolset, &asker.reach(self), true).await?)
    }
}

fn gone(toolset: &Toolset) -> ToolsetError {
    let text = format!("the toolset `{}` has just been deleted", toolset.name);
    Failure::new(ErrorCode::NotFound, text).into()
}
