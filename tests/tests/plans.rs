//! What graphs of steps are known to go wrong at, told as recipes: through the compiler, and run on a counted clock or with
//! tools that answer from a function.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

mod stage;

use std::sync::Arc;

use plangate_approval::StepState;
use plangate_executor::schedule::Topology;
use plangate_executor::simulate::simulate;
use plangate_graph::Plan;
use stage::{Stage, catalog, codes, verified};

#[test]
fn fans_and_joins_over_nothing_are_errors() {
    for (recipe, code) in [
        ("together:\n", "R0106"),
        ("together:\nthen:\n  b: fs.read {}\n", "R0106"),
        ("together:\n  a: fs.read {}\ntogether:\ntogether:\nthen:\n  b: fs.read {\"x\":\"{a}\"}\n", "R0106"),
        ("together:\n  a: fs.read {}\nthen:\n  need: 1 of 1\n  b: fs.read {}\n", "R0155"),
        ("together:\n  a: fs.read {}\nthen:\n  need: 0 of 1\n  b: read {a}\n", "R0153"),
        ("together:\n  a: fs.read {}\nthen:\n  need: 2 of 1\n  b: read {a}\n", "R0153"),
        ("together:\n  a: fs.read {\"x\":\"{}\"}\nthen:\n  need: 1 of 2\n  b: read {a}\n", "R0154"),
    ] {
        let found = codes(recipe);
        assert!(found.contains(&code), "{recipe}\n{found:?}");
    }
}

#[test]
fn waiting_in_a_circle_cannot_be_typed() {
    for (recipe, code) in [
        ("then:\n  a: fs.read {\"x\":\"{a}\"}\n", "R0204"),
        ("then:\n  a: fs.read {\"x\":\"{b}\"}\n  b: fs.read {\"x\":\"{a}\"}\n", "R0203"),
        ("then:\n  a: fs.read {}\n    after: b\n  b: fs.read {}\n    after: a\n", "R0203"),
        ("together:\n  a: fs.read {}\n  b: fs.read {\"x\":\"{a}\"}\n", "R0205"),
    ] {
        let found = codes(recipe);
        assert!(found.contains(&code), "{recipe}\n{found:?}");
    }
}

#[test]
fn two_reads_in_one_text_are_both_filled_in_and_a_wrong_one_is_an_error() {
    let stage = Stage::new().on("fs.one", |_| Ok("1".into())).on("fs.two", |_| Ok("{b}".into()));
    let record = stage.run(
        "together:\n  a: fs.one {}\n  b: fs.two {}\nthen:\n  c: fs.read {\"sum\":\"{a}+{b}\",\"list\":[\"{a}\",\"x{b}y\"]}\n",
    );
    // What was filled in is not looked at again.
    let arguments = record.step("c").unwrap().arguments.clone().unwrap();
    assert_eq!(arguments.to_string(), r#"{"list":["1","x{b}y"],"sum":"1+{b}"}"#);
    let found = codes("together:\n  a: fs.read {}\nthen:\n  c: fs.read {\"sum\":\"{a}+{b}\"}\n");
    assert_eq!(found, ["R0201"]);
}

#[test]
fn a_read_is_the_edge() {
    let stage = Stage::new();
    let record = stage.run("then:\n  a: fs.read {}\n  b: fs.read {\"from\":\"{a.of}\"}\n");
    assert_eq!(record.step("b").unwrap().arguments.clone().unwrap().to_string(), r#"{"from":"fs.read"}"#);
    let plan = verified("then:\n  a: fs.read {}\n  b: fs.read {\"from\":\"{a.of}\"}\n");
    let plan = plan.plan();
    let edges = plan.incoming(plan.find("b").unwrap());
    assert_eq!(edges.len(), 1);
    assert_eq!(edges[0].0, plan.find("a").unwrap());
}

#[test]
fn what_a_step_did_not_give_fails_its_reader_by_name() {
    let record = Stage::new().run(
        "then:\n  a: fs.read {}\n  b: fs.read {\"x\":\"{a.missing[0]}\"}\n  c: fs.read {\"x\":\"{b}\"}\n",
    );
    assert_eq!(record.step("a").unwrap().state, StepState::Done);
    let b = record.step("b").unwrap();
    assert_eq!(b.state, StepState::Failed);
    let error = b.error.clone().unwrap();
    assert!(error.contains("a.missing[0]"), "{error}");
    let c = record.step("c").unwrap();
    assert_eq!((c.state, c.cause.as_ref().unwrap().node.as_str()), (StepState::Blocked, "b"));
}

#[test]
fn every_node_stands_after_what_it_waits_for() {
    let text = "together:\n  root: fs.read {}\ntogether:\n  t1: fs.read {\"x\":\"{root}\"}\n  t2: fs.write {\"x\":\"{root}\"}\nthen:\n  \
                top: fs.read {\"x\":[\"{t1}\",\"{t2}\"]}\nask me:\n  - go on with {top}?\n    w: fs.write {\"x\":\"{top}\"}\n    v: fs.drop {}\n";
    let plan = verified(text);
    let shape = Topology::of(&plan).unwrap();
    let place = |ix| shape.order().iter().position(|at| *at == ix).unwrap();
    for (ix, _) in plan.plan().nodes() {
        for (from, _) in plan.plan().incoming(ix) {
            assert!(from < ix && place(from) < place(ix));
        }
    }
}

/// Full size where the code is optimised; a tenth elsewhere.
const MANY: usize = if cfg!(debug_assertions) { 10_000 } else { 100_000 };

#[test]
fn long_chains_and_wide_fans_go_the_whole_way_on_a_small_stack() {
    let chain = |i: usize| match i {
        0 => "  s0: fs.read {}\n".to_owned(),
        i => format!("  s{i}: fs.read {{\"x\":\"{{s{}}}\"}}\n", i - 1),
    };
    let fan = |i: usize| format!("  s{i}: fs.read {{}}\n");
    let effects = |i: usize| format!("  s{i}: fs.write {{\"n\":{i}}}\n");
    let recipes = [
        ("then:\n", (0..MANY).map(chain).collect::<String>(), MANY as u64, true),
        ("together:\n", (0..MANY).map(fan).collect(), 1, true),
        ("then:\n", (0..MANY).map(effects).collect(), MANY as u64, false),
    ];
    let small = std::thread::Builder::new().stack_size(512 * 1024);
    let whole = move || {
        for (head, steps, takes, runs) in recipes {
            let plan = verified(&format!("{head}{steps}"));
            let read = Plan::from_json(&plan.plan().to_json()).unwrap();
            assert!(read.edge_count() <= 3 * read.len());
            let shape = Arc::new(Topology::of(&plan).unwrap());
            assert_eq!(simulate(&shape, |_| 1, None).unwrap().makespan, takes);
            assert_eq!(simulate(&shape, |_| 1, Some(1)).unwrap().makespan, MANY as u64);
            drop(plan);
            if runs {
                let record = Stage::new().run(&format!("{head}{steps}"));
                assert!(record.steps.iter().all(|step| step.state == StepState::Done));
            }
        }
        assert_eq!(catalog().servers().count(), 1);
    };
    small.spawn(whole).unwrap().join().unwrap();
}
