//! Gates, questions, decisions while a run is driven, settling, cancelling, holding.

use std::sync::Arc;

use crossbeam::channel::{bounded, unbounded};
use plangate_approval::StepState::*;
use plangate_approval::storage::Storage;
use plangate_approval::{RowState, RunState};
use plangate_executor::{Ended, Present, RunError};
use plangate_graph::Policy;

use crate::stage::*;

#[test]
fn every_step_gated_parks_at_once_with_a_record() {
    let stage = Stage::new();
    let ended = stage.run("together:\n  a: slack.post {}\n  b: gmail.send {}\n");
    assert_eq!(waiting(&ended).len(), 2);
    assert_eq!(states(&ended), "a/gate pending, a waiting, b/gate pending, b waiting");
    assert_eq!(ended.record().state, RunState::Parked);
    assert!(stage.host.sent.lock().unwrap().is_empty());
}

#[test]
fn of_a_file_that_arguments_name_the_path_alone_is_approved() {
    let stage = Stage::new().answers("gmail.list", r#"{"file":"report.pdf","none":[]}"#);
    let parked = stage.run(
        "together:\n  mail: gmail.list {}\nthen:\n  a: gmail.send {\"to\":\"x\",\"attachments\":[\"{mail.file}\"]}\n  \
         b: slack.post {\"attachments\":\"{mail.none}\"}\n  c: s3.put {\"path\":\"a.txt\",\"content\":\"all of it\"}\n",
    );
    let mut waiting = waiting(&parked);
    let mut parked = parked;
    let mut said = Vec::new();
    while let Some(row) = waiting.pop() {
        let path_only = row.reason.iter().filter(|why| why.contains("path")).cloned().collect::<Vec<_>>();
        said.push((row.node.clone(), path_only));
        stage.approve(&row);
        parked = stage.resume(&parked);
        if let Ended::Parked { waiting: more, .. } = &parked {
            waiting.clone_from(more);
        }
    }
    assert_eq!(done(&parked).state, RunState::Done);
    let words =
        "path only: what the file holds is not part of what is approved (argument attachments, path-only)";
    let expected = [("a/gate", vec![words.to_owned()]), ("b/gate", Vec::new()), ("c/gate", Vec::new())];
    assert_eq!(said, expected.map(|(node, why)| (node.to_owned(), why)));
}

#[test]
fn siblings_that_only_read_run_while_a_gate_waits() {
    let stage = Stage::new();
    let ended = stage.run("together:\n  a: slack.post {}\n  b: gmail.list {}\n  c: cal.list {}\n");
    assert_eq!(states(&ended), "a/gate pending, a waiting, b done, c done");
}

#[test]
fn rows_answered_one_by_one_are_asked_once_each() {
    let stage = Stage::new();
    let parked = stage
        .run("together:\n  a: slack.post {}\n  b: gmail.send {}\nthen:\n  c: jira.create {\"a\":\"{a}\"}\n");
    let [a, b] = waiting(&parked).try_into().unwrap();
    stage.approve(&b);
    let parked = stage.resume(&parked);
    assert_eq!(only(&parked).id, a.id);
    assert_eq!(state(&parked, "b"), Done);
    stage.approve(&a);
    let parked = stage.resume(&parked);
    let c = only(&parked);
    assert_eq!(c.node, "c/gate");
    stage.approve(&c);
    let ended = stage.resume(&parked);
    assert_eq!(done(&ended).state, RunState::Done);
    assert_eq!(stage.store.rows(None).unwrap().len(), 3);
    assert_eq!(stage.host.sent.lock().unwrap().len(), 3);
    assert_eq!(stage.host.sent_to("jira.create")[0].args, r#"{"a":{"from":"slack.post"}}"#);
}

#[test]
fn a_no_reaches_the_record_and_what_waits_for_it() {
    let stage = Stage::new();
    let parked = stage.run("then:\n  a: slack.post {}\n  b: jira.create {}\n");
    stage.reject(&only(&parked), "not today");
    let ended = stage.resume(&parked);
    assert_eq!(states(&ended), "a/gate rejected, a rejected, b/gate blocked, b blocked");
    assert_eq!(step(&ended, "b").cause.as_ref().unwrap().node, "a");
    assert_eq!(step(&ended, "a/gate").decisions[0].reason.as_deref(), Some("not today"));
    assert_eq!(done(&ended).state, RunState::Failed);
    // A second executor, another process or a third look change nothing.
    assert_eq!(stage.resume(&ended), ended);
    assert!(stage.host.sent.lock().unwrap().is_empty());
}

#[test]
fn questions_guard_and_each_gate_below_is_still_asked() {
    let recipe = "together:\n  mail: gmail.list {}\nask me:\n  - publish {mail}?\n    a: slack.post {}\n    b: gmail.send {}\n    c: cal.list {}\n";
    let stage = Stage::new().answers("gmail.list", "[1.10]");
    let parked = stage.run(recipe);
    let question = only(&parked);
    assert_eq!((question.question.as_deref(), question.call.as_ref()), (Some("publish [1.10]?"), None));
    stage.approve(&question);
    let parked = stage.resume(&parked);
    let gate = only(&parked);
    assert_eq!((gate.node.as_str(), state(&parked, "b/gate")), ("a/gate", Waiting));
    stage.reject(&gate, "no");
    let ended = stage.resume(&parked);
    assert_eq!((state(&ended, "a"), state(&ended, "b/gate")), (Rejected, Blocked));
    let stage = Stage::new();
    let parked = stage.run(recipe);
    stage.reject(&only(&parked), "no");
    let ended = stage.resume(&parked);
    assert_eq!(
        states(&ended),
        "mail done, question-1/ask rejected, a/gate rejected, a rejected, b/gate rejected, b rejected, c rejected"
    );
}

#[test]
fn a_question_that_guards_nothing_is_a_checkpoint() {
    let stage = Stage::new();
    let parked = stage.run("together:\n  mail: gmail.list {}\nask me:\n  - fine?\n");
    assert_eq!(stage.host.calls("gmail.list"), 1);
    stage.approve(&only(&parked));
    assert_eq!(done(&stage.resume(&parked)).state, RunState::Done);
}

#[test]
fn expiry_flows_on() {
    let stage = Stage::new();
    let parked = stage.run("then:\n  a: slack.post {}\n  b: jira.create {}\n");
    let row = only(&parked);
    stage.clock.advance_ms(3_599_999);
    assert_eq!(row_state(&stage.store, &row), RowState::Pending);
    stage.clock.advance_ms(1);
    assert!(approve(&*stage.store, &row).is_err());
    let ended = stage.resume(&parked);
    assert_eq!(states(&ended), "a/gate expired, a expired, b/gate blocked, b blocked");
}

#[test]
fn an_approval_that_lapsed_is_not_used() {
    let stage = Stage::new();
    let parked = stage.run("then:\n  a: slack.post {}\n");
    stage.approve(&only(&parked));
    stage.clock.advance_ms(3_600_000);
    let ended = stage.resume(&parked);
    assert_eq!(state(&ended, "a"), Expired);
    assert_eq!(stage.host.calls("slack.post"), 0);
}

#[test]
fn an_approval_from_elsewhere_is_taken_up_while_the_run_is_driven() {
    let (release, released) = unbounded::<()>();
    let stage = Stage::new().on("gmail.list", move |_, _| {
        let _ = released.recv();
        Answer::Ok(json("1"))
    });
    let release = Arc::new(std::sync::Mutex::new(Some(release)));
    let let_go = Arc::clone(&release);
    let stage = stage.on("slack.post", move |_, _| {
        // The read ends only once the post was made: if nobody took the approval up, this run would never end.
        let_go.lock().unwrap().take();
        Answer::Ok(json("2"))
    });
    let store = stage.store.clone();
    let decider = std::thread::spawn(move || {
        loop {
            let rows = store.rows(None).unwrap();
            if let [row] = rows.as_slice() {
                return approve(&*store, row).unwrap();
            }
            std::thread::yield_now();
        }
    });
    let ended = stage.run("together:\n  slow: gmail.list {}\n  p: slack.post {}\n");
    decider.join().unwrap();
    assert_eq!(done(&ended).state, RunState::Done);
}

#[test]
fn a_second_driver_is_told_that_the_first_will_take_it_up() {
    let (here, there) = bounded(0);
    let (go, gone) = bounded::<()>(0);
    let stage = Arc::new(Stage::new().on("gmail.list", move |_, _| {
        here.send(()).unwrap();
        gone.recv().unwrap();
        Answer::Ok(json("1"))
    }));
    let driver = {
        let stage = Arc::clone(&stage);
        std::thread::spawn(move || stage.run("together:\n  a: gmail.list {}\n"))
    };
    there.recv().unwrap();
    let run = stage.store_runs()[0].id.clone();
    assert!(matches!(stage.executor().resume(&run, None), Err(RunError::Busy { .. })));
    go.send(()).unwrap();
    assert_eq!(done(&driver.join().unwrap()).state, RunState::Done);
}

#[test]
fn uncertain_is_settled_by_a_person() {
    let recipe = "then:\n  a: slack.post {\"n\":1}\n  b: jira.create {}\n  c: gmail.send {\"a\":\"{a}\"}\n";
    let uncertain = || {
        let stage = Stage::new().on("slack.post", |_, _| Answer::Unknown("connection lost"));
        let parked = stage.run(recipe);
        stage.approve(&only(&parked));
        let parked = stage.resume(&parked);
        assert_eq!(only(&parked).state, RowState::Uncertain);
        assert_eq!(state(&parked, "b"), Waiting);
        // Nothing repeats it.
        let again = stage.resume(&parked);
        assert_eq!((states(&again), stage.host.calls("slack.post")), (states(&parked), 1));
        (stage, parked)
    };
    let (stage, parked) = uncertain();
    stage.settle(&only(&parked), true, Some("{\"ts\":7}"));
    let parked = stage.resume(&parked);
    assert_eq!(only(&parked).node, "b/gate");
    assert_eq!(step(&parked, "a").result, Some(json("{\"ts\":7}")));
    assert_eq!(step(&parked, "a").error, None, "it is known now");
    stage.approve(&only(&parked));
    let parked = stage.resume(&parked);
    let row = only(&parked);
    assert_eq!(row.call.unwrap().args, br#"{"a":{"ts":7}}"#);

    let (stage, parked) = uncertain();
    stage.settle(&only(&parked), true, None);
    let parked = stage.resume(&parked);
    assert_eq!(states(&parked), "a/gate done, a done, b/gate pending, b waiting, c/gate blocked, c blocked");
    assert_eq!(step(&parked, "c").cause.as_ref().unwrap().node, "a");

    let (stage, parked) = uncertain();
    let first = only(&parked);
    stage.settle(&first, false, None);
    let parked = stage.resume(&parked);
    assert_eq!(step(&parked, "a").error, None, "it is decided anew");
    let second = only(&parked);
    assert_eq!((second.node.as_str(), second.ask, &second.key), ("a/gate", 1, &first.key));
    assert_ne!(second.id, first.id);
    stage.approve(&second);
    let parked = stage.resume(&parked);
    let sent = stage.host.sent_to("slack.post");
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0], sent[1]);
    assert_eq!(state(&parked, "a"), Uncertain);
    let decisions: Vec<_> = step(&parked, "a/gate").decisions.iter().map(|d| d.state).collect();
    assert_eq!(decisions, [RowState::DidNot, RowState::Uncertain]);
}

#[test]
fn what_a_call_failed_for_is_told_of_the_call_and_not_of_its_gate() {
    let stage = Stage::new().fails("slack.post", "no such channel");
    let parked = stage.run("then:\n  a: slack.post {}\n");
    stage.approve(&only(&parked));
    let ended = stage.resume(&parked);
    assert_eq!(states(&ended), "a/gate done, a failed");
    assert_eq!(step(&ended, "a").error.as_deref(), Some("no such channel"));
    assert_eq!(step(&ended, "a/gate").error, None);
}

fn allowing() -> Policy {
    policy("[[allow]]\nserver = \"slack\"\ntool = \"post\"\ndefinition = \"any\"\nreason = \"test\"\n")
}

#[test]
fn what_policy_lets_through_has_a_row_and_a_permit_all_the_same() {
    let stage = Stage::new();
    let plan = plan_with("then:\n  a: slack.post {\"n\":1}\n  b: gmail.list {}\n", &catalog(), &allowing());
    let ended = stage.executor().run(&plan, start("{}")).unwrap();
    assert_eq!(states(&ended), "a done, b done");
    let rows = stage.store.rows(None).unwrap();
    assert_eq!((rows.len(), rows[0].state, rows[0].node.as_str()), (1, RowState::Succeeded, "a"));
    assert!(rows[0].decided_by.as_ref().unwrap().contains("allow"), "{:?}", rows[0].decided_by);
    assert_eq!(stage.host.sent_to("slack.post")[0].key.as_deref(), Some(rows[0].key.as_str()));
    assert_eq!(step(&ended, "a").result, Some(json(r#"{"from":"slack.post"}"#)));
    assert_eq!(step(&ended, "a").arguments, Some(json(r#"{"n":1}"#)));
}

#[test]
fn a_call_that_was_let_through_and_did_not_happen_is_asked_before_it_is_made_again() {
    let stage = Stage::new().on("slack.post", |_, _| Answer::Unknown("lost"));
    let plan = plan_with("then:\n  a: slack.post {}\n  b: gmail.list {}\n", &catalog(), &allowing());
    let parked = stage.executor().run(&plan, start("{}")).unwrap();
    stage.settle(&only(&parked), false, None);
    let parked = stage.resume(&parked);
    let row = only(&parked);
    assert_eq!((row.node.as_str(), row.ask, row.state), ("a", 1, RowState::Pending));
    assert_eq!((state(&parked, "a"), stage.host.calls("slack.post")), (Pending, 1));
    stage.reject(&row, "leave it");
    let ended = stage.resume(&parked);
    assert_eq!(states(&ended), "a rejected, b blocked");
}

#[test]
fn a_policy_that_became_stricter_needs_attention_and_starts_nothing() {
    let stage = Stage::new();
    let plan =
        plan_with("together:\n  q: gmail.send {}\nthen:\n  a: slack.post {}\n", &catalog(), &allowing());
    let parked = stage.executor().run(&plan, start("{}")).unwrap();
    stage.approve(&only(&parked));
    let run = parked.record().run.clone();
    let present = Present { catalog: catalog(), policy: Policy::default() };
    let ended = stage.executor().resume(&run, Some(present)).unwrap();
    let Ended::Attention { reason, record, .. } = &ended else { panic!("{ended:#?}") };
    assert!(reason.contains("`a` (slack.post)"), "{reason}");
    assert_eq!((record.state, record.reason.as_ref()), (RunState::Attention, Some(reason)));
    assert!(stage.host.sent.lock().unwrap().is_empty());
    // With the policy it was stored with, it goes on.
    let ended =
        stage.executor().resume(&run, Some(Present { catalog: catalog(), policy: allowing() })).unwrap();
    assert_eq!(done(&ended).state, RunState::Done);
}

#[test]
fn cancel_ends_a_parked_run_at_once() {
    let stage = Stage::new();
    let parked = stage.run("then:\n  a: slack.post {}\n  b: jira.create {}\n");
    let run = &parked.record().run;
    stage.executor().cancel(run, &person("bob"), Some("not needed")).unwrap();
    let ended = stage.resume(&parked);
    assert_eq!(done(&ended).state, RunState::Cancelled);
    assert_eq!(states(&ended), "a/gate cancelled, a cancelled, b/gate cancelled, b cancelled");
    assert_eq!(ended.record().reason.as_deref(), Some("not needed"));
    assert!(approve(&*stage.store, &only(&parked)).is_err());
}

#[test]
fn cancel_reaches_running_calls_and_records_what_came_of_them() {
    let (here, there) = bounded(2);
    let here_too = here.clone();
    let stage = Stage::new()
        .on("gmail.list", move |_, cancel| {
            let (stop, stopped) = bounded(1);
            cancel.on_cancel(move || stop.send(()).unwrap());
            here.send(()).unwrap();
            stopped.recv().unwrap();
            Answer::Failed("stopped")
        })
        .on("slack.post", move |_, cancel| {
            let (stop, stopped) = bounded(1);
            cancel.on_cancel(move || stop.send(()).unwrap());
            here_too.send(()).unwrap();
            stopped.recv().unwrap();
            Answer::Ok(json("\"it was posted before\""))
        });
    let stage = Arc::new(stage);
    let executor = Arc::new(stage.executor());
    let driver = {
        let executor = Arc::clone(&executor);
        let plan = plan_with(
            "together:\n  a: gmail.list {}\n  p: slack.post {}\nthen:\n  b: fs.read_file {\"a\":\"{a}\"}\n",
            &catalog(),
            &allowing(),
        );
        std::thread::spawn(move || executor.run(&plan, start("{}")).unwrap())
    };
    there.recv().unwrap();
    there.recv().unwrap();
    let run = stage.store_runs()[0].id.clone();
    executor.cancel(&run, &person("bob"), None).unwrap();
    let ended = driver.join().unwrap();
    assert_eq!(done(&ended).state, RunState::Cancelled);
    assert_eq!(states(&ended), "a cancelled, p done, b cancelled");
    assert_eq!(step(&ended, "p").result, Some("it was posted before".into()));
}

#[test]
fn a_cancelled_read_that_does_not_stop_is_left_behind() {
    let (here, there) = bounded(1);
    let (release, released) = unbounded::<()>();
    let mut stage = Stage::new().on("gmail.list", move |_, _| {
        here.send(()).unwrap();
        let _ = released.recv();
        Answer::Ok(json("1"))
    });
    stage.options.grace = std::time::Duration::from_millis(10);
    let executor = Arc::new(stage.executor());
    let driver = {
        let executor = Arc::clone(&executor);
        std::thread::spawn(move || {
            executor.run(&plan("together:\n  a: gmail.list {}\n"), start("{}")).unwrap()
        })
    };
    there.recv().unwrap();
    executor.cancel(&stage.store_runs()[0].id, &person("bob"), None).unwrap();
    let ended = driver.join().unwrap();
    assert_eq!((done(&ended).state, state(&ended, "a")), (RunState::Cancelled, Cancelled));
    drop(release);
}

#[test]
fn hold_siblings_claims_nothing_while_a_row_is_pending() {
    let mut stage = Stage::new();
    stage.options.hold_siblings = true;
    let parked = stage.run("together:\n  a: slack.post {}\n  b: gmail.send {}\n");
    let [a, b] = waiting(&parked).try_into().unwrap();
    stage.approve(&a);
    let parked = stage.resume(&parked);
    assert_eq!(stage.host.sent.lock().unwrap().len(), 0);
    assert_eq!(states(&parked), "a/gate done, a ready, b/gate pending, b waiting");
    stage.approve(&b);
    let ended = stage.resume(&parked);
    assert_eq!(done(&ended).state, RunState::Done);
    assert_eq!(stage.host.sent.lock().unwrap().len(), 2);
}

#[test]
fn a_late_result_is_late_for_the_join_that_went_on() {
    let stage = Stage::new();
    let parked = stage.run(
        "together:\n  a: gmail.list {}\n  b: cal.list {}\n  c: slack.create_channel {}\nthen:\n  need: 2 of 3\n  note: tell \
         of {a, b, c}\nthen:\n  again: tell of {c}\n",
    );
    let join = |ended: &Ended| ended.record().steps.iter().find(|s| s.list.is_some()).unwrap().clone();
    let list = join(&parked).list.unwrap();
    assert_eq!(list[2].missing.as_deref(), Some("it waits for people"));
    assert_eq!(join(&parked).late, Vec::<String>::new());
    assert!(
        step(&parked, "note").result.as_ref().unwrap().text().unwrap().contains("c: it waits for people")
    );
    stage.approve(&only(&parked));
    let ended = stage.resume(&parked);
    assert_eq!(done(&ended).state, RunState::Done);
    assert_eq!((join(&ended).list.unwrap(), join(&ended).late), (list, vec!["c".to_owned()]));
    assert!(step(&ended, "again").result.as_ref().unwrap().text().unwrap().contains("slack.create_channel"));
}

fn policy(text: &str) -> Policy {
    Policy::from_toml(text).unwrap_or_else(|e| panic!("{e}"))
}

/// Posts a number that a step gave, under this policy.
fn posting(n: &str, rules: &str) -> (Stage, Ended) {
    let stage = Stage::new().answers("gmail.list", &format!("{{\"n\":{n}}}"));
    let recipe = "together:\n  mail: gmail.list {}\nthen:\n  p: slack.post {\"n\":\"{mail.n}\"}\n";
    let ended = stage.executor().run(&plan_with(recipe, &catalog(), &policy(rules)), start("{}")).unwrap();
    (stage, ended)
}

#[test]
fn a_rule_over_arguments_decides_at_the_gate_when_they_are_final() {
    let rules = "[[allow]]\nserver = \"slack\"\ntool = \"post\"\ndefinition = \"any\"\nreason = \"small\"\nwhen = [\"n <= 100\"]\n\n\
                 [[deny]]\nserver = \"slack\"\ntool = \"post\"\nreason = \"huge\"\nwhen = [\"n > 1000\"]\n";
    let (stage, ended) = posting("100", rules);
    assert_eq!(states(&ended), "mail done, p/gate done, p done");
    assert_eq!(done(&ended).state, RunState::Done);
    let row = &stage.store.rows(None).unwrap()[0];
    assert_eq!((row.node.as_str(), row.state), ("p", RowState::Succeeded));
    assert!(row.decided_by.as_ref().unwrap().contains("policy-allow"), "{:?}", row.decided_by);
    // Looked at later, it is the same.
    assert_eq!(stage.resume(&ended), ended);

    let (stage, parked) = posting("101", rules);
    assert_eq!(only(&parked).node, "p/gate");
    assert_eq!(stage.host.calls("slack.post"), 0);

    let (stage, ended) = posting("1001", rules);
    assert_eq!(states(&ended), "mail done, p/gate failed, p failed");
    assert!(step(&ended, "p").error.as_ref().unwrap().contains("huge"), "{:?}", step(&ended, "p").error);
    assert!(stage.store.rows(None).unwrap().is_empty());
}

#[test]
fn a_call_let_through_at_its_gate_and_then_not_sent_is_not_asked_on_resume() {
    let rules = "[[allow]]\nserver = \"slack\"\ntool = \"post\"\ndefinition = \"any\"\nreason = \"small\"\nwhen = [\"n <= 100\"]\n";
    let stage = Stage::new().answers("gmail.list", "{\"n\":1}");
    stage.host.on_connect("slack", |_, _| Answer::Failed("gone"));
    let recipe = "together:\n  mail: gmail.list {}\n  other: gmail.send {}\nthen:\n  p: slack.post {\"n\":\"{mail.n}\"}\n    after: mail\n";
    let ended = stage.executor().run(&plan_with(recipe, &catalog(), &policy(rules)), start("{}")).unwrap();
    stage.approve(&only(&ended));
    let ended = stage.resume(&ended);
    assert_eq!((state(&ended, "p/gate"), state(&ended, "p")), (Done, Failed));
    assert_eq!(stage.resume(&ended), ended);
    assert_eq!(stage.store.rows(None).unwrap().len(), 1);
}

#[test]
fn what_became_stricter_holds_for_final_arguments_and_terms() {
    let stage = Stage::new();
    let plan = plan("together:\n  a: gmail.send {}\nthen:\n  p: slack.post {\"n\":\"{a.n}\"}\n");
    let stage = stage.answers("gmail.send", "{\"n\":7}");
    let parked = stage.executor().run(&plan, start("{}")).unwrap();
    stage.approve(&only(&parked));
    let run = parked.record().run.clone();
    let stricter = policy("[[people]]\nserver = \"slack\"\ntool = \"*\"\nquorum = 2\ndeadline = \"5m\"\n");
    let parked =
        stage.executor().resume(&run, Some(Present { catalog: catalog(), policy: stricter })).unwrap();
    let row = only(&parked);
    assert_eq!((row.node.as_str(), row.terms.quorum, row.terms.deadline_ms), ("p/gate", 2, 300_000));

    // A denial of now reaches a call that was approved before.
    let parked = stage.run("then:\n  p: slack.post {\"n\":7}\n");
    stage.approve(&only(&parked));
    let deny = policy("[[deny]]\nserver = \"slack\"\ntool = \"post\"\nreason = \"closed\"\n");
    let present = Present { catalog: catalog(), policy: deny };
    let ended = stage.executor().resume(&parked.record().run, Some(present)).unwrap();
    assert!(matches!(ended, Ended::Attention { .. }), "{ended:#?}");
    assert_eq!(stage.host.calls("slack.post"), 0);
}

#[test]
fn a_rule_that_ended_while_the_run_was_parked_is_not_in_force() {
    let rules = "[[allow]]\nserver = \"slack\"\ntool = \"post\"\ndefinition = \"any\"\nreason = \"this week\"\nuntil = 2023-11-15\n";
    let stage = Stage::new();
    let today: plangate_graph::policy::Date = "2023-11-14".parse().unwrap();
    let policy = policy(rules).on(today);
    let plan = plan_with("together:\n  q: gmail.send {}\nthen:\n  p: slack.post {}\n", &catalog(), &policy);
    let parked = stage.executor().run(&plan, start("{}")).unwrap();
    assert_eq!(states(&parked), "q/gate pending, q waiting, p waiting");
    let again = stage.resume(&parked);
    assert_eq!(states(&again), states(&parked));
    stage.clock.advance_ms(3 * 86_400_000);
    let ended = stage.resume(&parked);
    let Ended::Attention { reason, .. } = &ended else { panic!("{ended:#?}") };
    assert!(reason.contains("`p` (slack.post)"), "{reason}");
}
