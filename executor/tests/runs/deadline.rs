//! The time that one drive of a run may take.

use std::time::Duration;

use crossbeam::channel::{bounded, unbounded};
use plangate_approval::StepState::*;
use plangate_approval::{RowState, RunState, StoreError};
use plangate_graph::Policy;

use crate::stage::*;

/// A read that ends when it is asked to stop, and no sooner. Every drive has a second.
fn patient() -> Stage {
    let mut stage = Stage::new().on("gmail.list", |_, cancel| {
        let (stop, stopped) = bounded(1);
        cancel.on_cancel(move || stop.send(()).unwrap());
        stopped.recv().unwrap();
        Answer::Failed("stopped")
    });
    stage.options.deadline = Some(Duration::from_secs(1));
    stage
}

#[test]
fn what_is_under_way_is_asked_to_stop_and_nothing_more_starts() {
    let mut stage = patient();
    stage.options.workers = Some(1);
    let ended = stage.run(
        "together:\n  a: gmail.list {}\n  b: cal.list {}\nthen:\n  c: fs.read_file {\"a\":\"{a}\"}\n  p: slack.post {\"b\":\"{b}\"}\n",
    );
    assert_eq!(states(&ended), "a timed_out, b timed_out, c blocked, p/gate blocked, p blocked");
    let error = |id: &str| step(&ended, id).error.clone().unwrap_or_default();
    assert_eq!(error("a"), "the deadline of this drive (1000 ms) passed before it answered");
    assert_eq!(error("b"), "the deadline of this drive (1000 ms) passed before it started");
    assert_eq!(done(&ended).state, RunState::Failed);
    assert_eq!(ended.record().reason.as_deref(), Some("the deadline of this drive (1000 ms) passed"));
    assert_eq!((stage.host.calls("cal.list"), stage.host.calls("slack.post")), (0, 0));
    assert_eq!(stage.resume(&ended), ended, "it has ended");
}

#[test]
fn a_read_is_not_tried_again_after_it() {
    let mut stage = Stage::new().on("gmail.list", |_, cancel| {
        let (stop, stopped) = bounded(1);
        cancel.on_cancel(move || stop.send(()).unwrap());
        stopped.recv().unwrap();
        Answer::Transport("reset")
    });
    stage.options.deadline = Some(Duration::from_secs(1));
    let ended = stage.run("together:\n  a: gmail.list {}\n    retry: 5\n");
    assert_eq!((states(&ended).as_str(), stage.host.calls("gmail.list")), ("a timed_out", 1));
}

#[test]
fn people_are_still_waited_for_and_the_next_drive_has_its_own() {
    let stage = patient();
    let recipe =
        "together:\n  p: slack.post {}\n  slow: gmail.list {}\nthen:\n  note: fs.read_file {\"p\":\"{p}\"}\n";
    let parked = stage.run(recipe);
    assert_eq!(states(&parked), "p/gate pending, p waiting, slow timed_out, note waiting");
    // However long it takes them.
    stage.clock.advance_ms(1_800_000);
    stage.approve(&only(&parked));
    let ended = stage.resume(&parked);
    assert_eq!(states(&ended), "p/gate done, p done, slow timed_out, note done");
    assert_eq!((done(&ended).state, stage.host.calls("gmail.list")), (RunState::Failed, 1));
    assert_eq!(ended.record().reason, None, "this drive was in time");
}

#[test]
fn a_call_that_changes_something_is_uncertain_and_may_be_under_way() {
    let (release, released) = unbounded::<()>();
    let mut stage = Stage::new().on("slack.post", move |_, _| {
        let _ = released.recv();
        Answer::Ok(json("1"))
    });
    stage.options.deadline = Some(Duration::from_secs(1));
    stage.options.grace = Duration::from_millis(10);
    let allow = "[[allow]]\nserver = \"slack\"\ntool = \"post\"\ndefinition = \"any\"\nreason = \"test\"\n";
    let plan = plan_with("then:\n  p: slack.post {}\n", &catalog(), &Policy::from_toml(allow).unwrap());
    let parked = stage.executor().run(&plan, start("{}")).unwrap();
    let row = only(&parked);
    assert_eq!((state(&parked, "p"), row.state), (Uncertain, RowState::Uncertain));
    assert_eq!(
        step(&parked, "p").error.as_deref(),
        Some("the deadline of this drive (1000 ms) passed, and the call was asked to stop")
    );
    // Its own timeout is a minute, and the grace comes after that.
    stage.clock.advance_ms(89_999);
    assert!(matches!(settle(&*stage.store, &row, false, None), Err(StoreError::InFlight { .. })));
    stage.clock.advance_ms(1);
    settle(&*stage.store, &row, false, None).unwrap();
    drop(release);
}
