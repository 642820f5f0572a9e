//! `need: k of n`: firing, failing, branches that work, late results.

use plangate_approval::StepState::*;
use plangate_executor::schedule::{Event, How};

use crate::chart::Chart;

#[test]
fn it_fires_when_all_have_ended_and_enough_are_ok() {
    let mut run = Chart::default()
        .read("a")
        .read("b")
        .read("c")
        .need("join", 2, &["a", "b", "c"])
        .write("s")
        .data("join", "s")
        .begin();
    run.done("a").done("b");
    assert_eq!(run.state("join"), Waiting, "c still works");
    run.fail("c");
    assert_eq!((run.state("join"), run.state("s")), (Done, Running));
    run.done("s");
    assert!(run.schedule.over() && run.late.is_empty());
}

#[test]
fn it_fails_as_soon_as_enough_is_out_of_reach() {
    let mut run = Chart::default()
        .read("a")
        .read("b")
        .read("c")
        .need("join", 2, &["a", "b", "c"])
        .write("s")
        .data("join", "s")
        .begin();
    run.fail("a");
    assert_eq!(run.state("join"), Waiting);
    run.how("b", How::TimedOut);
    assert_eq!((run.state("join"), run.state("c")), (Failed, Running));
    assert_eq!((run.state("s"), run.cause("s")), (Blocked, Some(("join", Failed))));
    run.done("c");
    assert!(run.schedule.over());
}

/// `late` counts a join that fires at the same moment: it can have enough with it, so it works.
#[test]
fn a_join_that_has_just_fired_counts_for_the_others() {
    let mut run = Chart::default()
        .read("a")
        .all("after")
        .data("a", "after")
        .read("b")
        .need("now", 1, &["after"])
        .need("late", 2, &["b", "now"])
        .need("last", 1, &["a", "late"])
        .begin();
    run.done("a");
    assert_eq!((run.state("now"), run.state("late"), run.state("last")), (Done, Waiting, Waiting));
    run.done("b");
    assert_eq!((run.state("late"), run.state("last")), (Done, Done));
}

#[test]
fn a_skipped_branch_is_not_ok() {
    let mut run = Chart::default()
        .check("if")
        .read("a")
        .read("b")
        .guard("if", "a")
        .need("join", 2, &["a", "b"])
        .begin();
    run.how("if", How::Answered(false));
    assert_eq!(run.state("join"), Failed);
}

#[test]
fn a_quick_skip_decides_nothing_for_a_slow_branch() {
    let chart = |k| {
        Chart::default()
            .check("if")
            .read("quick")
            .read("slow")
            .guard("if", "quick")
            .need("join", k, &["quick", "slow"])
            .write("s")
            .data("join", "s")
    };
    let mut run = chart(1).begin();
    run.how("if", How::Answered(false));
    assert_eq!((run.state("quick"), run.state("join"), run.state("s")), (Skipped, Waiting, Waiting));
    run.done("slow");
    assert_eq!((run.state("join"), run.state("s")), (Done, Running));
    let mut run = chart(1).begin();
    run.how("if", How::Answered(false)).fail("slow");
    assert_eq!((run.state("join"), run.cause("s")), (Failed, Some(("join", Failed))));
    // Out of reach at once, and failed rather than skipped: a run with it does not end as if all were well.
    let mut run = chart(2).begin();
    run.how("if", How::Answered(false));
    assert_eq!((run.state("join"), run.cause("s")), (Failed, Some(("join", Failed))));
}

#[test]
fn it_does_not_wait_for_people_once_it_has_enough() {
    let mut run = Chart::default()
        .gated("p/gate", "p")
        .read("q")
        .read("r")
        .data("p", "r")
        .need("join", 1, &["q", "r"])
        .write("s")
        .data("join", "s")
        .begin();
    run.pend("p/gate");
    assert_eq!(run.state("join"), Waiting, "not enough yet");
    run.done("q");
    assert_eq!((run.state("join"), run.state("s")), (Done, Running));
    run.done("s").yes("p/gate").done("p").done("r");
    assert_eq!(run.late, [("join", "r")]);
    assert!(run.schedule.over());
}

#[test]
fn a_branch_that_becomes_pending_lets_it_fire() {
    let mut run = Chart::default()
        .read("a")
        .read("x")
        .gated("p/gate", "p")
        .data("x", "p/gate")
        .need("join", 1, &["a", "p"])
        .begin();
    run.done("a");
    assert_eq!(run.state("join"), Waiting, "x works towards p");
    run.done("x");
    assert_eq!(run.state("join"), Waiting, "the gate is about to be put");
    run.pend("p/gate");
    assert_eq!(run.state("join"), Done);
}

