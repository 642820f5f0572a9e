//! Large plans: edges stay linear, nothing recurses.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::format_collect,
    clippy::print_stdout,
    reason = "a test may fail, and says what it measured"
)]

mod outline;

use std::time::Instant;

use outline::{Sketch, catalog, sketch};
use plangate_graph::Plan;
use plangate_graph::lower::lower;
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

/// How long a stage took, in seconds; the least of three tries, since others may use the machine.
#[expect(clippy::disallowed_methods, reason = "a test measures; the crate does not")]
fn seconds<T>(mut stage: impl FnMut() -> T) -> (f64, T) {
    let mut tries = (0..3).map(|_| {
        let begun = Instant::now();
        let made = stage();
        (begun.elapsed().as_secs_f64(), made)
    });
    let first = tries.next().unwrap();
    tries.fold(first, |least, next| if next.0 < least.0 { next } else { least })
}

/// Each stage on its own, for 100,000 calls where the code is optimised.
fn stages(sketch: Sketch) -> f64 {
    let (catalog, policy) = (catalog(), Policy::default());
    let outline = sketch.outline();
    let n = outline.items.len();
    let (lowering, plan) = seconds(|| lower(outline.clone(), &catalog, &policy, Author::Person).0.unwrap());
    let (writing, text) = seconds(|| plan.to_json());
    let (reading, read) = seconds(|| Plan::from_json(&text).unwrap());
    let (verifying, _) = seconds(|| read.clone().verify(&catalog, &policy, Author::Person).unwrap());
    let whole = lowering + writing + reading + verifying;
    println!(
        "{n} calls, {} MB: lowered in {lowering:.2} s, written in {writing:.2} s, read in {reading:.2} s, verified in \
         {verifying:.2} s; {whole:.2} s in all, {:.1} us a call",
        text.len() / 1_000_000,
        whole * 1e6 / f64::from(u32::try_from(n).unwrap())
    );
    whole
}

#[test]
fn the_time_of_each_stage() {
    let reads = stages(calls(sketch().together(), "r", 2 * HALF, "gmail.list"));
    let writes = stages(calls(sketch().then(), "w", 2 * HALF, "fs.write_file"));
    let fan = calls(sketch().together(), "r", HALF, "gmail.list");
    let both = stages(calls(fan.together(), "w", HALF, "fs.write_file"));
    let few = stages(calls(sketch().then(), "w", HALF / 5, "fs.write_file"));
    // Ten times the calls take ten times as long, give or take what others do on the machine; not a hundred times.
    for whole in [reads, writes, both] {
        assert!(whole < 40.0 * few, "{whole} s, and {few} s for a tenth");
    }
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
