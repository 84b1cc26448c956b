//! One suite of stories, held against every store.
#![expect(clippy::unwrap_used, reason = "a story ends at its first surprise")]

mod history;
mod state;
mod stories;

/// All stories.
mod told {
    pub(super) use crate::history::*;
    pub(super) use crate::state::*;
    pub(super) use crate::stories::*;
}

/// Tells each story to a fresh store; what keeps the store's file alive stays to the end.
macro_rules! conformance {
    ($backend:ident: $fresh:expr; $($story:ident)*) => {
        mod $backend {
            $(
                #[tokio::test]
                async fn $story() {
                    let (store, _kept) = $fresh;
                    super::told::$story(&*store).await;
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
            sec_02_a_rotated_token_is_kept_with_both_hashes
            sec_02_the_texts_that_a_token_had_are_kept
            sec_02_what_a_token_is_limited_to_is_kept
            sec_02_the_same_token_is_not_stored_twice
            http_03_tokens_are_listed_oldest_first
            http_03_the_last_use_only_moves_forward
            http_03_what_is_stored_fills_the_table_of_tokens
            an_assigned_name_is_kept_until_it_is_replaced
            a_listing_is_kept_byte_for_byte
            a_verdict_is_kept_until_it_is_old
            sec_03_a_sealing_key_is_drawn_once_until_it_is_too_old
            ones_own_changes_are_not_those_of_others
            a_closed_store_answers_no_more
            set_04_a_toolset_is_kept_whole_and_replaced_whole
            set_04_a_name_belongs_to_its_owner
            set_10_a_definition_is_kept_once_byte_for_byte_and_as_long_as_it_is_pinned
            set_05_each_principal_has_one_toolset_equipped
            agg_13_a_switch_is_kept_until_it_says_nothing
            prj_01_a_project_is_kept_whole_until_it_is_replaced_or_deleted
            pins_what_a_server_showed_first_is_kept_and_not_replaced
            pins_approved_definitions_replace_older_ones_and_outlive_the_others
            a_closed_store_changes_no_state_any_more
            log_06_calls_are_kept_whole_and_come_newest_first
            log_06_a_call_is_written_once
            log_06_each_wish_narrows_what_is_found
            log_06_a_text_is_looked_for_in_tools_errors_and_arguments
            log_06_calls_are_paged_by_their_ids
            log_06_a_search_ends_where_its_calls_take_too_many_bytes
            log_06_a_call_is_found_by_its_id_or_its_beginning
            log_06_only_calls_that_are_meant_are_forgotten
            log_06_calls_that_are_too_old_are_forgotten
            log_06_of_too_many_calls_the_oldest_are_forgotten
            log_06_thousands_of_calls_are_forgotten_at_once
            a_closed_store_keeps_no_calls_any_more
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
