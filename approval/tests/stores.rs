//! One suite over every store.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]
#![allow(unreachable_pub, missing_docs, reason = "a test binary has no public interface")]

mod suite;

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::sync::Arc;

use plangate_approval::{Holder, MemoryStore, SqliteStore, Storage};
use suite::{Bench, Mortal, TestClock};

/// The store in memory.
struct InMemory {
    store: Arc<MemoryStore>,
    clock: Arc<TestClock>,
}

impl InMemory {
    fn new() -> InMemory {
        let clock = TestClock::new();
        InMemory { store: Arc::new(MemoryStore::with_clock(clock.clone()).unwrap()), clock }
    }
}

impl Bench for InMemory {
    fn handle(&self) -> Arc<dyn Storage> {
        self.store.clone()
    }

    fn clock(&self) -> Arc<TestClock> {
        Arc::clone(&self.clock)
    }

    fn mortal(&self) -> Mortal {
        let holder = Holder::random().unwrap();
        let (store, dead) = (Arc::clone(&self.store), holder.clone());
        Mortal { holder, kill: Box::new(move || store.kill(&dead)) }
    }
}

/// The store in a file of a folder that is removed at the end.
struct InFile {
    folder: tempfile::TempDir,
    clock: Arc<TestClock>,
}

impl InFile {
    fn new() -> InFile {
        InFile { folder: tempfile::tempdir().unwrap(), clock: TestClock::new() }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("state.db")
    }
}

impl Bench for InFile {
    fn handle(&self) -> Arc<dyn Storage> {
        Arc::new(SqliteStore::open_with_clock(self.path(), self.clock.clone()).unwrap())
    }

    fn clock(&self) -> Arc<TestClock> {
        Arc::clone(&self.clock)
    }

    /// As a process would that keeps its lock until it dies; the store sees a lock, and cannot tell whose it is.
    fn mortal(&self) -> Mortal {
        let name = Holder::random().unwrap().0;
        let folder = self.folder.path().canonicalize().unwrap().join("state.db.holders");
        std::fs::create_dir_all(&folder).unwrap();
        let file = OpenOptions::new().write(true).create_new(true).open(folder.join(&name)).unwrap();
        rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
        let kill = move || drop::<File>(file);
        Mortal { holder: Holder(format!("{name}.0")), kill: Box::new(kill) }
    }
}

/// Each test of the suite, on each store.
macro_rules! on_every_store {
    ($($group:ident: $($test:ident)*;)*) => {
        mod in_memory {
            $(mod $group { $(#[test] fn $test() { crate::suite::$group::$test(&crate::InMemory::new()); })* })*
        }
        mod in_sqlite {
            $(mod $group { $(#[test] fn $test() { crate::suite::$group::$test(&crate::InFile::new()); })* })*
        }
    };
}

on_every_store! {
    rows:
        a_row_is_what_was_asked
        asking_again_is_the_same_row
        other_bytes_under_the_same_number_are_changed
        a_digest_of_other_bytes_is_refused
        a_node_is_asked_again_only_after_a_lapse_or_did_not
        did_not_allows_the_next_number
        what_is_not_there_is_not_found
        a_refused_ask_writes_no_step
        documents_and_inputs_are_kept_as_they_were
        the_queue_is_over_all_runs;
    votes:
        a_yes_approves_and_wakes
        the_second_hears_what_who_and_when
        one_no_rejects_with_its_reason
        a_person_counts_once
        a_person_may_turn_a_yes_into_a_no
        another_digest_is_changed
        roles_are_needed
        a_rule_about_people_needs_verified_voters
        the_requester_may_be_kept_from_deciding
        nobody_is_no_person
        a_question_is_answered
        refusals_come_in_order;
    edits:
        an_edit_keeps_both_bytes
        an_edit_voids_votes
        editing_is_a_right_of_its_own
        an_edit_never_extends;
    claims:
        a_claim_is_a_permit_for_the_stored_call
        only_an_approved_row_is_claimed
        a_claim_looks_at_bytes_and_definition
        a_refused_claim_starts_no_step
        a_claim_is_of_a_row_of_its_own_run
        the_same_nonce_is_the_same_claim
        a_lost_lease_claims_nothing
        a_permit_ends_with_its_lease
        a_permit_does_not_outlive_an_old_lease
        a_permit_ends_by_the_steady_clock
        unasked_is_born_claimed
        unasked_then_asked
        held_siblings_wait
        a_held_approval_lapses_aloud
        an_unclear_answer_is_asked_again
        an_unclear_answer_about_what_is_let_through_is_asked_again;
    outcomes:
        an_outcome_ends_row_and_step_with_its_value
        failed_and_not_sent_end_as_failed
        an_outcome_is_keyed_by_the_claim
        a_late_outcome_wakes_the_new_driver
        uncertain_is_seen_when_the_lease_is_over
        uncertain_is_seen_when_the_claimer_is_dead
        taking_a_run_writes_lost_claims_down
        a_released_claim_is_uncertain
        settling_waits_until_the_call_has_ended
        an_unknown_outcome_can_be_settled_at_once
        did_not_readies_the_step
        settling_refuses_what_is_not_uncertain
        settling_is_for_those_who_may_speak
        after_a_persons_word_the_claimers_is_an_event
        an_unknown_outcome_may_become_known
        settling_in_a_cancelled_run_readies_nothing;
    reconciled:
        did_not_allows_one_more_claim
        a_first_claimer_that_contradicts_leaves_it_uncertain
        the_host_is_asked_after_the_deadline
        a_host_that_knows_it_happened_settles_it
        did_not_of_what_is_not_usable_asks_again
        an_accepted_change_is_the_runs
        the_very_same_call_is_found;
    repeats:
        a_repeat_is_refused_before_anybody_is_asked
        of_two_that_wait_one_is_claimed
        what_a_rule_lets_through_is_refused_too
        an_edit_into_a_call_that_was_made_is_refused
        an_uncertain_call_counts_until_it_is_settled
        a_no_counts_where_policy_says_so
        a_clock_set_back_does_not_allow_a_repeat;
    shown:
        a_showing_is_kept_once
        a_showing_is_of_the_bytes_that_were_shown
        what_is_over_is_read_without_a_trace
        a_showing_names_a_person_and_a_surface;
    leases:
        one_drives
        the_fence_counts_and_not_only_the_holder
        a_dead_drivers_run_is_taken_at_once
        starting_again_is_the_same_run
        steps_are_written_all_or_none
        a_decision_is_never_parked_over
        an_expiry_is_never_parked_over
        a_parked_run_is_taken_up
        ending_is_final
        a_run_that_ends_leaves_nothing_to_decide
        attention_waits_for_a_person
        cancelling_stops_what_is_not_claimed
        nobody_cancels
        cancelling_an_undriven_run_ends_it
        a_driver_that_dies_after_a_cancel_leaves_a_run_that_ends;
    time:
        a_row_is_live_to_the_last_millisecond
        an_approved_row_is_usable_for_an_hour
        what_was_seen_expired_stays_so
        a_row_from_the_future_is_not_decided
        a_deadline_may_be_shorter
        an_expired_row_is_not_cancelled;
    log:
        events_are_a_chain
        a_refusal_leaves_no_event
        a_noted_head_proves_that_nothing_is_gone;
    races:
        one_decides
        a_quorum_is_filled_once
        one_claims
        one_of_the_very_same_calls_is_made
        one_is_born_claimed
        one_leases
        no_wake_up_is_lost
        cancel_or_claim
        cancel_or_approve
        vote_or_edit
        approve_or_expire;
    model:
        a_row_lives_as_the_model_says;
}
