//! Each rule of waiting, failing, guarding and asking.

use plangate_approval::StepState::*;
use plangate_executor::schedule::{Event, How, Kind, Limits, Topology, Wire};
use plangate_graph::NodeIx;
use plangate_graph::plan::{Asks, Reason};

use crate::chart::Chart;

#[test]
fn a_failed_middle_node_blocks_what_follows_and_nothing_else() {
    let mut run = Chart::default()
        .read("a")
        .read("b")
        .read("d")
        .read("e")
        .read("c")
        .data("a", "b")
        .data("b", "d")
        .data("d", "e")
        .data("a", "c")
        .begin();
    assert_eq!(run.todo, ["a"]);
    run.done("a");
    assert_eq!(run.todo, ["b", "c"]);
    run.done("b").fail("d");
    assert_eq!((run.state("e"), run.cause("e")), (Blocked, Some(("d", Failed))));
    assert!(!run.schedule.over());
    run.done("c");
    assert!(run.schedule.over());
}

#[test]
fn a_block_names_the_root_and_not_the_neighbour() {
    let mut run = Chart::default()
        .read("a")
        .read("b")
        .gated("c/gate", "c")
        .read("d")
        .data("a", "b")
        .data("b", "c/gate")
        .data("c", "d")
        .begin();
    run.how("a", How::TimedOut);
    for name in ["b", "c/gate", "c", "d"] {
        assert_eq!((run.state(name), run.cause(name)), (Blocked, Some(("a", TimedOut))), "{name}");
    }
    assert!(run.todo.is_empty() && run.schedule.over());
}

#[test]
fn nobody_waits_for_an_unrelated_slow_step() {
    let mut run = Chart::default()
        .read("a")
        .read("b")
        .read("c")
        .read("d")
        .data("a", "b")
        .data("a", "c")
        .data("b", "d")
        .begin();
    run.done("a").done("b");
    assert_eq!(run.todo, ["c", "d"]);
}

#[test]
fn a_diamond_starts_its_ends_once() {
    let mut run = Chart::default()
        .read("top")
        .read("a")
        .read("b")
        .read("c")
        .data("top", "a")
        .data("top", "b")
        .data("a", "c")
        .data("b", "c")
        .begin();
    run.done("top").done("b").done("a").done("c");
    assert!(run.told.values().all(|n| *n == 1));
    assert!(run.schedule.over());
}

#[test]
fn two_edges_between_the_same_nodes_are_both_asked() {
    let mut run = Chart::default().through("a").through("b").effect("a", "b").data("a", "b").begin();
    run.fail("a");
    assert_eq!(run.state("b"), Blocked);
}

#[test]
fn effect_edges_are_content_with_a_skip_and_not_with_a_failure() {
    for (answer, log) in [(false, Running), (true, Waiting)] {
        let mut run = Chart::default()
            .check("if")
            .through("send")
            .through("log")
            .guard("if", "send")
            .effect("send", "log")
            .begin();
        run.how("if", How::Answered(answer));
        assert_eq!(run.state("log"), log);
        if answer {
            run.fail("send");
            assert_eq!((run.state("log"), run.cause("log")), (Blocked, Some(("send", Failed))));
        }
    }
}

#[test]
fn an_ended_edge_is_content_with_anything() {
    for end in [How::Done { value: true }, How::Failed, How::Expired, How::Rejected] {
        let mut run = Chart::default().through("a").through("b").ended("a", "b").begin();
        run.how("a", end);
        assert_eq!(run.state("b"), Running, "{end:?}");
    }
}

#[test]
fn a_skip_waits_for_everything_and_a_failure_among_it_wins() {
    let chart = || Chart::default().check("if").read("slow").read("s").guard("if", "s").data("slow", "s");
    let mut run = chart().begin();
    run.how("if", How::Answered(false));
    assert_eq!(run.state("s"), Waiting);
    run.done("slow");
    assert_eq!((run.state("s"), run.cause("s")), (Skipped, Some(("if", Done))));
    let mut run = chart().begin();
    run.how("if", How::Answered(false)).fail("slow");
    assert_eq!((run.state("s"), run.cause("s")), (Blocked, Some(("slow", Failed))));
    let mut run = chart().begin();
    run.fail("slow");
    assert_eq!(run.state("s"), Blocked);
}

#[test]
fn a_skip_passes_through_gates_and_guards_and_siblings() {
    let mut run = Chart::default()
        .check("if")
        .read("a")
        .gated("b/gate", "b")
        .check("inner")
        .read("c")
        .read("outside")
        .guard("if", "a")
        .guard("if", "b/gate")
        .data("a", "b/gate")
        .guard("if", "inner")
        .guard("inner", "c")
        .data("a", "outside")
        .begin();
    run.how("if", How::Answered(false));
    for name in ["a", "b/gate", "b", "inner", "c"] {
        assert_eq!((run.state(name), run.cause(name)), (Skipped, Some(("if", Done))), "{name}");
    }
    assert_eq!((run.state("outside"), run.cause("outside")), (Blocked, Some(("a", Skipped))));
    assert!(run.schedule.over());
}

