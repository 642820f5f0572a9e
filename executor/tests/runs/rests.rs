//! What rests while people think: roots in every state, settings that differ next time, calls that failed.

use std::time::Duration;

use plangate_approval::StepState::*;
use plangate_approval::run::StepWrite;
use plangate_approval::storage::{LeaseAnswer, ParkAnswer, Storage};
use plangate_approval::{RowState, RunState, StoreError};
use plangate_executor::{Ended, Options, RunError};

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

/// Three calls that come to be the very same are three calls: a yes to one of them is a yes to that one.
#[test]
fn the_very_same_call_three_times_is_asked_three_times() {
    let stage = Stage::new().answers("cal.list", "7").answers("gmail.list", "7");
    let mut ended = stage.run(
        "together:\n  x: cal.list {}\n  y: gmail.list {}\ntogether:\n  a: slack.post {\"n\":\"{x}\"}\n  b: slack.post \
         {\"n\":\"{y}\"}\n  c: slack.post {\"n\":7}\n",
    );
    let rows = waiting(&ended);
    let mut ids: Vec<_> = rows.iter().map(|row| row.id.clone()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    assert!(rows.iter().all(|row| row.digest == rows[0].digest));
    for (made, row) in rows.iter().enumerate() {
        assert_eq!((stage.host.calls("slack.post"), waiting(&ended).len()), (made, 3 - made));
        stage.approve(row);
        ended = stage.resume(&ended);
    }
    assert_eq!(
        (states(&ended).as_str(), stage.host.calls("slack.post")),
        ("x done, y done, a/gate done, a done, b/gate done, b done, c/gate done, c done", 3)
    );
    assert_eq!(stage.store.rows(None).unwrap().len(), 3);
    let mut keys: Vec<_> = stage.host.sent_to("slack.post").into_iter().filter_map(|sent| sent.key).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 3, "a tool that remembers keys makes all three");
}

/// Whoever looks after the deadline is told that it is over, though nobody has resumed the run; and is told the same later.
#[test]
fn what_has_expired_is_told_so_before_anybody_resumes() {
    let stage = Stage::new();
    let parked = stage.run("then:\n  a: slack.post {}\n  b: jira.create {}\n");
    let row = only(&parked);
    stage.clock.advance_ms(3_600_000);
    let record = stage.executor().record(&parked.record().run).unwrap();
    assert_eq!(record.step("a/gate").unwrap().state, Expired);
    assert_eq!(record.step("a/gate").unwrap().decisions[0].state, RowState::Expired);
    assert_eq!(stage.store.waiting().unwrap(), []);
    let told = approve(&*stage.store, &row).unwrap_err();
    assert_eq!(told.to_string(), "expired; nothing was run: ask again");
    let ended = stage.resume(&parked);
    let again = stage.resume(&ended);
    assert_eq!(
        (states(&ended).as_str(), &again),
        ("a/gate expired, a expired, b/gate blocked, b blocked", &ended)
    );
    assert_eq!(stage.host.calls("slack.post"), 0);
}

/// The time of a call runs from when it is handed out, however long its gate waited in the same drive.
#[test]
fn the_time_of_a_call_does_not_run_while_its_gate_waits() {
    let (called, was_called) = crossbeam::channel::bounded::<()>(1);
    let stage = std::sync::Arc::new(
        Stage::new()
            // It does not answer within its two seconds, which pass for the gate beside it, too.
            .on("cal.list", |_, cancel| {
                let (stop, stopped) = crossbeam::channel::bounded(1);
                cancel.on_cancel(move || stop.send(()).unwrap());
                stopped.recv().unwrap();
                Answer::Failed("stopped")
            })
            // Keeps the run driven until the call was made.
            .on("gmail.list", move |_, _| {
                was_called.recv().unwrap();
                Answer::Ok(json("1"))
            })
            .on("slack.post", move |_, _| {
                called.send(()).unwrap();
                Answer::Ok(json("2"))
            }),
    );
    let decider = {
        let stage = std::sync::Arc::clone(&stage);
        std::thread::spawn(move || {
            loop {
                let timed_out = stage.store_runs().first().is_some_and(|run| {
                    let record = stage.executor().record(&run.id).unwrap();
                    record.step("slow").unwrap().state == TimedOut
                });
                if timed_out {
                    return stage.approve(&stage.store.rows(None).unwrap()[0]);
                }
                std::thread::yield_now();
            }
        })
    };
    let ended = stage.run(
        "together:\n  slow: cal.list {}\n    timeout: 2s\n  p: slack.post {}\n    timeout: 2s\n  other: gmail.list {}\n",
    );
    let row = decider.join().unwrap();
    assert_eq!(states(&ended), "slow timed_out, p/gate done, p done, other done");
    assert_eq!(stage.store_row(&row).state, RowState::Succeeded);
}

