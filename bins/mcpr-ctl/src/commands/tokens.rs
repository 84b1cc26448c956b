//! The tokens of clients: kept by the running gateway, or straight in the database without one.

use mcpr_admin::{
    ClientError, CreateToken, CreatedToken, Execute, ExitCode, ListTokens, Operation, RevokeToken, TokenList,
    TokenReport, TokenState,
};
use mcpr_auth::Timestamp;

use crate::cli::{Global, NewToken};
use crate::connect::{Gateway, paths};
use crate::database::{Database, Owner};
use crate::out::Out;
use crate::out::look::{Look, Paint};
use crate::out::phrase::time;
use crate::out::table::{Cell, Table};
use crate::problem::Problem;

/// What to do about a database file that is not there.
#[derive(Clone, Copy)]
enum Absent {
    Make,
    CountAsEmpty,
}

/// `tokens create`
pub(super) async fn create(global: &Global, out: &Out, new: &NewToken) -> Result<ExitCode, Problem> {
    let created = carry_out(global, out, wanted(new, Timestamp::now()), Absent::Make).await?;
    out.report(&created, |created, _| format!("{}\n", created.secret.reveal()))?;
    out.note("shown once: only its hash is kept");
    out.note(&summary(&created));
    Ok(ExitCode::Ok)
}

fn wanted(new: &NewToken, now: Timestamp) -> CreateToken {
    let name = new.name.as_ref().or(new.client.as_ref());
    CreateToken {
        name: name.cloned().unwrap_or_default(),
        client: new.client.clone(),
        project: new.project.clone(),
        toolset: new.toolset.clone(),
        scopes: new.scopes.clone(),
        expires: new.expires.map(|expiry| expiry.from(now).to_string()),
    }
}

fn summary(created: &CreatedToken) -> String {
    let token = &created.token;
    let facts = [
        ("id", Some(token.id.clone())),
        ("name", Some(token.name.clone())),
        ("scopes", Some(scopes(token))),
        ("client", token.client.clone()),
        ("project", token.project.clone()),
        ("toolset", token.toolset.clone()),
        ("expires", token.expires.clone()),
    ];
    let known: Vec<_> = facts
        .into_iter()
        .filter_map(|(what, fact)| Some(format!("{what} {}", fact?)))
        .collect();
    known.join(" · ")
}

/// `tokens ls`
pub(super) async fn list(global: &Global, out: &Out) -> Result<ExitCode, Problem> {
    let list = carry_out(global, out, ListTokens {}, Absent::CountAsEmpty).await?;
    if list.tokens.is_empty() {
        out.note("there are no tokens; make one with `mcpr-ctl tokens create --client APP`");
    }
    out.report(&list, |list, look| table(list, Timestamp::now(), look))?;
    Ok(ExitCode::Ok)
}

fn table(list: &TokenList, now: Timestamp, look: &Look) -> String {
    let mut table = Table::new(&[
        "ID",
        "NAME",
        "CLIENT",
        "PROJECT",
        "SCOPES",
        "CREATED",
        "LAST USED",
        "EXPIRES",
        "STATE",
    ]);
    for token in &list.tokens {
        let when = |at: &Option<String>| Cell::from(at.as_ref().map(|at| time(at, now, look)));
        table.row([
            token.id.as_str().into(),
            token.name.as_str().into(),
            token.client.as_deref().into(),
            token.project.as_deref().into(),
            scopes(token).into(),
            time(&token.created, now, look).into(),
            when(&token.last_used),
            when(&token.expires),
            state(token.state),
        ]);
    }
    table.draw(look)
}

fn scopes(token: &TokenReport) -> String {
    let words: Vec<_> = token.scopes.iter().map(|scope| scope.as_str()).collect();
    words.join(",")
}

fn state(state: TokenState) -> Cell {
    let paint = if state == TokenState::Active {
        Paint::Good
    } else {
        Paint::Dim
    };
    Cell::from(state.as_str()).paint(paint)
}

/// `tokens revoke`
pub(super) async fn revoke(global: &Global, out: &Out, which: &str) -> Result<ExitCode, Problem> {
    let token = carry_out(
        global,
        out,
        RevokeToken {
            which: which.to_owned(),
        },
        Absent::CountAsEmpty,
    )
    .await?;
    out.report(&token, |token, _| {
        format!("revoked {} ({})\n", token.id, token.name)
    })?;
    Ok(ExitCode::Ok)
}

/// Asks the gateway; if none is running where one is looked for by itself, works on the database.
async fn carry_out<O>(global: &Global, out: &Out, operation: O, absent: Absent) -> Result<O::Output, Problem>
where
    O: Operation,
    Database: Execute<O, Owner>,
{
    let by_itself = global.gateway.is_none() && global.socket.is_none();
    match Gateway::locate(global)?.ask(&operation).await {
        Err(ClientError::NotRunning { .. }) if by_itself => offline(global, out, operation, absent).await,
        answer => Ok(answer?),
    }
}

async fn offline<O>(global: &Global, out: &Out, operation: O, absent: Absent) -> Result<O::Output, Problem>
where
    O: Operation,
    Database: Execute<O, Owner>,
{
    let path = paths(global)?.database;
    let database = match absent {
        Absent::Make => Database::make(&path).await?,
        Absent::CountAsEmpty => Database::look_into(&path).await?,
    };
    let outcome = database.execute(&Owner, operation).await;
    database.close().await;
    let output = outcome?;
    out.note(&format!(
        "no gateway is running; used the database {}",
        path.display()
    ));
    Ok(output)
}

#[cfg(test)]
mod tests {
    use mcpr_admin::{Scope, TokenKind};

    use super::*;

    fn laptop() -> TokenReport {
        TokenReport {
            id: "tk_7h2k9qmd".into(),
            kind: TokenKind::Pat,
            name: "laptop".into(),
            prefix: "mcpr_pat_x7Q".into(),
            state: TokenState::Active,
            client: Some("cursor".into()),
            project: None,
            toolset: None,
            scopes: vec![Scope::Read, Scope::Call],
            created: "2027-01-15T07:30:00Z".into(),
            expires: Some("2027-04-15T08:00:00Z".into()),
            last_used: None,
            revoked: None,
        }
    }

    #[test]
    fn ctl_01_on_a_terminal_times_are_relative() {
        let list = TokenList {
            tokens: vec![laptop()],
        };
        let look = Look {
            width: Some(120),
            color: false,
        };

        insta::assert_snapshot!(table(&list, Timestamp::from_unix(1_800_000_000), &look));
    }
}