#[test]
fn one_failed_and_one_skipped_block_at_once() {
    let mut run = Chart::default()
        .read("x")
        .check("if")
        .read("s")
        .read("y")
        .guard("if", "s")
        .data("x", "y")
        .data("s", "y")
        .begin();
    run.how("if", How::Answered(false));
    assert_eq!(run.state("y"), Waiting);
    run.fail("x");
    assert_eq!((run.state("y"), run.cause("y")), (Blocked, Some(("x", Failed))));
    assert!(run.schedule.over());
}

#[test]
fn only_direct_predecessors_are_judged() {
    let mut run = Chart::default()
        .check("if")
        .through("a")
        .through("b")
        .read("c")
        .guard("if", "a")
        .effect("a", "b")
        .data("b", "c")
        .begin();
    run.how("if", How::Answered(false)).done("b");
    assert_eq!((run.state("a"), run.state("c")), (Skipped, Running));
}

#[test]
fn a_failed_check_blocks_what_it_guards() {
    let mut run = Chart::default().check("if").read("s").guard("if", "s").begin();
    run.fail("if");
    assert_eq!((run.state("s"), run.cause("s")), (Blocked, Some(("if", Failed))));
}

#[test]
fn a_gate_is_asked_claimed_and_made() {
    let mut run =
        Chart::default().read("a").gated("p/gate", "p").read("z").data("a", "p/gate").data("p", "z").begin();
    assert_eq!(run.todo, ["a"]);
    run.done("a");
    assert_eq!((run.state("p/gate"), run.state("p")), (Ready, Waiting));
    run.pend("p/gate");
    assert!(run.schedule.parked());
    run.yes("p/gate");
    assert_eq!(run.todo, ["p"]);
    run.done("p").done("z");
    assert!(run.schedule.over() && !run.schedule.parked());
}

#[test]
fn a_no_rejects_the_call_and_blocks_later_effects() {
    let mut run = Chart::default().gated("p/gate", "p").gated("q/gate", "q").effect("p", "q/gate").begin();
    run.pend("p/gate").no("p/gate");
    assert_eq!((run.state("p"), run.cause("p")), (Rejected, Some(("p/gate", Rejected))));
    assert_eq!((run.state("q/gate"), run.cause("q/gate")), (Blocked, Some(("p", Rejected))));
    assert!(run.schedule.over());
}

#[test]
fn an_expired_gate_expires_its_call() {
    let mut run = Chart::default().gated("p/gate", "p").begin();
    run.pend("p/gate");
    let gate = run.at("p/gate");
    run.on(Event::Expired(gate));
    assert_eq!(
        (run.state("p/gate"), run.state("p"), run.cause("p")),
        (Expired, Expired, Some(("p/gate", Expired)))
    );
}

#[test]
fn a_no_at_a_question_rejects_all_it_guards() {
    let mut run = Chart::default()
        .ask("q")
        .read("a")
        .gated("p/gate", "p")
        .ask("q2")
        .read("b")
        .check("if")
        .read("c")
        .read("after")
        .guard("q", "a")
        .guard("q", "p/gate")
        .data("a", "p/gate")
        .guard("q", "q2")
        .guard("q2", "b")
        .guard("q", "if")
        .guard("if", "c")
        .data("a", "after")
        .begin();
    run.pend("q");
    assert!(run.schedule.parked());
    run.no("q");
    for name in ["a", "p/gate", "p", "q2", "b", "if", "c"] {
        assert_eq!((run.state(name), run.cause(name)), (Rejected, Some(("q", Rejected))), "{name}");
    }
    assert_eq!(run.state("after"), Blocked);
}

#[test]
fn a_yes_at_a_question_still_asks_each_gate() {
    let mut run = Chart::default()
        .ask("q")
        .gated("p/gate", "p")
        .gated("r/gate", "r")
        .guard("q", "p/gate")
        .guard("q", "r/gate")
        .begin();
    run.pend("q").yes("q");
    assert_eq!(run.todo, ["p/gate", "r/gate"]);
    run.pend("p/gate").pend("r/gate").yes("r/gate").done("r").no("p/gate");
    assert_eq!((run.state("p"), run.state("r")), (Rejected, Done));
    assert!(run.told.values().all(|n| *n == 1));
}

#[test]
fn what_cannot_be_asked_fails_the_reader() {
    let mut run =
        Chart::default().read("a").gated("p/gate", "p").read("z").data("a", "p/gate").data("p", "z").begin();
    run.done("a");
    let gate = run.at("p/gate");
    run.on(Event::Unaskable(gate));
    assert_eq!((run.state("a"), run.state("p"), run.state("p/gate")), (Done, Failed, Failed));
    assert_eq!(run.cause("z"), Some(("p", Failed)));
}

