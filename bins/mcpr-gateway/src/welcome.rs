//! The first token of a gateway that has none.

use std::time::Duration;

use mcpr_admin::{CreateToken, Failure, ListTokens, Scope, Secret, TokenReport, TokenState};
use mcpr_auth::Timestamp;
use mcpr_protocol::Method;

use crate::host::Host;
use crate::out;
use crate::snippets::Snippets;

/// What is said in place of a token that others could read.
const NO_TOKEN: &str = "\
There is no token yet, and none was made: what is said here goes into a file that others may read. Make one with

  mcpr-ctl tokens create --name NAME
";

/// Makes a token if there has never been one, and shows it: to people, this once, and not to the log. None is made
/// where that would be kept in a file for others to read.
pub(crate) async fn first_token(host: &Host, url: &str) {
    if let Err(failure) = greet(host, url).await {
        tracing::warn!(reason = failure.message, "no first token could be made");
    }
}

async fn greet(host: &Host, url: &str) -> Result<(), Failure> {
    if !host.gateway.operate(ListTokens {}).await?.tokens.is_empty() {
        return Ok(());
    }
    if out::is_kept_for_others() {
        out::tell(NO_TOKEN.to_owned()).await;
        return Ok(());
    }
    let secret = make(host, "first", None).await?;
    let token = secret.reveal();
    out::tell(told(&Snippets { url, token })).await;
    Ok(())
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
