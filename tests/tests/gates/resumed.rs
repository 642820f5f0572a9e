//! The plan in the store was edited while a run waits.

use plangate_approval::{Approvals, RowState};
use plangate_executor::Ended;
use plangate_graph::{Author, Policy};

use super::edited::Edited;
use super::file::{File, J};
use super::mutations::{MUTATIONS, Pick};
use super::stage::{Stage, catalog, only, only_reads, plan, sent, states, verified, waiting};
use super::tampering::RECIPES;

/// Runs a recipe to its first rows and says yes to `yes` of them.
fn parked(recipe: &str, yes: usize) -> (Stage<Edited>, Ended) {
    let stage = Stage::over(Edited::new());
    let parked = stage.run(&verified(recipe, &Policy::default()));
    for row in waiting(&parked).iter().take(yes) {
        stage.vote(row, true).unwrap();
    }
    (stage, parked)
}

#[test]
fn whatever_was_edited_sends_what_was_approved_or_nothing() {
    let catalog = catalog();
    let (mut went_on, mut refused) = (0, 0);
    for recipe in RECIPES {
        let original = plan(recipe, &Policy::default(), Author::Person).to_json();
        for (at, (name, mutate)) in MUTATIONS.iter().enumerate() {
            for n in 0..3 {
                let mut file = File::read(&original);
                mutate(&mut file, Pick(n * 2 + at, n + at, n), &catalog);
                let text = file.sealed(&catalog);
                if text == original {
                    continue;
                }
                let (stage, ended) = parked(recipe, 1);
                let approved = Approvals::new(stage.store.clone());
                let approved = plangate_approval::Storage::rows(approved.store(), None).unwrap();
                let approved: Vec<_> = approved
                    .iter()
                    .filter(|row| row.state == RowState::Approved)
                    .filter_map(|row| row.call.as_ref())
                    .map(|call| {
                        sent(&format!("{}.{}", call.server, call.tool), &String::from_utf8_lossy(&call.args))
                    })
                    .collect();
                *stage.store.plan.lock().unwrap() = Some(text);
                match stage.executor().resume(&ended.record().run, None) {
                    Ok(Ended::Attention { reason, .. }) => {
                        assert!(!reason.is_empty(), "{name}");
                        assert!(stage.tools.effects().is_empty(), "{name}");
                        refused += 1;
                    }
                    Ok(_) | Err(_) => went_on += 1,
                }
                stage.tools.assert_reads_only(name);
                for call in stage.tools.effects().into_iter().filter(|call| !only_reads(call)) {
                    assert!(
                        approved.contains(&call),
                        "{name}: {call:?} went out, and {approved:?} was approved"
                    );
                }
            }
        }
    }
    assert!(refused > 100 && went_on > 10, "{refused} refused, {went_on} went on");
}

#[test]
fn a_document_under_an_old_digest_is_not_believed() {
    let mut store = Edited::new();
    store.keeps_digest = true;
    let stage = Stage::over(store);
    let ended = stage.run(&verified("then:\n  a: slack.post {\"text\":\"x\"}\n", &Policy::default()));
    stage.vote(&only(&ended), true).unwrap();
    // A plan that would pass by itself.
    let other = plan("then:\n  a: gmail.list {}\n", &Policy::default(), Author::Person).to_json();
    *stage.store.plan.lock().unwrap() = Some(other);
    let Ended::Attention { reason, .. } = stage.resume(&ended, None) else { panic!("it went on") };
    assert!(reason.contains("the stored plan is not the one that the run started with"), "{reason}");
    assert!(stage.tools.read.lock().unwrap().is_empty() && stage.tools.effects().is_empty());
}

#[test]
fn a_yes_for_one_call_is_none_for_another() {
    // The steps have changed their names, and the plan is sound in itself.
    let calls =
        [r#"slack.post {"text":"x"}"#, r#"slack.create_channel {"name":"x"}"#, r#"gmail.send {"to":"a@b"}"#];
    let recipe = |at: [usize; 3]| {
        format!("together:\n  a: {}\n  b: {}\n  c: {}\n", calls[at[0]], calls[at[1]], calls[at[2]])
    };
    for (at, failed) in [([1, 0, 2], ["a", "b"]), ([2, 1, 0], ["a", "c"]), ([0, 2, 1], ["b", "c"])] {
        let (stage, ended) = parked(&recipe([0, 1, 2]), 3);
        let other = plan(&recipe(at), &Policy::default(), Author::Person).to_json();
        *stage.store.plan.lock().unwrap() = Some(other);
        let ended = stage.resume(&ended, None);
        for id in failed {
            let error = ended.record().step(id).unwrap().error.clone().unwrap();
            assert!(
                error.starts_with("what was approved is") && error.contains("nothing was sent"),
                "{error}"
            );
        }
        // The one that stayed what it was is made, once and as it was approved.
        assert_eq!(stage.tools.effects().len(), 1, "{}", states(&ended));
    }
}

#[test]
fn other_arguments_in_the_plan_change_nothing_of_what_was_approved() {
    let (stage, ended) = parked("then:\n  a: slack.post {\"text\":\"hello\"}\n", 1);
    let mut file = File::read(
        &plan("then:\n  a: slack.post {\"text\":\"hello\"}\n", &Policy::default(), Author::Person).to_json(),
    );
    file.node(1).1.set("args", J::parse(r#"{"lit":{"text":"goodbye"}}"#), "");
    *stage.store.plan.lock().unwrap() = Some(file.sealed(&catalog()));
    let ended = stage.resume(&ended, None);
    assert_eq!(states(&ended), "a/gate done, a done");
    assert_eq!(stage.tools.effects(), [sent("slack.post", r#"{"text":"hello"}"#)]);
}

#[test]
fn a_question_answered_yes_is_no_gate_of_a_call() {
    let recipe = "ask me:\n  - both?\n    a: slack.post {\"text\":\"x\"}\n    b: jira.create {\"project\":\"P\",\"summary\":\"s\"}\n";
    let (stage, ended) = parked(recipe, 1);
    let ended = stage.resume(&ended, None);
    let nodes: Vec<String> = waiting(&ended).iter().map(|row| row.node.clone()).collect();
    assert_eq!(nodes, ["a/gate"]);
    assert!(stage.tools.effects().is_empty());
}
