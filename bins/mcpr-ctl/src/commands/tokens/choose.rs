//! Which token a person means.

use mcpr_admin::{TokenReport, TokenState};

use crate::problem::Problem;
use crate::suggest::near;

/// Finds the one token that `which` means: by id, by name, or by the beginning of its id. Tokens
/// that are not revoked go before those that are.
pub(in crate::commands) fn choose<'t>(
    tokens: &'t [TokenReport],
    which: &str,
) -> Result<&'t TokenReport, Problem> {
    if let Some(token) = tokens.iter().find(|token| token.id == which) {
        return Ok(token);
    }
    let fits: [fn(&TokenReport, &str) -> bool; 2] = [|token, which| token.name == which, id_begins];
    for revoked in [false, true] {
        for fit in fits {
            let all = tokens
                .iter()
                .filter(|token| (token.state == TokenState::Revoked) == revoked && fit(token, which));
            match all.collect::<Vec<_>>()[..] {
                [] => {}
                [token] => return Ok(token),
                ref several => return Err(ambiguous(which, several)),
            }
        }
    }
    Err(absent(tokens, which))
}

/// Whether its id begins like this, with or without `tk_`.
fn id_begins(token: &TokenReport, which: &str) -> bool {
    let letters = |text: &str| text.strip_prefix("tk_").unwrap_or(text).to_owned();
    let which = letters(which);
    !which.is_empty() && letters(&token.id).starts_with(&which)
}

fn ambiguous(which: &str, tokens: &[&TokenReport]) -> Problem {
    let ids: Vec<_> = tokens.iter().map(|token| token.id.as_str()).collect();
    Problem::usage(format!(
        "`{which}` means more than one token ({})",
        ids.join(", ")
    ))
    .hint("name one by its id")
}

fn absent(tokens: &[TokenReport], which: &str) -> Problem {
    let problem = Problem::not_found(format!("there is no token `{which}`"));
    let names = tokens
        .iter()
        .flat_map(|token| [token.name.as_str(), token.id.as_str()]);
    match near(which, names) {
        Some(near) => problem.hint(format!("did you mean `{near}`?")),
        None => problem.hint("`mcpr-ctl tokens ls` shows all"),
    }
}

#[cfg(test)]
mod tests {
    use mcpr_admin::TokenKind;

    use super::*;

    /// Four tokens: two laptops, of which one is revoked, and two services that begin alike.
    fn tokens() -> Vec<TokenReport> {
        let token = |id: &str, name: &str, state| TokenReport {
            id: id.into(),
            kind: TokenKind::Pat,
            name: name.into(),
            prefix: "mcpr_pat_x7Q".into(),
            state,
            client: None,
            project: None,
            toolset: None,
            scopes: Vec::new(),
            servers: None,
            tools: None,
            rate: None,
            created: "2027-01-15T07:30:00Z".into(),
            expires: None,
            last_used: None,
            revoked: None,
            rotated: None,
            retiring: None,
        };
        vec![
            token("tk_aaaaaaaa", "laptop", TokenState::Revoked),
            token("tk_aabbbbbb", "laptop", TokenState::Active),
            token("tk_ccdddddd", "ci", TokenState::Active),
            token("tk_cceeeeee", "ci", TokenState::Expired),
        ]
    }

    fn chosen(which: &str) -> String {
        let tokens = tokens();
        choose(&tokens, which).map_or_else(
            |problem| format!("{}; {}", problem.message, problem.hint.unwrap_or_default()),
            |token| token.id.clone(),
        )
    }

    #[test]
    fn set_05_an_id_a_name_or_the_beginning_of_an_id_means_a_token() {
        for (which, id) in [
            ("tk_aaaaaaaa", "tk_aaaaaaaa"),
            ("laptop", "tk_aabbbbbb"),
            ("tk_cce", "tk_cceeeeee"),
            ("aaa", "tk_aaaaaaaa"),
        ] {
            assert_eq!(chosen(which), id);
        }
    }

    #[test]
    fn ctl_04_what_means_no_token_or_several_is_refused() {
        assert_eq!(
            chosen("ci"),
            "`ci` means more than one token (tk_ccdddddd, tk_cceeeeee); name one by its id"
        );
        assert_eq!(
            chosen("laptpo"),
            "there is no token `laptpo`; did you mean `laptop`?"
        );
        assert_eq!(
            chosen("tk_"),
            "there is no token `tk_`; `mcpr-ctl tokens ls` shows all"
        );
    }
}
