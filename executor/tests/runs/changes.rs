//! What changes while a run waits: arguments that a person edits, what a host knows of uncertain calls, tools and policy.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crossbeam::channel::bounded;
use plangate_approval::StepState::*;
use plangate_approval::storage::Storage;
use plangate_approval::{Person, Reconciled, Row, RowState, RunState, StoreError};
use plangate_executor::{EditError, Ended, Present, RunError, edit};
use plangate_graph::{Definition, Digest, Policy};

use crate::stage::*;

fn policy(text: &str) -> Policy {
    Policy::from_toml(text).unwrap_or_else(|e| panic!("{e}"))
}

pub fn editor() -> Person {
    Person { roles: vec!["editor".into()], ..person("eve") }
}

const EDITABLE: &str = "[[people]]\nserver = \"*\"\ntool = \"*\"\nmay_edit = [\"editor\"]\n";

fn to(stage: &Stage, row: &Row, args: &str, present: Option<&Present>) -> Result<Row, EditError> {
    edit(&*stage.store, &row.id, row.digest, &editor(), &json(args), Some("smaller"), present)
}

#[test]
fn what_was_edited_is_what_is_sent() {
    let stage = Stage::new();
    let recipe = "then:\n  a: slack.post {\"n\":1}\n  b: jira.create {\"a\":\"{a}\"}\n";
    let parked =
        stage.executor().run(&plan_with(recipe, &catalog(), &policy(EDITABLE)), start("{}")).unwrap();
    let asked = only(&parked);
    // Big numbers, bidirectional text and escapes are kept as they were typed.
    let args = r#"{"n":12345678901234567890123,"m":1.10,"text":"\u001b[31m \u202ex"}"#;
    let edited = to(&stage, &asked, args, None).unwrap();
    let again = stage.resume(&parked);
    assert_eq!(only(&again), edited, "asked once: the edit stands in the row");
    assert!(matches!(approve(&*stage.store, &asked), Err(StoreError::Changed { .. })));
    stage.approve(&edited);
    let parked = stage.resume(&again);
    let sent = stage.host.sent_to("slack.post");
    assert_eq!(sent[0].args.as_bytes(), json(args).canonical());
    assert_eq!(sent[0].key.as_deref(), Some(edited.key.as_str()));
    assert_eq!((step(&parked, "a").arguments.as_ref(), state(&parked, "a")), (Some(&json(args)), Done));
    let decided = &step(&parked, "a/gate").decisions[0];
    let [before] = decided.edits.as_slice() else { panic!("{decided:#?}") };
    assert_eq!((before.edited_from, &before.arguments), (asked.digest, &json(r#"{"n":1}"#)));
    assert_eq!((before.by.subject.as_str(), before.note.as_deref()), ("eve", Some("smaller")));
    assert_eq!(only(&parked).node, "b/gate");
}

#[test]
fn an_edit_is_held_against_schema_and_policy() {
    let deny = |rules: &str| {
        format!(
            "{EDITABLE}\n[[deny]]\nserver = \"slack\"\ntool = \"post\"\nreason = \"huge\"\nwhen = [\"n > {rules}\"]\n"
        )
    };
    let stage = Stage::new();
    let plan = plan_with("then:\n  a: slack.post {\"n\":1}\n", &catalog(), &policy(&deny("1000")));
    let parked = stage.executor().run(&plan, start("{}")).unwrap();
    let row = only(&parked);
    let refused = |args: &str, present: Option<&Present>| match to(&stage, &row, args, present) {
        Err(EditError::Refused(why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(refused("[1]", None).contains("do not fit"), "the schema wants an object");
    assert!(refused(r#"{"n":1001}"#, None).contains("huge"));
    let present = Present { catalog: catalog(), policy: policy(&deny("10")) };
    assert!(refused(r#"{"n":11}"#, Some(&present)).contains("huge"), "the policy of now");
    let not_allowed = edit(&*stage.store, &row.id, row.digest, &person("bob"), &json("{}"), None, None);
    assert!(matches!(not_allowed, Err(EditError::Store(StoreError::NotAllowed(_)))), "{not_allowed:?}");
    assert_eq!(stage.store_row(&row), row);
    let edited = to(&stage, &row, r#"{"n":1000}"#, None).unwrap();
    stage.approve(&edited);
    // What the policy of now denies is not sent, whoever approved it.
    let ended = stage.executor().resume(&parked.record().run, Some(present)).unwrap();
    assert_eq!(stage.host.calls("slack.post"), 0, "{}", states(&ended));
}

/// One call whose outcome is lost, approved, past its deadline.
fn lost(word: impl Fn(usize) -> Reconciled + Send + Sync + 'static) -> (Stage, Ended) {
    let tries = Arc::new(AtomicUsize::new(0));
    let stage = Stage::new().on("slack.post", move |_, _| match tries.fetch_add(1, SeqCst) {
        0 => Answer::Unknown("connection lost"),
        _ => Answer::Ok(json("2")),
    });
    let asked = AtomicUsize::new(0);
    stage.host.knows(move |_| word(asked.fetch_add(1, SeqCst)));
    let parked = stage.run("then:\n  a: slack.post {\"n\":1}\n  b: fs.read_file {\"a\":\"{a}\"}\n");
    stage.approve(&only(&parked));
    let parked = stage.resume(&parked);
    assert_eq!(only(&parked).state, RowState::Uncertain);
    assert!(stage.host.looked_up.lock().unwrap().is_empty(), "not before the deadline");
    stage.clock.advance_ms(60_000);
    (stage, parked)
}

#[test]
fn a_host_that_knows_it_did_not_happen_allows_one_more_try() {
    let (stage, parked) = lost(|_| Reconciled::DidNot);
    let ended = stage.resume(&parked);
    assert_eq!(
        (done(&ended).state, states(&ended).as_str()),
        (RunState::Done, "a/gate done, a done, b done")
    );
    let sent = stage.host.sent_to("slack.post");
    assert_eq!((sent.len(), &sent[0]), (2, &sent[1]), "the same bytes and the same key");
    assert_eq!(stage.host.looked_up.lock().unwrap().as_slice(), [sent[0].key.clone().unwrap()]);
    assert_eq!(stage.store.rows(None).unwrap().len(), 1, "under the same approval");
    plangate_approval::audit::verify(&*stage.store, None).unwrap();
}

#[test]
fn a_second_claim_that_is_lost_is_for_people() {
    let stage = Stage::new().on("slack.post", |_, _| Answer::Unknown("connection lost"));
    stage.host.knows(|_| Reconciled::DidNot);
    let parked = stage.run("then:\n  a: slack.post {}\n");
    stage.approve(&only(&parked));
    let mut parked = stage.resume(&parked);
    for _ in 0..3 {
        stage.clock.advance_ms(60_000);
        parked = stage.resume(&parked);
        assert_eq!(only(&parked).state, RowState::Uncertain);
        assert_eq!(stage.host.calls("slack.post"), 2, "once more, and never again");
    }
    assert_eq!(stage.host.looked_up.lock().unwrap().len(), 1, "asked once");
}

#[test]
fn a_host_that_knows_it_happened_ends_the_step() {
    let (stage, parked) = lost(|_| Reconciled::Happened(Some(json("{\"ts\":7}"))));
    let ended = stage.resume(&parked);
    assert_eq!(step(&ended, "a").result, Some(json("{\"ts\":7}")));
    assert_eq!((done(&ended).state, stage.host.calls("slack.post")), (RunState::Done, 1));
}

#[test]
fn a_host_that_cannot_tell_is_asked_once() {
    let (stage, parked) = lost(|_| Reconciled::Unknown("the service is down".into()));
    let parked = stage.resume(&parked);
    assert_eq!(only(&parked).state, RowState::Uncertain);
    let parked = stage.resume(&parked);
    assert_eq!(stage.host.looked_up.lock().unwrap().len(), 1);
    stage.settle(&only(&parked), true, Some("1"));
    assert_eq!(done(&stage.resume(&parked)).state, RunState::Done);
}

#[test]
fn a_host_that_does_not_answer_is_left_behind() {
    let (release, released) = bounded::<()>(0);
    let mut stage = Stage::new().on("slack.post", |_, _| Answer::Unknown("connection lost"));
    stage.options.reconcile = std::time::Duration::from_millis(20);
    stage.options.grace = std::time::Duration::from_millis(10);
    stage.host.knows(move |_| {
        let _ = released.recv();
        Reconciled::DidNot
    });
    let parked = stage.run("then:\n  a: slack.post {}\n");
    stage.approve(&only(&parked));
    let parked = stage.resume(&parked);
    stage.clock.advance_ms(60_000);
    let parked = stage.resume(&parked);
    let row = only(&parked);
    let word = row.reconciled.as_ref().map(|word| word.answer.kind());
    assert_eq!((row.state, word), (RowState::Uncertain, Some("unknown")));
    assert_eq!(stage.host.calls("slack.post"), 1, "a late word changes nothing");
    drop(release);
}

#[test]
fn a_host_is_asked_about_all_lost_calls_at_once() {
    let lost = |_: &plangate_graph::Value, _: &_| Answer::Unknown("connection lost");
    let stage = Stage::new().on("slack.post", lost).on("gmail.send", lost);
    // Whoever is asked first answers once the other is asked too.
    let both = Arc::new(std::sync::Barrier::new(2));
    stage.host.knows(move |_| {
        both.wait();
        Reconciled::Happened(None)
    });
    let parked = stage.run("together:\n  a: slack.post {}\n  b: gmail.send {}\n");
    for row in waiting(&parked) {
        stage.approve(&row);
    }
    let parked = stage.resume(&parked);
    assert_eq!(waiting(&parked).len(), 2);
    stage.clock.advance_ms(60_000);
    let ended = stage.resume(&parked);
    assert_eq!(done(&ended).state, RunState::Done);
}

#[test]
fn what_nobody_approved_is_asked_when_it_did_not_happen() {
    let allow =
        policy("[[allow]]\nserver = \"slack\"\ntool = \"post\"\ndefinition = \"any\"\nreason = \"test\"\n");
    let stage = Stage::new().on("slack.post", |_, _| Answer::Unknown("lost"));
    stage.host.knows(|_| Reconciled::DidNot);
    let parked = stage
        .executor()
        .run(&plan_with("then:\n  a: slack.post {}\n", &catalog(), &allow), start("{}"))
        .unwrap();
    stage.clock.advance_ms(60_000);
    let parked = stage.resume(&parked);
    let row = only(&parked);
    assert_eq!((row.ask, row.state, stage.host.calls("slack.post")), (1, RowState::Pending, 1));
}

/// A run whose policy has become stricter: one row is approved, one pending, one call was let through before.
fn stricter() -> (Stage, Ended, Present) {
    let stage = Stage::new();
    let allow =
        policy("[[allow]]\nserver = \"slack\"\ntool = \"post\"\ndefinition = \"any\"\nreason = \"test\"\n");
    let recipe = "together:\n  q: gmail.send {}\n  r: jira.create {}\nthen:\n  a: slack.post {\"n\":1}\n";
    let parked = stage.executor().run(&plan_with(recipe, &catalog(), &allow), start("{}")).unwrap();
    let [q, _] = waiting(&parked).try_into().unwrap();
    stage.approve(&q);
    let present = Present { catalog: catalog(), policy: Policy::default() };
    let ended = stage.executor().resume(&parked.record().run, Some(present.clone())).unwrap();
    assert!(matches!(ended, Ended::Attention { .. }), "{ended:#?}");
    (stage, ended, present)
}

#[test]
fn a_change_that_a_person_accepts_asks_again() {
    let (stage, ended, present) = stricter();
    let run = ended.record().run.clone();
    let parked = stage.executor().accept(&run, &person("bob"), present.clone()).unwrap();
    let rows = waiting(&parked);
    assert_eq!(
        rows.iter().map(|row| (row.node.as_str(), row.ask)).collect::<Vec<_>>(),
        [("q/gate", 1), ("r/gate", 1)]
    );
    assert!(
        stage.host.sent.lock().unwrap().is_empty(),
        "what was approved under the old policy is not called"
    );
    assert_eq!(stage.store.run(&run).unwrap().policy, Digest::of(Policy::default().to_toml().as_bytes()));
    let mut parked = parked;
    while let Ended::Parked { waiting, .. } = &parked {
        for row in waiting {
            let _ = stage.approve(row);
        }
        parked = stage.executor().resume(&run, Some(present.clone())).unwrap();
    }
    assert_eq!(done(&parked).state, RunState::Done);
    assert_eq!(stage.host.sent.lock().unwrap().len(), 3);
    let nodes: Vec<_> =
        stage.store.rows(Some(&run)).unwrap().into_iter().map(|row| (row.node, row.state)).collect();
    assert!(nodes.contains(&("a/gate".into(), RowState::Succeeded)), "{nodes:?}");
    plangate_approval::audit::verify(&*stage.store, None).unwrap();
}

#[test]
fn only_the_change_that_was_shown_is_accepted() {
    let (stage, ended, _) = stricter();
    let run = ended.record().run.clone();
    let others: Vec<&str> = TOOLS.iter().copied().filter(|tool| *tool != "gmail.send").collect();
    let mut catalog = catalog_of(&others);
    let other = Definition {
        name: "send".into(),
        description: "Sends to everybody.".into(),
        input_schema: json(r#"{"type":"object","required":["to"]}"#),
        annotations: plangate_graph::Value::Null,
    };
    catalog.insert("gmail", other).unwrap();
    let later = Present { catalog, policy: Policy::default() };
    let shown = |ended: &Ended| match ended {
        Ended::Attention { reason, .. } => reason.clone(),
        other => panic!("{other:#?}"),
    };
    let again = stage.executor().accept(&run, &person("bob"), later.clone()).unwrap();
    assert!(shown(&again).contains("gmail.send"), "{}", shown(&again));
    assert_ne!(shown(&again), shown(&ended));
    // Shown now, it still cannot be accepted: the recipe gives no `to`.
    let again = stage.executor().accept(&run, &person("bob"), later).unwrap();
    assert!(matches!(again, Ended::Attention { .. }), "{again:#?}");
    assert!(stage.host.sent.lock().unwrap().is_empty());
    assert!(stage.store.rows(Some(&run)).unwrap().iter().all(|row| row.ask == 0));
}

#[test]
fn a_change_is_accepted_by_somebody() {
    let (stage, ended, present) = stricter();
    let nobody = Person { subject: String::new(), ..person("x") };
    let answer = stage.executor().accept(&ended.record().run, &nobody, present);
    assert!(matches!(answer, Err(RunError::Store(StoreError::NotAllowed(_)))), "{answer:?}");
}
