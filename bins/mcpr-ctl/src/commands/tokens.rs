//! The tokens of clients: kept by the running gateway, or straight in the database without one.

mod absent;
mod choose;

use std::time::Duration;

use mcpr_admin::{
    CreateToken, CreatedToken, ExitCode, ListTokens, RevokeToken, RotateToken, TokenList, TokenReport,
    TokenState,
};
use mcpr_auth::Timestamp;

use self::absent::absent;
pub(super) use self::choose::choose;

use crate::books::Books;
use crate::cli::{Global, NewToken, Repeat, Tokens};
use crate::out::Out;
use crate::out::facts::{facts, joined};
use crate::out::look::{Look, Paint};
use crate::out::phrase::time;
use crate::out::table::{Cell, Table};
use crate::out::watch;
use crate::problem::Problem;

/// `tokens …`
pub(super) async fn run(global: &Global, out: &Out, which: &Tokens) -> Result<ExitCode, Problem> {
    let books = Books::of(global, out)?;
    match which {
        Tokens::Create(new) => create(&books, out, new).await,
        Tokens::Ls(repeat) => list(&books, out, *repeat).await,
        Tokens::Show { which } => show(&books, out, which).await,
        Tokens::Rotate { which, grace } => rotate(&books, out, which, *grace).await,
        Tokens::Revoke { which } => revoke(&books, out, which).await,
    }
}

async fn create(books: &Books<'_>, out: &Out, new: &NewToken) -> Result<ExitCode, Problem> {
    let created = books.ask(wanted(new, Timestamp::now())).await?;
    out.report(&created, |created, _| format!("{}\n", created.secret.reveal()))?;
    out.note("shown once: only its hash is kept");
    out.note(&summary(&created));
    for note in absent(books, &created.token).await {
        out.note(&note);
    }
    Ok(ExitCode::Ok)
}

async fn rotate(books: &Books<'_>, out: &Out, which: &str, grace: Duration) -> Result<ExitCode, Problem> {
    let operation = RotateToken {
        which: which.to_owned(),
        grace_seconds: Some(grace.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX)),
    };
    let created = books.ask(operation).await?;
    out.report(&created, |created, _| format!("{}\n", created.secret.reveal()))?;
    out.note("shown once: only its hash is kept");
    out.note(&summary(&created));
    out.note(&match &created.token.retiring {
        Some(text) => format!(
            "the text that begins with {} is accepted until {}",
            text.prefix, text.until
        ),
        None => "the text that it had is refused from now on".to_owned(),
    });
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
        servers: some(&new.servers),
        tools: some(&new.tools),
        rate: new.rate.map(|rate| rate.to_string()),
        expires: new.expires.map(|expiry| expiry.from(now).to_string()),
    }
}

/// What was listed; no list is none at all.
fn some(names: &[String]) -> Option<Vec<String>> {
    (!names.is_empty()).then(|| names.to_vec())
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
        ("servers", list_of(token.servers.as_ref())),
        ("tools", list_of(token.tools.as_ref())),
        ("rate", token.rate.clone()),
        ("expires", token.expires.clone()),
    ];
    let known: Vec<_> = facts
        .into_iter()
        .filter_map(|(what, fact)| Some(format!("{what} {}", fact?)))
        .collect();
    known.join(" · ")
}

async fn list(books: &Books<'_>, out: &Out, repeat: Repeat) -> Result<ExitCode, Problem> {
    let ask = async || books.ask(ListTokens {}).await;
    let page = |list: &TokenList, look: &Look| table(list, Timestamp::now(), look);
    let shown = watch::report(out, repeat, ask, page).await?;
    if shown.once().is_some_and(|list| list.tokens.is_empty()) {
        out.note("there are no tokens; make one with `mcpr-ctl tokens create --client APP`");
    }
    Ok(shown.code())
}

fn table(list: &TokenList, now: Timestamp, look: &Look) -> String {
    let mut table = Table::new(&[
        "ID",
        "NAME",
        "CLIENT",
        "PROJECT",
        "TOOLSET",
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
            token.toolset.as_deref().into(),
            scopes(token).into(),
            time(&token.created, now, look).into(),
            when(&token.last_used),
            when(&token.expires),
            state(token.state),
        ]);
    }
    table.draw(look)
}

fn list_of(names: Option<&Vec<String>>) -> Option<String> {
    joined(names?)
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

async fn show(books: &Books<'_>, out: &Out, which: &str) -> Result<ExitCode, Problem> {
    let list = books.ask(ListTokens {}).await?;
    let token = choose(&list.tokens, which)?;
    out.report(token, |token, look| page(token, Timestamp::now(), look))?;
    Ok(ExitCode::Ok)
}

fn page(token: &TokenReport, now: Timestamp, look: &Look) -> String {
    let when = |at: &Option<String>| at.as_ref().map(|at| time(at, now, look));
    let former = token.retiring.as_ref();
    let former = former.map(|text| format!("{}, until {}", text.prefix, time(&text.until, now, look)));
    let facts = facts([
        ("name", Some(token.name.clone())),
        ("state", Some(token.state.to_string())),
        ("kind", Some(token.kind.to_string())),
        ("begins", Some(token.prefix.clone())),
        ("scopes", Some(scopes(token))),
        ("client", token.client.clone()),
        ("project", token.project.clone()),
        ("toolset", token.toolset.clone()),
        ("servers", list_of(token.servers.as_ref())),
        ("tools", list_of(token.tools.as_ref())),
        ("rate", token.rate.clone()),
        ("created", when(&Some(token.created.clone()))),
        ("last used", when(&token.last_used)),
        ("expires", when(&token.expires)),
        ("revoked", when(&token.revoked)),
        ("rotated", when(&token.rotated)),
        ("old text", former),
    ]);
    format!("{}\n{facts}", look.paint(Paint::Head, &token.id))
}

async fn revoke(books: &Books<'_>, out: &Out, which: &str) -> Result<ExitCode, Problem> {
    let operation = RevokeToken {
        which: which.to_owned(),
    };
    let token = books.ask(operation).await?;
    out.report(&token, |token, _| {
        format!("revoked {} ({})\n", token.id, token.name)
    })?;
    Ok(ExitCode::Ok)
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
            servers: None,
            tools: None,
            rate: None,
            created: "2027-01-15T07:30:00Z".into(),
            expires: Some("2027-04-15T08:00:00Z".into()),
            last_used: None,
            revoked: None,
            rotated: None,
            retiring: None,
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