#[test]
fn an_approved_branch_works_again() {
    let mut run = Chart::default()
        .gated("p/gate", "p")
        .read("slow")
        .read("a")
        .need("join", 1, &["p", "slow", "a"])
        .begin();
    run.pend("p/gate").done("a");
    assert_eq!(run.state("join"), Waiting, "slow works");
    run.yes("p/gate").done("slow");
    assert_eq!(run.state("join"), Waiting, "p was approved and runs");
    run.unknown("p");
    assert_eq!(run.state("join"), Done, "p is uncertain");
    run.how("p", How::Done { value: true });
    assert_eq!(run.late, [("join", "p")]);
}

#[test]
fn it_waits_for_people_while_it_has_not_enough() {
    let mut run = Chart::default().gated("p/gate", "p").read("a").need("join", 2, &["p", "a"]).begin();
    run.pend("p/gate").done("a");
    assert_eq!(run.state("join"), Waiting);
    assert!(run.schedule.parked());
    run.yes("p/gate").done("p");
    assert_eq!(run.state("join"), Done);
}

#[test]
fn a_settled_call_without_a_value_is_not_ok() {
    let mut run = Chart::default().through("p").read("a").need("join", 2, &["p", "a"]).begin();
    run.done("a").unknown("p").how("p", How::Done { value: false });
    assert_eq!(run.state("join"), Failed);
}

#[test]
fn a_late_branch_counts_for_the_next_join() {
    let mut run = Chart::default()
        .read("a")
        .read("b")
        .gated("c/gate", "c")
        .need("j1", 2, &["a", "b", "c"])
        .write("brief")
        .data("j1", "brief")
        .need("j2", 1, &["brief", "c"])
        .write("s")
        .data("j2", "s")
        .begin();
    run.pend("c/gate").done("a").done("b");
    assert_eq!((run.state("j1"), run.state("brief"), run.state("j2")), (Done, Running, Waiting));
    run.yes("c/gate").done("c");
    assert_eq!(run.late, [("j1", "c")]);
    assert_eq!(run.state("j2"), Waiting, "brief works");
    run.fail("brief");
    assert_eq!((run.state("j2"), run.state("s")), (Done, Running));
}

#[test]
fn a_branch_behind_a_join_that_can_have_enough_without_people_works() {
    let mut run = Chart::default()
        .gated("c/gate", "c")
        .read("a")
        .need("inner", 1, &["a", "c"])
        .write("brief")
        .data("inner", "brief")
        .read("x")
        .need("outer", 1, &["brief", "x"])
        .begin();
    run.pend("c/gate").done("x");
    assert_eq!(run.state("outer"), Waiting, "inner can have a, then brief ends without a person");
    run.fail("a");
    assert_eq!(run.state("outer"), Done, "now inner needs c, which waits for a person");
    assert_eq!(run.state("inner"), Waiting);
}

#[test]
fn a_join_of_effects_lets_a_later_effect_wait_for_the_end_only() {
    // c is counted by the join and keeps its own edge to post, which asks that it has ended.
    let chart = || {
        Chart::default()
            .read("a")
            .read("b")
            .gated("c/gate", "c")
            .need("join", 2, &["a", "b", "c"])
            .write("note")
            .data("join", "note")
            .gated("post/gate", "post")
            .data("note", "post/gate")
            .ended("c", "post/gate")
    };
    let mut run = chart().begin();
    run.pend("c/gate").done("a").done("b").done("note");
    assert_eq!(run.state("post/gate"), Waiting);
    assert!(run.schedule.parked());
    run.no("c/gate");
    assert_eq!(run.state("post/gate"), Ready);
}

#[test]
fn held_calls_do_not_count_as_working() {
    let limits = plangate_executor::schedule::Limits { hold_siblings: true, ..Default::default() };
    let mut run = Chart::default()
        .gated("p/gate", "p")
        .read("x")
        .read("a")
        .through("e")
        .data("x", "e")
        .need("join", 1, &["a", "e"])
        .begin_with(&limits);
    run.pend("p/gate").done("a");
    assert_eq!(run.state("join"), Waiting, "x works");
    run.done("x");
    assert_eq!((run.state("e"), run.state("join")), (Ready, Done));
}

#[test]
fn going_on_from_the_store_is_going_on() {
    let mut run = Chart::default()
        .gated("p/gate", "p")
        .read("q")
        .read("r")
        .data("p", "r")
        .need("join", 1, &["q", "r"])
        .write("s")
        .data("join", "s")
        .begin();
    run.pend("p/gate").done("q");
    let mut again = run.resumed();
    let names: Vec<_> = again.advance();
    assert_eq!(
        names,
        [plangate_executor::schedule::Act::Write(run.at("s"))],
        "join is done, s starts, nothing else"
    );
    again.on(Event::Yes(run.at("p/gate"))).unwrap();
    assert_eq!(again.advance(), [plangate_executor::schedule::Act::Call(run.at("p"))]);
}
