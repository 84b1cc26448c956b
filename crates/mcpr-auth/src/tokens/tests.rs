//! The table of tokens, as clients and operators see it.

use std::time::Duration;

use super::*;
use crate::{Minted, NewToken, Scope, TokenKind, mint};

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_unix(1_800_000_000).after(Duration::from_secs(seconds))
}

fn minted() -> Minted {
    mint(NewToken::new(TokenKind::Pat, "laptop"), at(0)).unwrap()
}

fn holding(minted: &Minted) -> Tokens {
    let tokens = Tokens::default();
    tokens.insert(&minted.token, minted.hash);
    tokens
}

#[test]
fn the_same_tokens_once_more_wake_nobody() {
    let mut minted = minted();
    let tokens = holding(&minted);
    let before = tokens.generation();

    minted.token.last_used = Some(at(90));
    tokens.replace([(minted.token.clone(), minted.hash)]);
    assert_eq!(tokens.generation(), before);

    minted.token.revoked = Some(at(91));
    tokens.replace([(minted.token, minted.hash)]);
    assert!(tokens.generation() > before);
}

fn reason(tokens: &Tokens, presented: &str, now: Timestamp) -> &'static str {
    tokens
        .verify(presented, now)
        .map_or_else(|denied| denied.reason(), |_| "ok")
}

#[test]
fn http_03_a_known_token_stands_for_its_principal() {
    let minted = minted();
    let tokens = holding(&minted);

    let principal = tokens.verify(minted.secret.reveal(), at(1)).unwrap();

    assert_eq!(principal.key(), minted.token.id.as_str());
    assert!(principal.allows(Scope::Call));
}

#[test]
fn http_03_every_other_text_is_denied_with_its_reason() {
    let (known, other) = (minted(), minted());
    let tokens = holding(&known);
    let cut = &known.secret.reveal()[..46];

    assert_eq!(reason(&tokens, "", at(1)), "not_a_token");
    assert_eq!(reason(&tokens, "ghp_0123", at(1)), "not_a_token");
    assert_eq!(reason(&tokens, cut, at(1)), "bad_checksum");
    assert_eq!(reason(&tokens, other.secret.reveal(), at(1)), "unknown");
}

#[test]
fn sec_02_a_denial_shows_no_more_than_the_prefix() {
    let (known, other) = (minted(), minted());
    let secret = other.secret.reveal();

    let denied = holding(&known).verify(secret, at(1)).unwrap_err();

    assert_eq!(
        denied,
        Denied::Unknown {
            prefix: other.token.prefix
        }
    );
    assert!(!denied.to_string().contains(&secret[..13]));
}

#[test]
fn sec_02_an_expired_token_is_denied_from_its_second_on() {
    let minted = minted();
    let token = Token {
        expires: Some(at(10)),
        ..minted.token.clone()
    };
    let tokens = holding(&minted);
    tokens.insert(&token, minted.hash);

    assert_eq!(reason(&tokens, minted.secret.reveal(), at(9)), "ok");
    assert_eq!(reason(&tokens, minted.secret.reveal(), at(10)), "expired");
}

#[tokio::test]
async fn sec_02_a_revoked_token_is_denied_and_whoever_holds_its_sessions_hears_of_it() {
    let minted = minted();
    let tokens = holding(&minted);
    let principal = tokens.verify(minted.secret.reveal(), at(1)).unwrap();
    let mut changes = tokens.changes();
    assert_eq!(tokens.recheck(&principal, at(1)), Ok(()));

    assert!(tokens.revoke(&minted.token.id, at(2)));

    changes.changed().await.unwrap();
    let revoked = Denied::Revoked {
        id: minted.token.id.clone(),
        at: at(2),
    };
    assert_eq!(tokens.recheck(&principal, at(3)), Err(revoked.clone()));
    assert_eq!(tokens.verify(minted.secret.reveal(), at(3)), Err(revoked));
    assert!(!tokens.revoke(&minted.token.id, at(4)), "it is revoked already");
}

#[test]
fn sec_02_a_token_that_vanished_is_denied_at_the_next_look() {
    let minted = minted();
    let tokens = holding(&minted);
    let principal = tokens.verify(minted.secret.reveal(), at(1)).unwrap();

    tokens.replace([]);

    assert_eq!(tokens.recheck(&principal, at(2)).unwrap_err().reason(), "revoked");
    assert_eq!(reason(&tokens, minted.secret.reveal(), at(2)), "unknown");
    assert_eq!(tokens.recheck(&Principal::local(), at(2)), Ok(()));
}

#[test]
fn sec_02_a_rotated_token_is_known_by_both_texts_until_the_grace_is_over() {
    let old = minted();
    let tokens = holding(&old);
    let new = crate::rotate(&old.token, old.hash, Duration::from_secs(60), at(10)).unwrap();
    tokens.insert(&new.token, new.hash);
    let [before, after] = [&old, &new].map(|minted| minted.secret.reveal());

    assert_eq!(reason(&tokens, before, at(69)), "ok");
    assert_eq!(reason(&tokens, before, at(70)), "replaced");
    assert_eq!(reason(&tokens, after, at(70)), "ok");
    let principal = tokens.verify(before, at(20)).unwrap();
    assert_eq!(principal, tokens.verify(after, at(20)).unwrap());
    assert_eq!(
        tokens.recheck(&principal, at(500)),
        Ok(()),
        "its sessions live on"
    );
    assert_eq!(tokens.recheck_text(&principal, at(20)), Ok(Some(at(70))));
    assert_eq!(
        tokens.recheck_text(&principal, at(70)).unwrap_err().reason(),
        "replaced"
    );

    assert!(tokens.revoke(&old.token.id, at(30)));
    assert_eq!(reason(&tokens, before, at(31)), "revoked");
    assert_eq!(reason(&tokens, after, at(31)), "revoked");
    assert_eq!(tokens.len(), 1);
}

#[test]
fn every_change_makes_a_new_generation() {
    let minted = minted();
    let tokens = Tokens::default();
    let mut generations = vec![tokens.generation()];

    tokens.insert(&minted.token, minted.hash);
    generations.push(tokens.generation());
    tokens.revoke(&minted.token.id, at(1));
    generations.push(tokens.generation());
    tokens.replace([]);
    generations.push(tokens.generation());

    assert!(generations.is_sorted_by(|a, b| a < b), "{generations:?}");
}

#[test]
fn http_03_the_last_use_is_noted_once_a_minute() {
    let minted = minted();
    let tokens = holding(&minted);
    let use_at = |seconds| tokens.verify(minted.secret.reveal(), at(seconds)).unwrap();
    let id = minted.token.id.clone();

    use_at(100);
    use_at(130);
    assert_eq!(tokens.drain_used(), [(id.clone(), at(100))]);
    use_at(159);
    assert_eq!(tokens.drain_used(), []);
    tokens.replace([(minted.token.clone(), minted.hash)]);
    use_at(159);
    assert_eq!(
        tokens.drain_used(),
        [],
        "reading the database again forgets nothing"
    );
    use_at(160);
    assert_eq!(tokens.drain_used(), [(id, at(160))]);
}

#[test]
fn http_03_a_denied_token_is_not_used() {
    let minted = minted();
    let tokens = holding(&minted);
    tokens.revoke(&minted.token.id, at(1));

    let _ = tokens.verify(minted.secret.reveal(), at(200));

    assert_eq!(tokens.drain_used(), []);
}
