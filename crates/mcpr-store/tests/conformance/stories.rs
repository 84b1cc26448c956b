//! What every store promises.

use std::time::Duration;

use mcpr_auth::{
    Minted, NewToken, Scope, Scopes, Timestamp, Token, TokenHash, TokenKind, TokenStore, Tokens, mint, rotate,
};
use mcpr_store::{Assignment, SavedListing, Store, StoreError, Verdict};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix(1_800_000_000 + seconds)
}

fn minted(name: &str, created: i64) -> Minted {
    mint(NewToken::new(TokenKind::Pat, name), at(created)).unwrap()
}

async fn stored(store: &dyn Store, name: &str, created: i64) -> Token {
    let Minted { token, hash, .. } = minted(name, created);
    store.insert_token(token.clone(), hash).await.unwrap();
    token
}

async fn only_token(store: &dyn Store) -> Token {
    let mut tokens = store.tokens().await.unwrap();
    assert_eq!(tokens.len(), 1);
    tokens.remove(0).0
}

pub(crate) async fn sec_02_a_token_is_kept_with_its_hash(store: &dyn Store) {
    let new = NewToken {
        client: Some("claude-code".into()),
        project: Some("web".into()),
        toolset: Some("dev".into()),
        scopes: Scopes::of(&[Scope::Read]),
        expires: Some(at(3600)),
        ..NewToken::new(TokenKind::Svc, "Jürgen's laptop")
    };
    let Minted { token, secret, hash } = mint(new, at(0)).unwrap();

    store.insert_token(token.clone(), hash).await.unwrap();

    assert_eq!(
        store.tokens().await.unwrap(),
        [(token, TokenHash::of(secret.reveal()))]
    );
}

pub(crate) async fn sec_02_a_token_is_revoked_by_id_name_or_beginning(store: &dyn Store) {
    let tokens = [
        stored(store, "a", 0).await,
        stored(store, "b", 1).await,
        stored(store, "c", 2).await,
    ];
    let whichs = [tokens[0].id.as_str(), "b", &tokens[2].id.as_str()[..10]];

    for (token, which) in tokens.iter().zip(whichs) {
        let revoked = store.revoke_token(which, at(5)).await.unwrap();
        assert_eq!(
            revoked,
            Token {
                revoked: Some(at(5)),
                ..token.clone()
            }
        );
    }

    let left = store.tokens().await.unwrap();
    assert!(left.iter().all(|(token, _)| token.revoked == Some(at(5))));
}

pub(crate) async fn sec_02_a_revoked_token_keeps_its_time(store: &dyn Store) {
    let token = stored(store, "laptop", 0).await;
    store.revoke_token("laptop", at(5)).await.unwrap();

    let again = store.revoke_token(token.id.as_str(), at(9)).await.unwrap();

    assert_eq!(again.revoked, Some(at(5)));
    assert_eq!(only_token(store).await, again);
}

pub(crate) async fn sec_02_an_ambiguous_name_revokes_nothing(store: &dyn Store) {
    let ids = [stored(store, "ci", 0).await.id, stored(store, "ci", 1).await.id];

    let error = store.revoke_token("ci", at(5)).await.unwrap_err();

    assert!(matches!(error, StoreError::Ambiguous { ids: found, .. } if found == ids));
    let missing = store.revoke_token("nobody", at(5)).await.unwrap_err();
    assert!(matches!(missing, StoreError::NoToken(which) if which == "nobody"));
    let left = store.tokens().await.unwrap();
    assert!(left.iter().all(|(token, _)| token.revoked.is_none()));
}

pub(crate) async fn sec_02_the_texts_that_a_token_had_are_kept(store: &dyn Store) {
    let first = minted("laptop", 0);
    store.insert_token(first.token.clone(), first.hash).await.unwrap();
    let (mut token, mut hashes) = (first.token, vec![first.hash]);
    for round in 1..=3 {
        let rotated = rotate(&token, hashes[hashes.len() - 1], Duration::ZERO, at(round)).unwrap();
        store
            .rotate_token(rotated.token.clone(), hashes[hashes.len() - 1], rotated.hash)
            .await
            .unwrap();
        token = rotated.token;
        hashes.push(rotated.hash);
    }

    let kept = only_token(store).await;

    assert_eq!(kept.spent, hashes[..2]);
    assert_eq!(kept.retiring.map(|retiring| retiring.hash), Some(hashes[2]));
}

