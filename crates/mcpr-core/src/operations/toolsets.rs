//! Toolsets, as operators and principals ask for them.

use mcpr_admin::{
    AcceptToolset, Active, ActiveToolset, BuildToolset, Built, DeleteToolset, DiscoverTools, Discovered,
    EquipToolset, Equipped, Execute, Failure, ListToolsets, SaveToolset, ShowToolset, ToolsetDetail,
    ToolsetList, ToolsetReport, UnequipToolset, Unequipped,
};
use mcpr_auth::Principal;

use super::Operator;
use crate::toolsets::Asker;

impl Execute<DiscoverTools, Principal> for Operator {
    async fn execute(&self, caller: &Principal, asked: DiscoverTools) -> Result<Discovered, Failure> {
        Ok(self.gateway.discover(&Asker::operator(caller), &asked)?)
    }
}

impl Execute<ListToolsets, Principal> for Operator {
    async fn execute(&self, caller: &Principal, _: ListToolsets) -> Result<ToolsetList, Failure> {
        Ok(self.gateway.list_toolsets(&Asker::operator(caller)))
    }
}

impl Execute<ShowToolset, Principal> for Operator {
    async fn execute(&self, caller: &Principal, asked: ShowToolset) -> Result<ToolsetDetail, Failure> {
        Ok(self
            .gateway
            .show_toolset(&Asker::operator(caller), &asked)
            .await?)
    }
}

impl Execute<BuildToolset, Principal> for Operator {
    async fn execute(&self, caller: &Principal, asked: BuildToolset) -> Result<Built, Failure> {
        Ok(self.gateway.build(&Asker::operator(caller), asked).await?)
    }
}

impl Execute<SaveToolset, Principal> for Operator {
    async fn execute(&self, caller: &Principal, asked: SaveToolset) -> Result<Built, Failure> {
        Ok(self.gateway.save_toolset(&Asker::operator(caller), asked).await?)
    }
}

impl Execute<AcceptToolset, Principal> for Operator {
    async fn execute(&self, caller: &Principal, asked: AcceptToolset) -> Result<ToolsetDetail, Failure> {
        Ok(self.gateway.accept(&Asker::operator(caller), &asked).await?)
    }
}

impl Execute<EquipToolset, Principal> for Operator {
    async fn execute(&self, caller: &Principal, asked: EquipToolset) -> Result<Equipped, Failure> {
        Ok(self.gateway.equip(&Asker::operator(caller), asked).await?)
    }
}

impl Execute<UnequipToolset, Principal> for Operator {
    async fn execute(&self, caller: &Principal, asked: UnequipToolset) -> Result<Unequipped, Failure> {
        Ok(self.gateway.unequip(&Asker::operator(caller), asked).await?)
    }
}

impl Execute<ActiveToolset, Principal> for Operator {
    async fn execute(&self, caller: &Principal, asked: ActiveToolset) -> Result<Active, Failure> {
        let asker = Asker::operator(caller);
        let whom = asker.whom(&self.gateway, asked.principal.as_deref()).await?;
        Ok(self.gateway.active_of(&asker, &whom).await?)
    }
}

impl Execute<DeleteToolset, Principal> for Operator {
    async fn execute(&self, caller: &Principal, asked: DeleteToolset) -> Result<ToolsetReport, Failure> {
        Ok(self.gateway.delete(&Asker::operator(caller), asked).await?)
    }
}
