//! What rests while people think: roots in every state, settings that differ next time, calls that failed.

use std::time::Duration;

use plangate_approval::StepState::*;
use plangate_approval::storage::Storage;
use plangate_approval::{RowState, RunState, StoreError};
use plangate_executor::{Ended, Options};

use crate::stage::*;

/// What becomes of a root before the run is taken up again.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Root {
    Done,
    Failed,
    Parked,
}

/// Three roots, each ended, failed or waiting, and a run taken up three times: whatever has ended is not begun again.
#[test]
fn roots_that_have_ended_are_not_begun_again() {
    let all = [Root::Done, Root::Failed, Root::Parked];
    for number in 0..27 {
        let (x, y, z) = (all[number % 3], all[number / 3 % 3], all[number / 9]);
        let stage = Stage::new().fails("gmail.list", "no");
        let names = ["one", "two", "three"];
        let tool = |root: Root| match root {
            Root::Done => "cal.list",
            Root::Failed => "gmail.list",
            Root::Parked => "slack.post",
        };
        let mut recipe = "together:\n".to_owned();
        for (name, root) in names.iter().zip([x, y, z]) {
            recipe.push_str(&format!("  {name}: {} {{\"root\":\"{name}\"}}\n", tool(root)));
        }
        let mut ended = stage.run(&recipe);
        for _ in 0..3 {
            ended = stage.resume(&ended);
        }
        let waits = [x, y, z].iter().filter(|root| **root == Root::Parked).count();
        let reads = || stage.host.sent.lock().unwrap().iter().filter(|sent| sent.key.is_none()).count();
        assert_eq!(reads(), 3 - waits, "{x:?} {y:?} {z:?}");
        while let Ended::Parked { waiting, .. } = &ended {
            for row in waiting {
                stage.approve(row);
            }
            ended = stage.resume(&ended);
        }
        ended = stage.resume(&ended);
        assert_eq!((reads(), stage.host.calls("slack.post")), (3 - waits, waits), "{x:?} {y:?} {z:?}");
        let failed = [x, y, z].contains(&Root::Failed);
        let expected = if failed { RunState::Failed } else { RunState::Done };
        assert_eq!(done(&ended).state, expected);
    }
}

#[test]
fn an_approval_is_for_one_attempt() {
    let stage = Stage::new().fails("slack.post", "over quota");
    let parked = stage.run("together:\n  a: slack.post {}\n  b: gmail.send {}\n");
    let [a, b] = waiting(&parked).try_into().unwrap();
    stage.approve(&a);
    let mut ended = stage.resume(&parked);
    for _ in 0..3 {
        ended = stage.resume(&ended);
    }
    assert_eq!((stage.host.calls("slack.post"), state(&ended, "a")), (1, Failed));
    assert_eq!(only(&ended).id, b.id, "it never returns to the queue");
    let again = approve(&*stage.store, &a);
    assert!(matches!(again, Err(StoreError::Decided { state: RowState::Failed, .. })), "{again:?}");
}

/// A person may take half an hour, or the whole: that is no time of the call, which has two seconds.
#[test]
fn waiting_for_a_person_is_no_time_of_the_call() {
    let stage = Stage::new();
    let parked = stage
        .run("then:\n  a: slack.post {}\n    timeout: 2s\n  b: cal.list {\"a\":\"{a}\"}\n    timeout: 2s\n");
    stage.clock.advance_ms(3_599_999);
    let row = stage.approve(&only(&parked));
    // The servers start slowly, too: the approval is good for an hour from the vote.
    stage.clock.advance_ms(3_599_999);
    let ended = stage.resume(&parked);
    assert_eq!(states(&ended), "a/gate done, a done, b done");
    let gate = step(&ended, "a/gate");
    assert_eq!((gate.decisions[0].at, gate.decisions[0].by.as_deref()), (row.decided_at, Some("test:bob")));
}

/// A decision stands in the store: no setting of whoever goes on with the run can lose it, or make one.
#[test]
fn other_settings_next_time_change_no_decision() {
    let mut stage = Stage::new();
    let parked = stage.run("together:\n  a: slack.post {}\n  b: gmail.send {}\n  c: jira.create {}\n");
    let [a, b, c] = waiting(&parked).try_into().unwrap();
    stage.approve(&a);
    stage.reject(&b, "no");
    stage.options = Options {
        workers: Some(1),
        hold_siblings: true,
        timeout: Duration::from_secs(1),
        ..Options::default()
    };
    let ended = stage.resume(&parked);
    assert_eq!((state(&ended, "a"), state(&ended, "b")), (Done, Rejected));
    assert_eq!(only(&ended).id, c.id);
    assert_eq!(stage.store.row(&c.id).unwrap().terms, c.terms);
    assert!(!stage.store.run(&ended.record().run).unwrap().hold_siblings, "as it was started");
}

/// An answer to a row that is over is told so, and does not reach the row that took its place.
#[test]
fn an_old_row_answers_for_nothing_new() {
    let stage = Stage::new().on("slack.post", |_, _| Answer::Unknown("connection lost"));
    let parked = stage.run("then:\n  a: slack.post {}\n");
    let old = only(&parked);
    stage.approve(&old);
    let parked = stage.resume(&parked);
    stage.settle(&only(&parked), false, None);
    let parked = stage.resume(&parked);
    let new = only(&parked);
    assert_eq!((new.ask, new.state, &new.key, new.digest), (1, RowState::Pending, &old.key, old.digest));
    let told = approve(&*stage.store, &old);
    assert!(matches!(told, Err(StoreError::Decided { state: RowState::DidNot, .. })), "{told:?}");
    assert_eq!(stage.store_row(&new), new);
    assert_eq!(stage.host.calls("slack.post"), 1);
}
