//! One suite of stories, held against every store.
#![expect(clippy::unwrap_used, reason = "a story ends at its first surprise")]

mod stories;

/// Tells each story to a fresh store; what keeps the store's file alive stays to the end.
macro_rules! conformance {
    ($backend:ident: $fresh:expr; $($story:ident)*) => {
        mod $backend {
            $(
                #[tokio::test]
                async fn $story() {
                    let (store, _kept) = $fresh;
                    super::stories::$story(&*store).await;
                }
            )*
        }
    };
}

macro_rules! all_stories {
    ($backend:ident: $fresh:expr) => {
        conformance! { $backend: $fresh;
            sec_02_a_token_is_kept_with_its_hash
            sec_02_a_token_is_revoked_by_id_name_or_beginning
            sec_02_a_revoked_token_keeps_its_time
            sec_02_an_ambiguous_name_revokes_nothing
            sec_02_a_rotated_token_ends_after_its_grace
            sec_02_the_same_token_is_not_stored_twice
            http_03_tokens_are_listed_oldest_first
            http_03_the_last_use_only_moves_forward
            http_03_what_is_stored_fills_the_table_of_tokens
            an_assigned_name_is_kept_until_it_is_replaced
            a_listing_is_kept_byte_for_byte
            a_verdict_is_kept_until_it_is_old
            the_sealing_key_is_drawn_once
            ones_own_changes_are_not_those_of_others
            a_closed_store_answers_no_more
        }
    };
}

all_stories! { memory: (Box::new(mcpr_store::Memory::new()), ()) }

#[cfg(feature = "sqlite")]
all_stories! {
    sqlite: {
        let folder = tempfile::tempdir().unwrap();
        (mcpr_store::open(folder.path().join("mcpr.db")).await.unwrap(), folder)
    }
}
