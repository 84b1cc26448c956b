//! What only a file can do: stay, be shared, be hidden, and be broken.
#![cfg(feature = "sqlite")]
#![expect(clippy::unwrap_used, reason = "a story ends at its first surprise")]

mod calls;
mod copies;
mod faults;
mod older;
mod stage;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use mcpr_auth::Minted;
use mcpr_store::{Store, open};

use stage::{add, listing, minted, now, place};

#[tokio::test]
async fn sec_02_tokens_and_keys_outlive_the_process() {
    let (_folder, path) = place();
    let Minted { token, hash, .. } = minted("laptop");
    let store = open(&path).await.unwrap();
    store.insert_token(token.clone(), hash).await.unwrap();
    store.put_listing(listing(b"[]".to_vec())).await.unwrap();
    let key = store.sealing_keys(now(), now()).await.unwrap();
    store.close().await;

    let store = open(&path).await.unwrap();

    assert_eq!(store.tokens().await.unwrap(), [(token, hash)]);
    assert_eq!(store.listings().await.unwrap(), [listing(b"[]".to_vec())]);
    assert_eq!(store.sealing_keys(now(), now()).await.unwrap(), key);
}

#[tokio::test]
async fn sec_02_the_secret_itself_is_nowhere_in_the_file() {
    let (folder, path) = place();
    let Minted { token, secret, hash } = minted("laptop");
    let store = open(&path).await.unwrap();
    store.insert_token(token, hash).await.unwrap();

    let letters = &secret.reveal().as_bytes()[12..];
    for file in fs::read_dir(folder.path().join("state")).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(letters.len()).any(|window| window == letters));
    }
}

#[tokio::test]
async fn what_was_asked_for_is_done_though_nobody_waits_for_it() {
    let (_folder, path) = place();
    let store = open(&path).await.unwrap();
    let added = add(&*store, "laptop");
    {
        let mut added = std::pin::pin!(added);
        let mut polled_once = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(added.as_mut().poll(&mut polled_once).is_pending());
    }
    store.close().await;

    assert_eq!(open(&path).await.unwrap().tokens().await.unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_may_use_the_file_at_once() {
    let (_folder, path) = place();
    let stores = [open(&path).await.unwrap(), open(&path).await.unwrap()];
    let writers = stores.clone().map(|store| {
        tokio::spawn(async move {
            for number in 0..50 {
                add(&*store, &format!("token {number}")).await;
            }
        })
    });
    for writer in writers {
        writer.await.unwrap();
    }

    let [one, other] = stores;
    let tokens = one.tokens().await.unwrap();
    assert_eq!(tokens.len(), 100);
    assert_eq!(other.tokens().await.unwrap(), tokens);
    assert_eq!(
        one.sealing_keys(now(), now()).await.unwrap(),
        other.sealing_keys(now(), now()).await.unwrap()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn many_processes_may_make_the_file_at_once() {
    let (_folder, path) = place();
    let openings: Vec<_> = (0..8).map(|_| tokio::spawn(open(path.clone()))).collect();

    let mut keys = Vec::new();
    for opening in openings {
        let store: Arc<dyn Store> = opening.await.unwrap().unwrap();
        keys.push(store.sealing_keys(now(), now()).await.unwrap());
    }

    assert!(keys.iter().all(|key| *key == keys[0]));
}

#[tokio::test]
async fn sec_02_a_running_gateway_notices_a_token_revoked_by_another_process() {
    let (_folder, path) = place();
    let [gateway, command] = [open(&path).await.unwrap(), open(&path).await.unwrap()];
    add(&*gateway, "laptop").await;
    let before = gateway.changes_by_others().await.unwrap();

    command.revoke_token("laptop", now()).await.unwrap();

    assert_ne!(gateway.changes_by_others().await.unwrap(), before);
    assert_eq!(gateway.tokens().await.unwrap()[0].0.revoked, Some(now()));
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (_folder, path) = place();
    let store = open(&path).await.unwrap();
    add(&*store, "laptop").await;

    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for file in fs::read_dir(path.parent().unwrap()).unwrap() {
        let file = file.unwrap().path();
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }

    store.close().await;
    fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();
    let _store = open(&path).await.unwrap();
    assert_eq!(mode(&path), 0o600, "an older file is hidden again");
}
