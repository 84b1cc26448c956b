//! Who sees which toolset.

use mcpr_admin::{ActiveToolset, EquipToolset, ExitCode, ListTokens, TokenState, UnequipToolset};
use mcpr_store::DEFAULT;

use super::{page, warn};
use crate::books::Books;
use crate::cli::toolsets::Whose;
use crate::commands::tokens::choose;
use crate::out::Out;
use crate::problem::Problem;
use crate::suggest;

/// `toolsets equip`
pub(super) async fn equip(
    books: &Books<'_>,
    out: &Out,
    name: &str,
    whose: &Whose,
) -> Result<ExitCode, Problem> {
    let operation = EquipToolset {
        name: name.to_owned(),
        principal: Some(principal(books, whose).await?),
    };
    let equipped = match books.ask(operation).await {
        Ok(equipped) => equipped,
        Err(problem) => return Err(suggest::toolset(books, name, problem).await),
    };
    out.report(&equipped, page::equipped)?;
    warn(out, &equipped.warnings);
    Ok(ExitCode::Ok)
}

/// `toolsets unequip`
pub(super) async fn unequip(books: &Books<'_>, out: &Out, whose: &Whose) -> Result<ExitCode, Problem> {
    let operation = UnequipToolset {
        principal: Some(principal(books, whose).await?),
    };
    let unequipped = books.ask(operation).await?;
    out.report(&unequipped, page::unequipped)?;
    Ok(ExitCode::Ok)
}

/// `toolsets active`
pub(super) async fn active(books: &Books<'_>, out: &Out, whose: &Whose) -> Result<ExitCode, Problem> {
    let operation = ActiveToolset {
        principal: Some(principal(books, whose).await?),
    };
    let active = books.ask(operation).await?;
    out.report(&active, page::active)?;
    Ok(ExitCode::Ok)
}

/// The key of the principal that is meant; that of a token is its id.
async fn principal(books: &Books<'_>, whose: &Whose) -> Result<String, Problem> {
    let which = match (&whose.token, &whose.principal) {
        (Some(which), _) => which,
        (None, Some(key)) => return Ok(key.clone()),
        (None, None) => return Ok(DEFAULT.to_owned()),
    };
    let list = books.ask(ListTokens {}).await?;
    let token = choose(&list.tokens, which)?;
    match token.state {
        TokenState::Revoked => Err(Problem::usage(format!(
            "the token {} ({}) was revoked",
            token.id, token.name
        ))
        .hint("`mcpr-ctl tokens ls` shows those that are active")),
        TokenState::Active | TokenState::Expired => Ok(token.id.clone()),
    }
}
