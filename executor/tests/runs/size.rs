//! Long and wide plans, through the compiler, the store and real threads.

use std::fmt::Write as _;

use plangate_approval::RunState;

use crate::stage::*;

const N: usize = 1_000;

#[test]
fn a_chain_of_a_thousand() {
    let mut recipe = "then:\n  s0: fs.read_file {}\n".to_owned();
    for i in 1..N {
        writeln!(recipe, "  s{i}: fs.read_file {{\"a\":\"{{s{}.from}}\"}}", i - 1).unwrap();
    }
    let stage = Stage::new();
    let ended = stage.run(&recipe);
    assert_eq!(done(&ended).state, RunState::Done);
    assert_eq!(stage.host.calls("fs.read_file"), N);
    assert_eq!(ended.record().critical_path.ms, ended.record().sum, "a chain is its own longest way");
}

#[test]
fn a_fan_of_a_thousand() {
    let mut recipe = "together:\n".to_owned();
    for i in 0..N {
        writeln!(recipe, "  s{i}: fs.read_file {{\"n\":{i}}}").unwrap();
    }
    let stage = Stage::new();
    let ended = stage.run(&recipe);
    assert_eq!(done(&ended).state, RunState::Done);
    assert_eq!(stage.host.calls("fs.read_file"), N);
}
