//! The same plan and the same results give the same record, whoever finishes first and however many work at once.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

mod stage;

use std::collections::BTreeSet;

use plangate_approval::StepState;
use plangate_executor::{ReadError, Record};
use plangate_graph::Value;
use proptest::prelude::*;
use stage::Stage;

/// A recipe of steps that read earlier ones, some of which fail; with sentences behind a `need`, and checks.
fn recipe(choices: &[u8]) -> String {
    let mut choices = choices.iter().copied().cycle();
    let mut pick = |of: usize| usize::from(choices.next().unwrap_or(0)) % of.max(1);
    let mut text = String::new();
    let mut steps: Vec<String> = Vec::new();
    for block in 0..2 + pick(4) {
        let above = steps.len();
        match pick(4) {
            0 | 1 => {
                text.push_str(if pick(2) == 0 { "together:\n" } else { "then:\n" });
                for i in 0..1 + pick(4) {
                    let name = format!("s{block}x{i}");
                    let tool = ["read", "one", "two"][pick(3)];
                    let read = (above > 0 && pick(3) > 0).then(|| steps[pick(above)].clone());
                    let from = read.map_or_else(String::new, |read| format!(",\"from\":\"{{{read}}}\""));
                    text.push_str(&format!("  {name}: fs.{tool} {{\"n\":{}{from}}}\n", pick(7)));
                    steps.push(name);
                }
            }
            2 if above > 0 => {
                let of: BTreeSet<&str> = (0..1 + pick(3)).map(|_| steps[pick(above)].as_str()).collect();
                let names = of.iter().copied().collect::<Vec<_>>().join(", ");
                text.push_str(&format!("then:\n  need: {} of {}\n", 1 + pick(of.len()), of.len()));
                text.push_str(&format!("  w{block}: tell of {{{names}}}\n"));
                steps.push(format!("w{block}"));
            }
            _ if above > 0 => {
                let of = &steps[pick(above)];
                let test = ["is empty", "is not empty"][pick(2)];
                text.push_str(&format!(
                    "check:\n  - {{{of}}} {test}\n    c{block}: fs.read {{\"n\":{}}}\n",
                    pick(7)
                ));
                steps.push(format!("c{block}"));
            }
            _ => {
                text.push_str(&format!("then:\n  f{block}: fs.read {{}}\n"));
                steps.push(format!("f{block}"));
            }
        }
    }
    text
}

/// What a tool gives for its arguments and nothing else: some values are empty, and some calls fail.
fn answer(args: &Value) -> Result<Value, ReadError> {
    match args.member("n").map(Value::to_string).as_deref() {
        Some("3") => Err(ReadError::Failed("three".to_owned())),
        Some("5") => Ok(Value::Text(String::new())),
        _ => Ok(Value::Text(args.to_string())),
    }
}

fn run(recipe: &str, workers: Option<usize>) -> Record {
    let stage =
        ["fs.read", "fs.one", "fs.two"].iter().fold(Stage::new(), |stage, tool| stage.on(tool, answer));
    let stage = match workers {
        Some(workers) => stage.workers(workers),
        None => stage,
    };
    stage.run(recipe)
}

/// What does not depend on when things happened.
fn timeless(record: &Record) -> Vec<String> {
    record
        .steps
        .iter()
        .map(|step| {
            format!(
                "{} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
                step.id,
                step.state,
                step.attempts,
                step.arguments,
                step.result,
                step.answer,
                step.error,
                step.cause,
                step.list,
                step.late
            )
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_same_results_give_the_same_record(choices in prop::collection::vec(any::<u8>(), 8..60)) {
        let recipe = recipe(&choices);
        let first = run(&recipe, None);
        prop_assert!(first.steps.iter().all(|step| step.state.ended()), "{recipe}");
        for step in &first.steps {
            let ran = matches!(step.state, StepState::Done | StepState::Failed);
            prop_assert!(step.attempts <= 1 && (ran || step.attempts == 0), "{recipe}\n{step:?}");
        }
        for workers in [Some(1), Some(2), None] {
            let again = run(&recipe, workers);
            prop_assert_eq!(timeless(&first), timeless(&again), "{}", recipe);
            prop_assert_eq!(first.state, again.state);
        }
    }
}
