//! Large plans: edges stay linear, nothing recurses.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::format_collect,
    reason = "a test may fail"
)]

mod outline;

use outline::{Sketch, catalog, sketch};
use plangate_graph::Plan;
use plangate_graph::policy::{Author, Policy};

/// Half of a plan's steps: the full size where the code is optimised (`cargo test --release`), a fiftieth elsewhere.
const HALF: usize = if cfg!(debug_assertions) { 1_000 } else { 50_000 };

/// Lowers, writes, reads and verifies; returns nodes and edges.
fn whole(sketch: Sketch) -> (usize, usize) {
    let plan = sketch.plan();
    let size = (plan.len(), plan.edge_count());
    let read = Plan::from_json(&plan.to_json()).unwrap();
    let verified = read.verify(&catalog(), &Policy::default(), Author::Person).unwrap();
    assert_eq!(verified.plan().edge_count(), size.1);
    size
}

fn calls(mut sketch: Sketch, prefix: &str, n: usize, tool: &str) -> Sketch {
    for i in 0..n {
        sketch = sketch.call(&format!("{prefix}{i}"), tool, &[]);
    }
    sketch
}

#[test]
fn a_fan_of_reads_then_a_fan_of_writes() {
    let fan = calls(sketch().together(), "r", HALF, "gmail.list");
    let (nodes, edges) = whole(calls(fan.together(), "w", HALF, "fs.write_file"));
    assert_eq!(nodes, 3 * HALF + 1);
    assert_eq!(edges, 3 * HALF);
}

#[test]
fn a_chain_of_effects() {
    let (_, edges) = whole(calls(sketch().then(), "w", 2 * HALF, "fs.write_file"));
    assert_eq!(edges, 4 * HALF - 1);
}

#[test]
fn a_chain_of_reads() {
    let mut chain = sketch().then().call("r0", "gmail.list", &[]);
    for i in 1..2 * HALF {
        chain = chain.call(&format!("r{i}"), "gmail.list", &[&format!("r{}", i - 1)]);
    }
    let (nodes, edges) = whole(chain);
    assert_eq!((nodes, edges), (2 * HALF, 2 * HALF - 1));
}

#[test]
fn questions_between_reads_do_not_wait_for_all_of_them_one_by_one() {
    let mut made = sketch();
    for i in 0..3_000 {
        made = made.together().call(&format!("r{i}"), "gmail.list", &[]);
        made = made.ask_me().question("go on?");
    }
    let (nodes, edges) = whole(made);
    assert!(edges < 5 * nodes, "{edges} edges on {nodes} nodes");
}

#[test]
fn many_bare_questions_in_one_block_are_refused() {
    let mut made = sketch().ask_me();
    for i in 0..100 {
        made = made.question(&format!("question {i}?"));
    }
    let (plan, problems) = made.then().call("w", "fs.write_file", &[]).lower();
    assert!(plan.is_none());
    assert_eq!(problems[0].code, "V0214");
}

#[test]
fn needs_over_many_and_effects_below() {
    let mut made = calls(sketch().together(), "w", 2_000, "fs.write_file");
    let names: Vec<String> = (0..2_000).map(|i| format!("w{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    made = made.need(1_000, 2_000).say("brief", &names).then();
    for i in 0..2_000 {
        made = made.call(&format!("p{i}"), "slack.post", &["brief"]);
    }
    let (nodes, edges) = whole(made);
    assert!(edges < 4 * nodes, "{edges} edges on {nodes} nodes");
}
