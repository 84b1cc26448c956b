//! Who has which toolset equipped, without a gateway.

use mcpr_admin::{Active, ActiveBy, ActiveToolset, EquipToolset, Equipped, UnequipToolset, Unequipped};
use mcpr_auth::{Timestamp, Token};
use mcpr_config::Expose;
use mcpr_store::{DEFAULT, OPERATOR, SavedEquip};

use super::toolsets::{Kept, Shelf, UNKNOWN};
use super::{Absent, Database, Offline};
use crate::problem::Problem;

/// What decides, and the toolset if it is one that is there.
type Decided<'s> = (ActiveBy, Option<&'s Kept>);

impl Offline<EquipToolset> for Database {
    const ABSENT: Absent = Absent::Make;

    async fn carry_out(&self, asked: EquipToolset) -> Result<Equipped, Problem> {
        let principal = whom(asked.principal);
        let shelf = self.shelf().await?;
        let kept = shelf
            .meant_by(&principal, &asked.name)
            .ok_or_else(|| Problem::not_found(format!("there is no toolset `{}`", asked.name)))?;
        let equip = SavedEquip {
            principal: principal.clone(),
            owner: kept.saved.owner.clone(),
            toolset: kept.saved.name.clone(),
            at: Timestamp::now(),
        };
        self.store.put_equip(equip).await?;
        let now = self.shelf().await?;
        Ok(Equipped {
            toolset: now.report(kept),
            principal,
            tools: Vec::new(),
            skipped: Vec::new(),
            warnings: vec![UNKNOWN.to_owned()],
        })
    }
}

impl Offline<UnequipToolset> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, asked: UnequipToolset) -> Result<Unequipped, Problem> {
        let principal = whom(asked.principal);
        let equips = self.store.equips().await?;
        let before = equips.into_iter().find(|equip| equip.principal == principal);
        if before.is_some() {
            self.store.delete_equip(&principal).await?;
        }
        Ok(Unequipped {
            toolset: before.map(|equip| equip.toolset),
            principal,
        })
    }
}

impl Offline<ActiveToolset> for Database {
    const ABSENT: Absent = Absent::CountAsEmpty;

    async fn carry_out(&self, asked: ActiveToolset) -> Result<Active, Problem> {
        let principal = whom(asked.principal);
        let shelf = self.shelf().await?;
        let token = self.token(&principal).await?;
        let carried = match token.as_ref().and_then(|token| token.project.as_deref()) {
            Some(project) => self.toolset_of(project, &shelf).await?,
            None => None,
        };
        let (by, kept) = decided(&shelf, &principal, token.as_ref(), carried.as_deref());
        Ok(Active {
            principal,
            by,
            toolset: kept.map(|kept| shelf.detail(kept)),
        })
    }
}

impl Database {
    async fn token(&self, id: &str) -> Result<Option<Token>, Problem> {
        let tokens = self.store.tokens().await?;
        let found = tokens.into_iter().find(|(token, _)| token.id.as_str() == id);
        Ok(found.map(|(token, _)| token))
    }

    /// The toolset that a project carries.
    async fn toolset_of(&self, project: &str, shelf: &Shelf) -> Result<Option<String>, Problem> {
        let projects = self.projects(&shelf.config).await?;
        let found = projects.into_iter().find(|known| known.name == project);
        Ok(found.and_then(|project| project.toolset))
    }
}

/// The order is that of the gateway: own choice, the token, its project, the default, the configuration.
fn decided<'s>(
    shelf: &'s Shelf,
    principal: &str,
    token: Option<&Token>,
    carried: Option<&str>,
) -> Decided<'s> {
    let bound = token.and_then(|token| token.toolset.as_deref());
    let operators = |name: &str| shelf.find(OPERATOR, name);
    if let Some(equip) = worn(shelf, principal).filter(|_| principal != DEFAULT) {
        (ActiveBy::Equipped, shelf.find(&equip.owner, &equip.toolset))
    } else if let Some(name) = bound {
        (ActiveBy::Token, operators(name))
    } else if let Some(name) = carried {
        (ActiveBy::Project, shelf.meant_by(principal, name))
    } else if let Some(equip) = worn(shelf, DEFAULT) {
        (ActiveBy::Default, shelf.find(&equip.owner, &equip.toolset))
    } else if shelf.config.gateway.expose == Expose::Toolset {
        (ActiveBy::BuiltIns, None)
    } else {
        (ActiveBy::All, None)
    }
}

fn worn<'s>(shelf: &'s Shelf, principal: &str) -> Option<&'s SavedEquip> {
    shelf.equips.iter().find(|equip| equip.principal == principal)
}

fn whom(principal: Option<String>) -> String {
    principal.unwrap_or_else(|| DEFAULT.to_owned())
}