pub(crate) async fn sec_02_a_rotated_token_is_kept_with_both_hashes(store: &dyn Store) {
    let old = minted("laptop", 0);
    store.insert_token(old.token.clone(), old.hash).await.unwrap();
    let grace = Duration::from_secs(100);
    let new = rotate(&old.token, old.hash, grace, at(5)).unwrap();

    store
        .rotate_token(new.token.clone(), old.hash, new.hash)
        .await
        .unwrap();

    assert_eq!(store.tokens().await.unwrap(), [(new.token.clone(), new.hash)]);
    let again = store.rotate_token(new.token.clone(), old.hash, new.hash).await;
    assert!(matches!(again, Err(StoreError::TokenChanged(id)) if id == old.token.id));
    store.revoke_token("laptop", at(6)).await.unwrap();
    let revoked = store.rotate_token(new.token, new.hash, old.hash).await;
    assert!(matches!(revoked, Err(StoreError::TokenChanged(_))));
}

pub(crate) async fn sec_02_what_a_token_is_limited_to_is_kept(store: &dyn Store) {
    let new = NewToken {
        servers: Some(["git", "doc\"s"].into_iter().collect()),
        tools: Some(["git.status", "*.get_*"].into_iter().collect()),
        rate: Some("10/m".parse().unwrap()),
        ..NewToken::new(TokenKind::Pat, "laptop")
    };
    let Minted { token, hash, .. } = mint(new, at(0)).unwrap();

    store.insert_token(token.clone(), hash).await.unwrap();

    assert_eq!(only_token(store).await, token);
}

pub(crate) async fn sec_02_the_same_token_is_not_stored_twice(store: &dyn Store) {
    let (one, other) = (minted("one", 0), minted("other", 1));
    store.insert_token(one.token.clone(), one.hash).await.unwrap();

    let same_hash = store.insert_token(other.token, one.hash).await.unwrap_err();
    let same_id = store
        .insert_token(one.token.clone(), other.hash)
        .await
        .unwrap_err();

    assert!(matches!(same_hash, StoreError::TokenExists(_)));
    assert!(matches!(same_id, StoreError::TokenExists(_)));
    assert_eq!(only_token(store).await, one.token);
}

pub(crate) async fn http_03_tokens_are_listed_oldest_first(store: &dyn Store) {
    for (name, created) in [("second", 2), ("third", 3), ("first", 1)] {
        stored(store, name, created).await;
    }

    let names: Vec<_> = store
        .tokens()
        .await
        .unwrap()
        .into_iter()
        .map(|(token, _)| token.name)
        .collect();

    assert_eq!(names, ["first", "second", "third"]);
}

pub(crate) async fn http_03_the_last_use_only_moves_forward(store: &dyn Store) {
    let id = stored(store, "laptop", 0).await.id;
    let stranger = minted("stranger", 0).token.id;

    store
        .touch_tokens(vec![(id.clone(), at(60)), (stranger, at(60))])
        .await
        .unwrap();
    store.touch_tokens(vec![(id, at(30))]).await.unwrap();

    assert_eq!(only_token(store).await.last_used, Some(at(60)));
}

pub(crate) async fn http_03_what_is_stored_fills_the_table_of_tokens(store: &dyn Store) {
    let Minted { token, secret, hash } = minted("laptop", 0);
    store.insert_token(token.clone(), hash).await.unwrap();
    let tokens = Tokens::default();

    tokens.replace(store.tokens().await.unwrap());
    assert_eq!(
        tokens.verify(secret.reveal(), at(1)).unwrap().key(),
        token.id.as_str()
    );

    store.revoke_token("laptop", at(2)).await.unwrap();
    tokens.replace(store.tokens().await.unwrap());
    assert_eq!(
        tokens.verify(secret.reveal(), at(3)).unwrap_err().reason(),
        "revoked"
    );
}

