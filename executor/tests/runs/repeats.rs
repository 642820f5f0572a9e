//! The very same call, refused because it was made a short while before.

use plangate_approval::StepState::*;
use plangate_approval::storage::Storage;
use plangate_approval::{RowState, RunState};
use plangate_executor::Ended;
use plangate_graph::card::Card;
use plangate_graph::{Policy, VerifiedPlan};

use crate::stage::*;

const ONCE_A_DAY: &str = "[[repeat]]\nserver = \"slack\"\ntool = \"*\"\nwithin = \"24h\"\n";
const THROUGH: &str =
    "[[allow]]\nserver = \"slack\"\ntool = \"post\"\ndefinition = \"any\"\nreason = \"small\"\n";

fn recipe(value: &str) -> String {
    format!("then:\n  read: cal.list {{}}\n  post: slack.post {{\"n\":\"{{read}}\",\"to\":{value}}}\n")
}

fn plan_of(recipe: &str, policy: &str) -> VerifiedPlan {
    plan_with(recipe, &catalog(), &Policy::from_toml(policy).unwrap_or_else(|e| panic!("{e}")))
}

fn run(stage: &Stage, plan: &VerifiedPlan) -> Ended {
    stage.executor().run(plan, start("{}")).unwrap()
}

/// Why the call was not made, which the record keeps.
fn why(ended: &Ended, id: &str) -> String {
    step(ended, id).error.clone().unwrap_or_else(|| panic!("{:#?}", ended.record()))
}

#[test]
fn nobody_is_asked_about_a_repeat() {
    let stage = Stage::new().answers("cal.list", "7");
    let plan = plan_of(&recipe("1"), ONCE_A_DAY);
    assert!(
        Card::of(&plan, None).to_text().contains("refused if the very same call was made within 1d before"),
        "{}",
        Card::of(&plan, None).to_text()
    );
    let parked = run(&stage, &plan);
    stage.approve(&only(&parked));
    let first = stage.resume(&parked);
    assert_eq!(done(&first).state, RunState::Done);

    // Known when asked, the arguments are the same: the step fails at its gate.
    let second = run(&stage, &plan);
    assert_eq!(done(&second).state, RunState::Failed);
    assert_eq!((state(&second, "read"), state(&second, "post/gate")), (Done, Failed));
    let words = why(&second, "post/gate");
    assert!(words.contains(&first.record().run.0) && words.contains("[[repeat]]"), "{words}");
    assert_eq!(stage.store.rows(Some(&second.record().run)).unwrap(), [], "nobody was asked");
    assert_eq!(stage.host.calls("slack.post"), 1);
    // Another call is asked.
    assert_eq!(only(&run(&stage, &plan_of(&recipe("2"), ONCE_A_DAY))).state, RowState::Pending);
    // Without the rule the same is asked, and after a day.
    assert_eq!(only(&run(&stage, &plan_of(&recipe("1"), ""))).state, RowState::Pending);
    stage.clock.advance_ms(86_400_000);
    assert_eq!(only(&run(&stage, &plan)).state, RowState::Pending);
}

#[test]
fn of_two_runs_that_wait_one_calls() {
    let stage = Stage::new().answers("cal.list", "7");
    let plan = plan_of(&recipe("1"), ONCE_A_DAY);
    let (one, two) = (run(&stage, &plan), run(&stage, &plan));
    let row = only(&two);
    stage.approve(&only(&one));
    stage.approve(&row);
    assert_eq!(done(&stage.resume(&one)).state, RunState::Done);
    let refused = stage.resume(&two);
    assert_eq!((done(&refused).state, state(&refused, "post")), (RunState::Failed, Failed));
    let words = why(&refused, "post");
    assert!(words.contains("not sent") && words.contains(&one.record().run.0), "{words}");
    assert_eq!(stage.host.calls("slack.post"), 1);
    assert_eq!(stage.store_row(&row).state, RowState::Cancelled, "its run has ended");
}

#[test]
fn what_a_rule_lets_through_is_made_once() {
    let stage = Stage::new().answers("cal.list", "7");
    let plan = plan_of(&recipe("1"), &format!("{ONCE_A_DAY}{THROUGH}"));
    assert_eq!(done(&run(&stage, &plan)).state, RunState::Done);
    let second = run(&stage, &plan);
    assert_eq!((done(&second).state, state(&second, "post")), (RunState::Failed, Failed));
    assert!(why(&second, "post").contains("the very same call was made"), "{}", why(&second, "post"));
    assert_eq!(stage.host.calls("slack.post"), 1);
}

/// Two steps of one run that come to the same call only once their arguments are known.
#[test]
fn two_steps_of_a_run_are_repeats_of_each_other() {
    let stage = Stage::new().answers("cal.list", "7");
    let recipe = "then:\n  x: cal.list {}\n  a: slack.post {\"n\":\"{x}\"}\n  b: slack.post {\"n\":7}\n";
    let plan = plan_of(recipe, &format!("{ONCE_A_DAY}{THROUGH}"));
    let ended = run(&stage, &plan);
    assert_eq!((state(&ended, "a"), state(&ended, "b")), (Done, Failed));
    assert_eq!(stage.host.calls("slack.post"), 1);
}
