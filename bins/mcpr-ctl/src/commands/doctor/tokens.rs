//! Whether clients can come in, and for how long.

use std::time::Duration;

use mcpr_admin::{TokenReport, TokenState};
use mcpr_auth::Timestamp;
use mcpr_config::clients::shell_word;

use super::door::Door;
use super::report::Check;
use super::scene::Scene;
use crate::out::phrase;

const CHECK: &str = "tokens";

/// How long before its end a token is worth a word.
const SOON: i64 = 7 * 24 * 3600;

pub(super) fn checks(scene: &Scene) -> Vec<Check> {
    let (tokens, open) = match &scene.gateway {
        Ok(running) if running.status.listen.is_empty() => return Vec::new(),
        Ok(running) => (&running.tokens, running.door == Some(Door::Open)),
        Err(_) => (&scene.stored.tokens, false),
    };
    match tokens {
        None if scene.gateway.is_ok() => {
            vec![Check::unchecked(CHECK, "the gateway did not tell of its tokens")]
        }
        None => vec![Check::ok(
            CHECK,
            "there are no tokens yet; the first start makes one and shows it",
        )],
        Some(tokens) => judge(tokens, open, Timestamp::now()),
    }
}

fn judge(tokens: &[TokenReport], open: bool, now: Timestamp) -> Vec<Check> {
    let active: Vec<_> = tokens
        .iter()
        .filter(|token| token.state == TokenState::Active)
        .collect();
    let ending = active.iter().filter_map(|token| ending(token, now));
    let count = match (active.len(), open) {
        (0, true) => Check::ok(CHECK, "there are no tokens, and none is asked for"),
        (0, false) if tokens.is_empty() => {
            Check::warning(CHECK, "there are no tokens: no client can come in")
                .fix("mcpr-ctl tokens create --client APP")
        }
        (0, false) => Check::problem(
            CHECK,
            "all tokens have expired or were revoked: no client can come in",
        )
        .fix("mcpr-ctl tokens create --client APP"),
        (1, _) => Check::ok(CHECK, "1 token is accepted"),
        (count, _) => Check::ok(CHECK, format!("{count} tokens are accepted")),
    };
    std::iter::once(count).chain(ending).collect()
}

/// A token that ends soon.
fn ending(token: &TokenReport, now: Timestamp) -> Option<Check> {
    let end: Timestamp = token.expires.as_ref()?.parse().ok()?;
    let left = end.unix() - now.unix();
    if !(0..SOON).contains(&left) {
        return None;
    }
    let left = phrase::duration(Duration::from_secs(left.unsigned_abs()));
    let whose = match &token.client {
        Some(client) => format!("--client {}", shell_word(client)),
        None => format!("--name {}", shell_word(&token.name)),
    };
    let what = format!("the token `{}` ({}) ends in {left}", token.name, token.id);
    Some(Check::warning(CHECK, what).fix(format!("mcpr-ctl tokens create {whose} --expires 90d")))
}

#[cfg(test)]
mod tests {
    use mcpr_admin::{Scope, TokenKind};

    use super::*;

    fn token(name: &str, state: TokenState, expires: Option<&str>) -> TokenReport {
        TokenReport {
            id: format!("tk_{name}"),
            kind: TokenKind::Pat,
            name: name.into(),
            prefix: "mcpr_pat_x7Q".into(),
            state,
            client: None,
            project: None,
            toolset: None,
            scopes: vec![Scope::Read],
            servers: None,
            tools: None,
            rate: None,
            created: "2027-01-01T00:00:00Z".into(),
            expires: expires.map(Into::into),
            last_used: None,
            revoked: None,
            rotated: None,
            retiring: None,
        }
    }

    #[test]
    fn sec_02_a_token_that_ends_soon_is_named_and_none_at_all_is_a_problem() {
        let now = Timestamp::from_unix(1_800_000_000); // 2027-01-15T08:00:00Z
        let soon = token("soon", TokenState::Active, Some("2027-01-18T08:00:00Z"));
        let late = token("late", TokenState::Active, Some("2027-06-01T00:00:00Z"));
        let gone = token("gone", TokenState::Revoked, None);
        let told = |tokens: &[TokenReport], open| format!("{:#?}", judge(tokens, open, now));

        let all = [
            told(&[soon, late, gone.clone()], false),
            told(&[gone], false),
            told(&[], false),
            told(&[], true),
        ];
        insta::assert_snapshot!(all.join("\n"));
    }
}
