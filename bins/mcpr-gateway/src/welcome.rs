//! The first token of a gateway that has none.

use std::time::Duration;

use mcpr_admin::{CreateToken, Failure, ListTokens, Scope, Secret, TokenReport, TokenState};
use mcpr_auth::Timestamp;
use mcpr_protocol::Method;

use crate::host::Host;
use crate::out;
use crate::snippets::Snippets;

/// Makes a token if there has never been one, and shows it: to people, this once, and not to the log.
pub(crate) async fn first_token(host: &Host, url: &str) {
    match make_if_none(host).await {
        Ok(Some(secret)) => {
            let token = secret.reveal();
            out::tell(told(&Snippets { url, token })).await;
        }
        Ok(None) => {}
        Err(failure) => tracing::warn!(reason = failure.message, "no first token could be made"),
    }
}

/// Makes a token that can do what clients need, for a while or for good.
pub(crate) async fn make(host: &Host, name: &str, life: Option<Duration>) -> Result<Secret, Failure> {
    let wanted = CreateToken {
        scopes: vec![Scope::Read, Scope::Call],
        expires: life.map(|life| Timestamp::now().after(life).to_string()),
        ..CreateToken::new(name)
    };
    Ok(host.gateway.operate(wanted).await?.secret)
}

/// Tells in the log that no operator can come in, where the control socket asks for a token too.
pub(crate) async fn lacks_operators(host: &Host) {
    let Ok(list) = host.gateway.operate(ListTokens {}).await else {
        return;
    };
    let operates =
        |token: &TokenReport| token.state == TokenState::Active && token.scopes.contains(&Scope::Admin);
    if !list.tokens.iter().any(operates) {
        tracing::warn!(
            "`control.token` is set and no token has the scope admin, so mcpr-ctl cannot reach this gateway; while it is \
             stopped, `mcpr-ctl tokens create --name NAME --scope admin` makes one"
        );
    }
}

async fn make_if_none(host: &Host) -> Result<Option<Secret>, Failure> {
    if !host.gateway.operate(ListTokens {}).await?.tokens.is_empty() {
        return Ok(None);
    }
    make(host, "first", None).await.map(Some)
}

fn told(snippets: &Snippets<'_>) -> String {
    let (token, claude, cursor) = (snippets.token, snippets.claude_code(), snippets.cursor());
    let curl = snippets.curl(&Method::ToolsList, None, "");
    format!(
        "\
The first token, shown this once (more: mcpr-ctl tokens create --name NAME):

  {token}

Claude Code:
  {claude}

Cursor, in ~/.cursor/mcp.json:
  {cursor}

curl:
  {curl}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_token_comes_with_what_to_paste() {
        insta::assert_snapshot!(told(&Snippets {
            url: "http://127.0.0.1:3282/mcp",
            token: "mcpr_pat_x"
        }));
    }
}
