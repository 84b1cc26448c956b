//! Deleting toolsets.

use std::sync::Arc;

use mcpr_admin::{DeleteToolset, ErrorCode, Failure, ToolsetReport, UnequipToolset};
use mcpr_store::OPERATOR;

use super::{Asker, Toolset, ToolsetError};
use crate::gateway::Gateway;

impl Gateway {
    /// Deletes a toolset; one that somebody has equipped only by force, which takes it from them.
    pub(crate) async fn delete(
        self: &Arc<Self>,
        asker: &Asker,
        asked: DeleteToolset,
    ) -> Result<ToolsetReport, ToolsetError> {
        let mut first_seen = None;
        loop {
            let one_at_a_time = self.toolsets.changing.lock().await;
            let toolset = asker.find(self, &asked.name, asked.owner.as_deref())?;
            may_delete(asker, &toolset)?;
            let wearers = self.toolsets.wearers(&toolset);
            if !wearers.is_empty() && !asked.force {
                return Err(in_use(asker, &toolset, &wearers).into());
            }
            let report = first_seen.get_or_insert_with(|| self.report(asker, &toolset));
            if wearers.is_empty() {
                self.remove(&toolset).await?;
                return Ok(report.clone());
            }
            // Who equips it again meanwhile is seen in the next round.
            drop(one_at_a_time);
            for principal in wearers {
                let asked = UnequipToolset {
                    principal: Some(principal),
                };
                self.unequip(asker, asked).await?;
            }
        }
    }

    async fn remove(&self, toolset: &Toolset) -> Result<(), ToolsetError> {
        self.store.delete_toolset(&toolset.owner, &toolset.name).await?;
        self.toolsets.remove(toolset);
        self.snapshot().forget(toolset);
        if *toolset.owner == *OPERATOR {
            self.republish();
        }
        Ok(())
    }
}

fn may_delete(asker: &Asker, toolset: &Toolset) -> Result<(), ToolsetError> {
    let name = &toolset.name;
    if toolset.from_file {
        let failure = Failure::new(
            ErrorCode::Invalid,
            format!("toolset `{name}` stands in a configuration file"),
        );
        return Err(failure.hint("remove it there").into());
    }
    if !asker.operator && *toolset.owner != *asker.owner() {
        let text = format!("toolset `{name}` is an operator's and read-only here");
        return Err(Failure::new(ErrorCode::Permission, text).into());
    }
    Ok(())
}

fn in_use(asker: &Asker, toolset: &Toolset, wearers: &[String]) -> Failure {
    let text = format!("toolset `{}` is equipped by {}", toolset.name, wearers.join(", "));
    let failure = Failure::new(ErrorCode::Invalid, text);
    match asker.operator {
        true => failure.hint("unequip it first, or take it from them with --force"),
        false => failure.hint("unequip it first with `unequip-toolset`"),
    }
}