#[test]
fn uncertain_waits_and_is_settled_either_way() {
    let chart = || {
        Chart::default()
            .gated("a/gate", "a")
            .gated("b/gate", "b")
            .read("r")
            .effect("a", "b/gate")
            .data("a", "r")
    };
    let mut run = chart().begin();
    run.pend("a/gate").yes("a/gate").unknown("a");
    assert!(run.schedule.parked());
    assert_eq!(run.state("b/gate"), Waiting);
    let mut settled = chart().begin();
    settled.pend("a/gate").yes("a/gate").unknown("a").how("a", How::Done { value: false });
    assert_eq!(settled.state("b/gate"), Ready);
    assert_eq!((settled.state("r"), settled.cause("r")), (Blocked, Some(("a", Done))));
    let a = run.at("a");
    run.on(Event::Again(a));
    assert_eq!((run.state("a/gate"), run.state("a"), run.told["a/gate"]), (Ready, Waiting, 2));
    run.pend("a/gate").yes("a/gate").done("a");
    assert_eq!((run.state("r"), run.told["a"]), (Running, 2));
}

#[test]
fn asked_again_and_refused() {
    let mut run = Chart::default().gated("a/gate", "a").begin();
    run.pend("a/gate").yes("a/gate").unknown("a");
    let a = run.at("a");
    run.on(Event::Again(a)).pend("a/gate").no("a/gate");
    assert_eq!(run.state("a"), Rejected);
    assert!(run.schedule.over());
}

#[test]
fn a_call_that_must_be_asked_after_all_waits_for_its_row() {
    let mut run = Chart::default().through("a").read("b").data("a", "b").begin();
    run.pend("a");
    assert!(run.schedule.parked());
    run.yes("a");
    assert_eq!(run.todo, ["a"]);
    run.done("a").done("b");
    assert!(run.schedule.over());
    let mut run = Chart::default().through("a").read("b").data("a", "b").begin();
    run.pend("a").no("a");
    assert_eq!((run.state("a"), run.state("b")), (Rejected, Blocked));
}

#[test]
fn an_all_join_passes_or_is_blocked_by_name() {
    let chart = || {
        Chart::default()
            .through("a")
            .through("b")
            .all("join")
            .through("c")
            .effect("a", "join")
            .effect("b", "join")
            .effect("join", "c")
    };
    let mut run = chart().begin();
    run.done("a");
    assert_eq!(run.state("join"), Waiting);
    run.done("b");
    assert_eq!((run.state("join"), run.state("c")), (Done, Running));
    let mut run = chart().begin();
    run.fail("b");
    assert_eq!((run.state("join"), run.state("c"), run.cause("c")), (Blocked, Blocked, Some(("b", Failed))));
}

#[test]
fn cancel_ends_what_has_not_started_and_waits_for_what_has() {
    let mut run =
        Chart::default().read("a").read("b").gated("p/gate", "p").through("e").data("a", "b").begin();
    run.pend("p/gate").on(Event::Cancel);
    assert_eq!((run.state("b"), run.state("p/gate"), run.state("p")), (Cancelled, Cancelled, Cancelled));
    assert!(!run.schedule.over());
    run.how("a", How::Cancelled).unknown("e");
    assert!(run.schedule.over() && !run.schedule.parked());
    assert_eq!(run.state("e"), Uncertain);
}

#[test]
fn when_the_time_is_up_nothing_more_starts_and_people_are_still_waited_for() {
    let mut run = Chart::default()
        .read("a")
        .read("c")
        .read("b")
        .gated("p/gate", "p")
        .read("q")
        .data("a", "b")
        .data("p", "q")
        .begin_with(&Limits { workers: Some(1), ..Limits::default() });
    run.pend("p/gate").on(Event::TimeUp);
    assert_eq!((run.state("a"), run.state("c"), run.state("b")), (Running, TimedOut, Waiting));
    assert_eq!((run.state("p/gate"), run.state("p")), (Pending, Waiting));
    run.how("a", How::TimedOut);
    assert_eq!((run.state("b"), run.cause("b")), (Blocked, Some(("a", TimedOut))));
    assert!(run.schedule.parked() && run.schedule.time_up());
    // A yes that comes now is too late for this drive.
    run.yes("p/gate");
    assert_eq!((run.state("p"), run.state("q"), run.cause("q")), (TimedOut, Blocked, Some(("p", TimedOut))));
    assert!(run.schedule.over());
}

