//! The contract of the record and queue ports: one suite, run on every adapter. Each check starts from an empty store or queue.
//!
//! The lists of checks are macros that hand them to another one, which makes a test of each.

#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    missing_docs,
    reason = "a check is a test of whatever it is handed: it fails by panicking, and its name is what it says"
)]

pub mod dead;
pub mod pollers;
pub mod queue;
pub mod records;
pub mod shared;

/// Hands the name of every check of the record contract to a macro.
#[macro_export]
macro_rules! every_check_of_records {
    ($with:ident) => {
        $with! {
            an_absent_record_is_none,
            a_record_is_read_as_it_was_written,
            versions_count_the_puts,
            a_deleted_record_starts_again,
            puts_happen_only_under_their_condition,
            deletes_happen_only_under_their_condition,
            checks_only_check,
            a_commit_is_all_or_nothing,
            a_conflict_names_the_first_item_that_failed,
            limits_are_refused_and_write_nothing,
            what_is_just_within_the_limits_is_written,
            a_query_keeps_to_its_partition_and_prefix,
            a_query_is_read_page_by_page,
            a_query_goes_on_after_its_last_record_was_deleted,
            a_list_is_read_in_both_directions,
            a_list_is_read_page_by_page,
            the_members_of_a_list_come_in_its_order,
            a_list_goes_on_after_a_place_where_nothing_stands,
            a_record_moves_in_its_list_with_every_put,
            a_list_is_counted_by_its_words,
            what_was_refused_is_not_counted,
            racers_are_counted_once,
            due_rows_come_longest_due_first,
            a_due_row_goes_with_its_due_time,
            the_next_due_time_is_the_earliest,
            concurrent_increments_are_never_lost,
            concurrent_first_puts_have_one_winner,
        }
    };
}

/// Hands the name of every check of the queue contract to a macro.
#[macro_export]
macro_rules! every_check_of_queues {
    ($with:ident) => {
        $with! {
            a_message_is_received_as_it_was_sent,
            a_message_is_hidden_while_in_work,
            an_acknowledged_message_never_comes_again,
            an_older_receipt_is_no_error,
            a_delayed_message_waits,
            a_released_message_comes_again_after_its_delay,
            an_unacknowledged_message_dies_after_five_receives,
            a_released_message_dies_after_five_receives,
            a_receive_keeps_to_its_limit,
            parallel_receivers_share_the_messages,
        }
    };
}
