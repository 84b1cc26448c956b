//! Which token a person means.

use mcpr_auth::Token;

use crate::StoreError;

/// Finds the one token that `which` means: by id, by name, or by the beginning of its id. Tokens
/// that are not revoked go before those that are.
pub(crate) fn choose<'a>(tokens: &'a [Token], which: &str) -> Result<&'a Token, StoreError> {
    if let Some(token) = tokens.iter().find(|token| token.id.as_str() == which) {
        return Ok(token);
    }
    let fits: [fn(&Token, &str) -> bool; 2] = [|token, which| token.name == which, id_begins];
    let rounds = [false, true]
        .into_iter()
        .flat_map(|revoked| fits.map(|fit| (revoked, fit)));
    for (revoked, fit) in rounds {
        let fitting = tokens
            .iter()
            .filter(|token| token.revoked.is_some() == revoked && fit(token, which));
        match fitting.collect::<Vec<_>>()[..] {
            [] => {}
            [token] => return Ok(token),
            ref several => return Err(ambiguous(which, several)),
        }
    }
    Err(StoreError::NoToken(which.to_owned()))
}

/// Whether the token's id begins like `which`, with or without its `tk_`.
fn id_begins(token: &Token, which: &str) -> bool {
    let letters = |text: &str| text.strip_prefix("tk_").unwrap_or(text).to_owned();
    let which = letters(which);
    !which.is_empty() && letters(token.id.as_str()).starts_with(&which)
}

fn ambiguous(which: &str, tokens: &[&Token]) -> StoreError {
    let ids = tokens.iter().map(|token| token.id.clone()).collect();
    StoreError::Ambiguous {
        which: which.to_owned(),
        ids,
    }
}

#[cfg(test)]
mod tests {
    use mcpr_auth::{NewToken, Timestamp, TokenKind, mint};

    use super::*;

    /// Four tokens: two laptops, of which one is revoked, and two services that begin alike.
    fn tokens() -> Vec<Token> {
        let now = Timestamp::from_unix(1_800_000_000);
        let token = |id: &str, name: &str, revoked| Token {
            id: id.parse().unwrap(),
            revoked,
            ..mint(NewToken::new(TokenKind::Pat, name), now).unwrap().token
        };
        vec![
            token("tk_aaaaaaaa", "laptop", Some(now)),
            token("tk_aabbbbbb", "laptop", None),
            token("tk_ccdddddd", "ci", None),
            token("tk_cceeeeee", "ci", None),
        ]
    }

    fn chosen(which: &str) -> String {
        match choose(&tokens(), which) {
            Ok(token) => token.id.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn an_id_a_name_or_the_beginning_of_an_id_means_a_token() {
        assert_eq!(chosen("tk_aaaaaaaa"), "tk_aaaaaaaa");
        assert_eq!(chosen("laptop"), "tk_aabbbbbb");
        assert_eq!(chosen("tk_cce"), "tk_cceeeeee");
        assert_eq!(chosen("ccd"), "tk_ccdddddd");
    }

    #[test]
    fn a_token_that_is_not_revoked_goes_first() {
        assert_eq!(chosen("aa"), "tk_aabbbbbb");
        assert_eq!(chosen("aaa"), "tk_aaaaaaaa");
    }

    #[test]
    fn what_means_several_tokens_is_refused_with_their_ids() {
        for which in ["ci", "cc", "tk_c"] {
            let said =
                format!("`{which}` means more than one token (tk_ccdddddd, tk_cceeeeee); name one by its id");
            assert_eq!(chosen(which), said);
        }
    }

    #[test]
    fn what_means_no_token_is_refused() {
        for which in ["", "tk_", "lap", "tk_zz"] {
            assert_eq!(
                chosen(which),
                format!("there is no token `{which}`; `mcpr-ctl tokens ls` shows all")
            );
        }
    }
}