#[test]
fn a_call_that_is_held_waits_for_people_whatever_the_time() {
    let mut run = Chart::default()
        .gated("p/gate", "p")
        .gated("q/gate", "q")
        .begin_with(&Limits { hold_siblings: true, ..Limits::default() });
    run.pend("p/gate").pend("q/gate").yes("p/gate").on(Event::TimeUp);
    assert_eq!((run.state("p"), run.state("q/gate")), (Ready, Pending));
    assert!(run.schedule.parked());
    run.no("q/gate");
    assert_eq!((run.state("p"), run.state("q")), (TimedOut, Rejected));
    assert!(run.schedule.over() && !run.told.contains_key("p"));
}

#[test]
fn what_would_be_put_after_the_time_is_up_is_not() {
    let mut run = Chart::default().read("a").gated("p/gate", "p").data("a", "p/gate").begin();
    run.on(Event::TimeUp);
    run.done("a");
    assert_eq!((run.state("p/gate"), run.state("p")), (TimedOut, TimedOut));
    assert_eq!(run.cause("p"), Some(("p/gate", TimedOut)));
}

#[test]
fn caps_hold_per_server_and_per_run() {
    let fan = || {
        let kinds = (0..10).map(|i| Kind::Read { server: i % 2 }).collect();
        std::sync::Arc::new(Topology::new(kinds, &[]).unwrap())
    };
    let started = |limits: &Limits| {
        let mut schedule = plangate_executor::schedule::Schedule::new(&fan(), limits);
        schedule.advance().len()
    };
    assert_eq!(started(&Limits::default()), 10);
    assert_eq!(started(&Limits { caps: vec![(1, 2)], ..Limits::default() }), 7);
    assert_eq!(started(&Limits { caps: vec![(1, 2)], workers: Some(4), ..Limits::default() }), 4);
    assert_eq!(started(&Limits { caps: vec![(0, 1), (1, 1)], ..Limits::default() }), 2);
}

#[test]
fn the_longest_path_goes_first_and_ties_are_in_typed_order() {
    let mut run = Chart::default()
        .read("short")
        .read("also")
        .read("long")
        .read("l2")
        .read("l3")
        .data("long", "l2")
        .data("l2", "l3")
        .begin_with(&Limits { workers: Some(1), ..Limits::default() });
    let mut order = Vec::new();
    while let [next] = *run.todo.as_slice() {
        order.push(next);
        run.done(next);
    }
    assert_eq!(order, ["long", "l2", "short", "also", "l3"]);
}

#[test]
fn hold_siblings_claims_nothing_while_a_row_is_pending() {
    let mut run = Chart::default().gated("p/gate", "p").through("e").read("r").begin_with(&Limits {
        hold_siblings: true,
        workers: Some(1),
        ..Limits::default()
    });
    // One worker: the call came first, before anything was pending.
    run.pend("p/gate");
    assert_eq!(run.todo, ["e"]);
    run.done("e").done("r");
    assert!(run.schedule.parked());
    let mut run = Chart::default()
        .gated("p/gate", "p")
        .read("r")
        .through("e")
        .data("r", "e")
        .begin_with(&Limits { hold_siblings: true, ..Limits::default() });
    run.pend("p/gate").done("r");
    assert_eq!(run.state("e"), Ready);
    assert!(run.schedule.parked());
    run.no("p/gate");
    assert_eq!(run.state("e"), Running);
}

#[test]
fn events_that_do_not_fit_change_nothing() {
    let mut run = Chart::default().read("a").gated("p/gate", "p").check("if").begin();
    let (a, gate, call, check) = (run.at("a"), run.at("p/gate"), run.at("p"), run.at("if"));
    for event in [
        Event::Asked(a),
        Event::Yes(a),
        Event::No(gate),
        Event::Ended(gate, How::Done { value: true }),
        Event::Ended(call, How::Done { value: true }),
        Event::Ended(a, How::Done { value: false }),
        Event::Ended(a, How::Expired),
        Event::Ended(check, How::Done { value: true }),
        Event::Unknown(call),
        Event::Again(call),
        Event::Expired(gate),
        Event::Unaskable(a),
    ] {
        assert_eq!(run.schedule.on(event).unwrap_err().event, event);
    }
    run.done("a");
    assert!(run.schedule.on(Event::Ended(a, How::Failed)).is_err());
    assert_eq!(run.state("a"), Done);
}

#[test]
fn cycles_and_edges_to_nowhere_are_refused() {
    let wire = |from, to| Wire { from: NodeIx(from), to: NodeIx(to), asks: Asks::Done, reason: Reason::Data };
    let two = || vec![Kind::Write, Kind::Write];
    assert!(Topology::new(two(), &[wire(0, 1), wire(1, 0)]).is_err());
    assert!(Topology::new(two(), &[wire(0, 0)]).is_err());
    assert!(Topology::new(two(), &[wire(0, 2)]).is_err());
    assert!(Topology::new(two(), &[wire(1, 0)]).is_ok());
}