/// A run that is not there, and one of which something cannot be read: said, and never taken for one with nothing to decide.
#[test]
fn what_cannot_be_read_is_an_error_and_no_empty_run() {
    let stage = Stage::new();
    let nowhere = plangate_approval::RunId("0".repeat(32));
    for answer in [
        stage.executor().resume(&nowhere, None).map(drop),
        stage.executor().record(&nowhere).map(drop),
        stage.executor().cancel(&nowhere, &person("bob"), None).map(drop),
    ] {
        assert!(
            matches!(answer, Err(RunError::Store(StoreError::NotFound { what: "run", .. }))),
            "{answer:?}"
        );
    }
    let parked = stage.run("together:\n  mail: gmail.list {}\n  p: slack.post {}\n");
    let (run, row) = (parked.record().run.clone(), only(&parked));
    let holder = stage.store.holder().unwrap();
    for garbage in ["", "null", "[]", "{\"drive\":1", "{\"drive\":\"one\",\"began\":0,\"at\":0}"] {
        let LeaseAnswer::Taken(lease) = stage.store.lease(&run, &holder).unwrap() else {
            panic!("the run is still held after {garbage:?}")
        };
        let step = StepWrite { node: "mail".into(), state: Done, detail: garbage.as_bytes().into() };
        let lease = stage.store.record(&lease, &[step]).unwrap();
        assert_eq!(stage.store.park(&lease), Ok(ParkAnswer::Released));
        for answer in [stage.executor().resume(&run, None).map(drop), stage.executor().record(&run).map(drop)]
        {
            let Err(RunError::Fault(why)) = answer else { panic!("{garbage:?}: {answer:?}") };
            assert!(why.contains("mail"), "{why}");
        }
        assert_eq!(stage.store.waiting().unwrap(), std::slice::from_ref(&row));
    }
    stage.approve(&row);
    assert!(stage.executor().resume(&run, None).is_err());
    assert_eq!(stage.host.calls("slack.post"), 0);
}

/// The reason of a no: at the gate, in the history, and with whatever did not run because of it.
#[test]
fn the_reason_of_a_no_reaches_what_did_not_run() {
    let stage = Stage::new();
    let parked = stage.run("then:\n  a: slack.post {}\n  b: jira.create {}\n");
    stage.reject(&only(&parked), "not today");
    let ended = stage.resume(&parked);
    let gate = step(&ended, "a/gate");
    assert_eq!(gate.decisions[0].reason.as_deref(), Some("not today"));
    for id in ["a", "b/gate", "b"] {
        let cause = step(&ended, id).cause.clone().unwrap();
        assert_eq!(cause.state, Rejected, "{id}");
        assert_eq!(cause.error.as_deref(), Some("not today"), "{id}: {cause:?}");
    }
}

/// No verb gives a gated call an outcome but its claimer's and a person's word on an uncertain one.
#[test]
fn a_call_is_not_done_because_its_step_says_so() {
    let stage = Stage::new();
    let recipe = "then:\n  p: slack.post {}\n  r: fs.read_file {\"p\":\"{p}\"}\n";
    let parked = stage.run(recipe);
    let (run, row) = (parked.record().run.clone(), only(&parked));
    let holder = stage.store.holder().unwrap();
    let LeaseAnswer::Taken(lease) = stage.store.lease(&run, &holder).unwrap() else { panic!("held") };
    let detail = br#"{"drive":2,"began":0,"at":0,"ended":1,"result":"made up"}"#;
    let steps =
        ["p/gate", "p"].map(|node| StepWrite { node: node.into(), state: Done, detail: (*detail).into() });
    let lease = stage.store.record(&lease, &steps).unwrap();
    assert_eq!(stage.store.park(&lease), Ok(ParkAnswer::Released));
    let again = stage.resume(&parked);
    assert_eq!(states(&again), "p/gate pending, p waiting, r waiting");
    stage.approve(&row);
    let ended = stage.resume(&again);
    assert_eq!(stage.host.calls("slack.post"), 1);
    assert_eq!(step(&ended, "r").arguments, Some(json(r#"{"p":{"from":"slack.post"}}"#)));
}