pub(crate) async fn an_assigned_name_is_kept_until_it_is_replaced(store: &dyn Store) {
    let assignment = |kind: &str, server: &str, origin: &str, exposed: &str| Assignment {
        kind: kind.into(),
        server: server.into(),
        origin: origin.into(),
        exposed: exposed.into(),
    };
    let tool = assignment("tool", "git", "status", "git_status");
    let prompt = assignment("prompt", "git", "status", "git_status");
    store.put_assignments(vec![tool, prompt.clone()]).await.unwrap();

    let renamed = assignment("tool", "git", "status", "git_status_2");
    let second = assignment("tool", "time", "now", "time_now");
    store
        .put_assignments(vec![second.clone(), renamed.clone()])
        .await
        .unwrap();

    assert_eq!(store.assignments().await.unwrap(), [prompt, renamed, second]);
}

pub(crate) async fn a_listing_is_kept_byte_for_byte(store: &dyn Store) {
    let listing = |server: &str, body: &[u8]| SavedListing {
        server: server.into(),
        format: 1,
        at: at(0),
        body: body.to_vec(),
    };
    store.put_listing(listing("time", b"")).await.unwrap();
    store.put_listing(listing("git", b"old")).await.unwrap();
    let new = SavedListing {
        format: u32::MAX,
        at: at(9),
        ..listing("git", &[0, 0xff, b'\n', 0])
    };
    store.put_listing(new.clone()).await.unwrap();
    assert_eq!(
        store.listings().await.unwrap(),
        [new.clone(), listing("time", b"")]
    );

    store.delete_listing("time").await.unwrap();
    store.delete_listing("nobody").await.unwrap();

    assert_eq!(store.listings().await.unwrap(), [new]);
}

pub(crate) async fn a_verdict_is_kept_until_it_is_old(store: &dyn Store) {
    let verdict = |key: &str, seconds: i64| Verdict {
        key: key.into(),
        body: format!(r#"{{"at":{seconds}}}"#),
        at: at(seconds),
    };
    for (key, seconds) in [("b", 1), ("a", 2), ("b", 3), ("c", 1)] {
        store.put_verdict(verdict(key, seconds)).await.unwrap();
    }
    assert_eq!(
        store.verdicts().await.unwrap(),
        [verdict("a", 2), verdict("b", 3), verdict("c", 1)]
    );

    store.prune_verdicts(at(2)).await.unwrap();

    assert_eq!(
        store.verdicts().await.unwrap(),
        [verdict("a", 2), verdict("b", 3)]
    );
}

pub(crate) async fn sec_03_a_sealing_key_is_drawn_once_until_it_is_too_old(store: &dyn Store) {
    let keys = async |now, oldest| store.sealing_keys(at(now), at(oldest)).await.unwrap();
    let day = 24 * 60 * 60;
    let first = keys(day, 0).await;

    assert_eq!(keys(2 * day, day).await, first);
    assert_ne!(first.newest.as_bytes(), &[0; 32]);
    assert_eq!((first.drawn, &first.former), (at(day), &None));
    assert_eq!(format!("{:?}", first.newest), "SealingKey(..)");
    let second = keys(2 * day, day + 1).await;
    assert_eq!(second.former.as_ref(), Some(&first.newest));
    assert!(second.newest != first.newest && second.drawn == at(2 * day));
    let third = keys(4 * day, 3 * day).await;
    assert_eq!(third.former, Some(second.newest), "the first is gone");
    assert_eq!(keys(3 * day, 0).await, third);
    assert_ne!(
        keys(3 * day - 1, 0).await,
        third,
        "it was drawn by a clock far ahead"
    );
}

pub(crate) async fn ones_own_changes_are_not_those_of_others(store: &dyn Store) {
    let before = store.changes_by_others().await.unwrap();

    stored(store, "laptop", 0).await;

    assert_eq!(store.changes_by_others().await.unwrap(), before);
}

pub(crate) async fn a_closed_store_answers_no_more(store: &dyn Store) {
    store.close().await;
    store.close().await;

    assert!(matches!(store.tokens().await, Err(StoreError::Closed)));
    let Minted { token, hash, .. } = minted("late", 0);
    assert!(matches!(
        store.insert_token(token, hash).await,
        Err(StoreError::Closed)
    ));
}
