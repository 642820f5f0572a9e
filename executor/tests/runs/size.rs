//! Long and wide plans, through the compiler, the store and real threads.

use std::fmt::Write as _;
use std::time::Instant;

use plangate_approval::RunState;

use crate::stage::*;

fn run(recipe: &str) {
    let stage = Stage::new();
    let t = Instant::now();
    let plan = plan(recipe);
    eprintln!("plan {:?}", t.elapsed());
    let t = Instant::now();
    let ended = stage.executor().run(&plan, start("{}")).unwrap();
    eprintln!("run {:?} wall {}", t.elapsed(), ended.record().wall);
    assert_eq!(done(&ended).state, RunState::Done);
}

#[test]
fn a_chain_of_two_thousand() {
    let mut recipe = "then:\n  s0: fs.read_file {}\n".to_owned();
    for i in 1..2_000 {
        writeln!(recipe, "  s{i}: fs.read_file {{\"a\":\"{{s{}.from}}\"}}", i - 1).unwrap();
    }
    run(&recipe);
}

#[test]
fn a_fan_of_two_thousand() {
    let mut recipe = "together:\n".to_owned();
    for i in 0..2_000 {
        writeln!(recipe, "  s{i}: fs.read_file {{\"n\":{i}}}").unwrap();
    }
    run(&recipe);
}
