//! Failure, skips, missing paths, retries, timeouts, panics.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam::channel::{bounded, unbounded};
use plangate_approval::RunState;
use plangate_approval::StepState::*;
use plangate_executor::RunError;
use plangate_executor::record::Cause;

use crate::stage::*;

fn cause(node: &str, state: plangate_approval::StepState, error: Option<&str>) -> Cause {
    Cause { node: node.to_owned(), state, error: error.map(str::to_owned) }
}

#[test]
fn a_failed_step_blocks_what_reads_it_and_nothing_else() {
    let stage = Stage::new().fails("gmail.list", "quota exceeded");
    let ended = stage.run(
        "together:\n  mail: gmail.list {}\n  cal: cal.list {}\nthen:\n  a: fs.read_file {\"m\":\"{mail}\"}\n  b: \
         fs.read_file {\"c\":\"{cal}\"}\n  c: fs.read_file {\"a\":\"{a}\"}\n",
    );
    assert_eq!(states(&ended), "mail failed, cal done, a blocked, b done, c blocked");
    assert_eq!(done(&ended).state, RunState::Failed);
    assert_eq!(step(&ended, "mail").error.as_deref(), Some("quota exceeded"));
    assert_eq!(step(&ended, "c").cause.as_deref(), Some(&cause("mail", Failed, Some("quota exceeded"))));
}

#[test]
fn a_path_that_is_not_there_fails_the_reader_before_its_gate() {
    let stage = Stage::new().answers("gmail.list", r#"{"messages":[]}"#);
    let ended = stage.run(
        "together:\n  mail: gmail.list {}\nthen:\n  send: gmail.send {\"to\":\"{mail.messages[0].from}\"}\n  log: jira.create {}\n",
    );
    assert_eq!(states(&ended), "mail done, send/gate failed, send failed, log/gate blocked, log blocked");
    let error = step(&ended, "send").error.clone().unwrap();
    assert_eq!(
        error,
        "`send` cannot be called: {mail.messages[0].from} is not there: mail.messages is a list of 0"
    );
    assert!(step(&ended, "send/gate").decisions.is_empty());
    assert_eq!(step(&ended, "log").cause.as_deref(), Some(&cause("send", Failed, Some(&error))));
}

#[test]
fn a_sentence_is_told_what_a_join_misses_and_fails_where_a_path_is_missing() {
    let stage = Stage::new()
        .fails("gmail.list", "down")
        .answers("cal.list", r#"{"events":[1]}"#)
        .answers("slack.search", "7");
    let ended = stage.run(
        "together:\n  mail: gmail.list {}\n  cal: cal.list {}\n  chat: slack.search {}\nthen:\n  need: 2 of 3\n  ok: tell \
         of {mail, cal.events, chat}\n  bad: tell of {cal.rooms} and {mail} and {chat}\n",
    );
    assert_eq!(step(&ended, "ok").result, Some("mail: it failed: down\ncal.events=[1]\nchat=7".into()));
    let error = step(&ended, "bad").error.clone().unwrap();
    assert_eq!(error, "`bad` cannot be written: {cal.rooms} is not there: cal has only events");
    assert_eq!(stage.echo.instructions.lock().unwrap().as_slice(), ["tell of {mail}, {cal.events}, {chat}"]);
    let list = ended.record().steps.iter().find_map(|s| s.list.clone()).unwrap();
    assert_eq!(list.iter().map(|c| c.ok).collect::<Vec<_>>(), [false, true, true]);
    assert_eq!(list[0].missing.as_deref(), Some("it failed: down"));
}

#[test]
fn a_join_that_cannot_have_enough_fails_by_name() {
    let stage = Stage::new().fails("gmail.list", "down").fails("cal.list", "down");
    let ended = stage.run(
        "together:\n  mail: gmail.list {}\n  cal: cal.list {}\n  chat: slack.search {}\nthen:\n  need: 2 of 3\n  s: tell of \
         {mail, cal, chat}\n",
    );
    assert_eq!(state(&ended, "s"), Blocked);
    assert_eq!(step(&ended, "s").cause.as_ref().unwrap().state, Failed);
    assert!(step(&ended, "s").cause.as_ref().unwrap().node.contains('/'));
    assert_eq!(done(&ended).state, RunState::Failed);
}

#[test]
fn checks_skip_and_the_rest_goes_on() {
    for (inbox, expected) in [
        (
            "[]",
            "mail done, check-1/check done, send/gate skipped, send skipped, log/gate pending, log waiting",
        ),
        (
            "[1]",
            "mail done, check-1/check done, send/gate pending, send waiting, log/gate waiting, log waiting",
        ),
        (
            "7",
            "mail done, check-1/check done, send/gate pending, send waiting, log/gate waiting, log waiting",
        ),
    ] {
        let stage = Stage::new().answers("gmail.list", &format!("{{\"messages\":{inbox}}}"));
        let ended = stage.run(
            "together:\n  mail: gmail.list {}\ncheck:\n  - {mail.messages} is not empty\n    send: gmail.send \
             {\"m\":\"{mail.messages}\"}\nthen:\n  log: jira.create {}\n",
        );
        assert_eq!(states(&ended), expected);
        assert_eq!(step(&ended, "check-1/check").answer, Some(inbox != "[]"));
    }
}

#[test]
fn a_skip_says_which_check_and_a_check_that_cannot_be_made_fails() {
    let stage = Stage::new().answers("gmail.list", r#"{"n":"x"}"#);
    let ended =
        stage.run("together:\n  mail: gmail.list {}\ncheck:\n  - {mail.n} is \"y\"\n    a: cal.list {}\n  - {mail.n} > 3\n    b: cal.list {}\n");
    assert_eq!(states(&ended), "mail done, check-1/check done, a skipped, check-2/check failed, b blocked");
    assert_eq!(step(&ended, "a").cause.as_deref(), Some(&cause("check-1/check", Done, None)));
    assert_eq!(
        step(&ended, "check-2/check").error.as_deref(),
        Some("only numbers are greater or less, and this is text")
    );
}

#[test]
fn reads_are_tried_again_on_transport_errors_only() {
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let stage = Stage::new()
        .on("gmail.list", move |_, _| {
            if counted.fetch_add(1, Ordering::SeqCst) < 2 {
                Answer::Transport("reset")
            } else {
                Answer::Ok(json("1"))
            }
        })
        .on("cal.list", |_, _| Answer::Transport("reset"))
        .fails("slack.search", "no");
    let ended = stage.run(
        "together:\n  a: gmail.list {}\n    retry: 2\n  b: cal.list {}\n    retry: 1\n  c: slack.search {}\n    retry: 5\n",
    );
    let attempts = |id| (step(&ended, id).state, step(&ended, id).attempts);
    assert_eq!((attempts("a"), attempts("b"), attempts("c")), ((Done, 3), (Failed, 2), (Failed, 1)));
}

#[test]
fn a_branch_counts_after_its_last_attempt() {
    let tries = Arc::new(AtomicUsize::new(0));
    let stage = Stage::new().on("gmail.list", move |_, _| {
        if tries.fetch_add(1, Ordering::SeqCst) == 0 {
            Answer::Transport("reset")
        } else {
            Answer::Ok(json("1"))
        }
    });
    let ended = stage.run(
        "together:\n  a: gmail.list {}\n    retry: 1\n  b: cal.list {}\nthen:\n  need: 2 of 2\n  s: tell of {a, b}\n",
    );
    assert_eq!(done(&ended).state, RunState::Done);
}

#[test]
fn a_read_past_its_deadline_times_out_and_its_call_is_asked_to_stop() {
    let (told, hear) = bounded(1);
    let stage = Stage::new().on("gmail.list", move |_, cancel| {
        let (stop, stopped) = bounded(1);
        cancel.on_cancel(move || stop.send(()).unwrap());
        stopped.recv().unwrap();
        told.send(cancel.is_cancelled()).unwrap();
        Answer::Ok(json("1"))
    });
    let ended = stage.run("together:\n  a: gmail.list {}\n    timeout: 20ms\n  b: cal.list {}\nthen:\n  c: fs.read_file {\"a\":\"{a}\"}\n");
    assert_eq!(states(&ended), "a timed_out, b done, c blocked");
    assert_eq!(step(&ended, "a").error.as_deref(), Some("no answer within 20 ms"));
    assert!(hear.recv().unwrap());
}

/// Deadlines of calls that are over are forgotten; that of a call under way is kept, however many end beside it.
#[test]
fn a_deadline_outlasts_hundreds_of_others() {
    let stage = Stage::new().on("gmail.list", |_, cancel| {
        let (stop, stopped) = bounded(1);
        cancel.on_cancel(move || stop.send(()).unwrap());
        stopped.recv().unwrap();
        Answer::Ok(json("1"))
    });
    let mut recipe =
        "together:\n  slow: gmail.list {}\n    timeout: 500ms\n  r0: cal.list {}\nthen:\n".to_owned();
    for i in 1..300 {
        recipe += &format!("  r{i}: cal.list {{\"from\":\"{{r{}}}\"}}\n", i - 1);
    }
    let ended = stage.run(&recipe);
    assert_eq!(step(&ended, "slow").error.as_deref(), Some("no answer within 500 ms"));
    assert_eq!(step(&ended, "r299").state, Done);
}

#[test]
fn calls_that_never_return_are_counted_and_capped() {
    let (release, released) = unbounded::<()>();
    let mut stage = Stage::new().on("gmail.list", move |_, _| {
        let _ = released.recv();
        Answer::Ok(json("1"))
    });
    stage.options.most_abandoned = 2;
    stage.options.grace = std::time::Duration::from_millis(10);
    stage.options.workers = Some(1);
    let ended = stage.run(
        "together:\n  a: gmail.list {}\n    timeout: 10ms\n  b: gmail.list {\"b\":1}\n    timeout: 10ms\n  c: gmail.list \
         {\"c\":1}\n    timeout: 10ms\n",
    );
    assert_eq!(states(&ended), "a timed_out, b timed_out, c failed");
    assert!(step(&ended, "c").error.as_ref().unwrap().contains("have not returned"));
    assert!(stage.host.calls("gmail.list") <= 2, "the third was not made");
    drop(release);
}

#[test]
fn an_effect_past_its_deadline_is_uncertain_and_its_late_answer_is_taken() {
    let (release, released) = bounded::<()>(0);
    let (timed_out, let_go) = bounded::<()>(1);
    let mut stage = Stage::new().on("slack.post", move |_, cancel| {
        let timed_out = timed_out.clone();
        cancel.on_cancel(move || timed_out.send(()).unwrap());
        let _ = released.recv();
        Answer::Ok(json("\"posted\""))
    });
    stage.options.grace = std::time::Duration::from_millis(10);
    let recipe = "then:\n  a: slack.post {}\n    timeout: 2s\n  b: jira.create {}\n";
    let parked = stage.run(recipe);
    stage.approve(&only(&parked));
    let ended = stage.resume(&parked);
    let row = only(&ended);
    let_go.recv().unwrap();
    assert_eq!(row.state, plangate_approval::RowState::Uncertain);
    assert_eq!(states(&ended), "a/gate done, a uncertain, b/gate waiting, b waiting");
    assert_eq!(step(&ended, "a").error.as_deref(), Some("no answer within 2000 ms"));
    // It answers after the run was parked: the row has it, and whoever resumes goes on.
    drop(release);
    while stage.store_row(&row).state == plangate_approval::RowState::Uncertain {
        std::thread::yield_now();
    }
    let ended = stage.resume(&ended);
    assert_eq!(states(&ended), "a/gate done, a done, b/gate pending, b waiting");
    assert_eq!(step(&ended, "a").result, Some("posted".into()));
}

#[test]
fn a_panic_of_a_tool_fails_a_read_and_leaves_an_effect_uncertain() {
    let stage = Stage::new()
        .on("gmail.list", |_, _| panic!("index out of range"))
        .on("slack.post", |_, _| panic!("oh"));
    let parked = stage.run("together:\n  a: gmail.list {}\n  p: slack.post {}\n");
    assert_eq!(step(&parked, "a").error.as_deref(), Some("the tool panicked: index out of range"));
    stage.approve(&only(&parked));
    let ended = stage.resume(&parked);
    assert_eq!(state(&ended, "p"), Uncertain);
    assert_eq!(step(&ended, "p").error.as_deref(), Some("the tool panicked: oh"));
}

#[test]
fn inputs_are_checked_before_anything_starts() {
    let stage = Stage::new();
    let recipe = plan(
        "inputs:\n  who: text\n  many: number = 3\n  sure: yes/no\n  which: list = []\ntogether:\n  a: gmail.list \
         {\"who\":\"{who}\",\"many\":\"{many}\",\"sure\":\"{sure}\",\"which\":\"{which}\"}\n",
    );
    let problems = |inputs: &str| match stage.executor().run(&recipe, start(inputs)).unwrap_err() {
        RunError::Inputs(problems) => problems.into_iter().map(|p| p.input).collect::<Vec<_>>().join(" "),
        other => panic!("{other}"),
    };
    assert_eq!(problems("{}"), "who sure");
    assert_eq!(problems("null"), "who sure");
    assert_eq!(problems(r#"{"who":1,"sure":"yes","many":"3","which":{}}"#), "who many sure which");
    assert_eq!(problems(r#"{"who":"x","sure":true,"sur":1}"#), "sur");
    assert_eq!(problems("[]"), " who sure");
    assert_eq!(stage.host.calls("gmail.list"), 0);
    assert!(stage.store_runs().is_empty());
    let ended = stage.executor().run(&recipe, start(r#"{"who":"x","sure":true,"many":1.10}"#)).unwrap();
    assert_eq!(stage.host.sent_to("gmail.list")[0].args, r#"{"many":1.10,"sure":true,"which":[],"who":"x"}"#);
    assert_eq!(ended.record().inputs, json(r#"{"many":1.10,"sure":true,"which":[],"who":"x"}"#));
}

#[test]
fn a_plan_with_sentences_and_no_writer_is_refused_before_the_first_call() {
    let stage = Stage::new();
    let executor = plangate_executor::Executor::new(
        stage.store.clone(),
        stage.host.clone(),
        None,
        stage.options.clone(),
    );
    let plan = plan("together:\n  a: gmail.list {}\nthen:\n  s: tell of {a}\n  t: tell of {s}\n");
    let error = executor.run(&plan, start("{}")).unwrap_err();
    assert_eq!(error.to_string(), "no writer is configured, and `s`, `t` are to be written");
    assert_eq!(stage.host.calls("gmail.list"), 0);
}

#[test]
fn a_tool_whose_definition_changed_is_not_called() {
    let other = plangate_graph::Digest::of(b"other");
    let stage = Stage::new();
    stage.host.redefine("gmail.list", Some(other));
    stage.host.redefine("cal.list", None);
    let ended = stage.run("together:\n  a: gmail.list {}\n  b: cal.list {}\n  p: slack.post {}\n");
    let error = step(&ended, "a").error.clone().unwrap();
    let was = catalog().digest("gmail", "list").unwrap();
    assert!(
        error.contains(&was.to_string()) && error.contains(&other.to_string()) && error.contains("compile"),
        "{error}"
    );
    assert!(step(&ended, "b").error.as_ref().unwrap().contains("not there any more"));
    stage.host.redefine("slack.post", Some(other));
    stage.approve(&only(&ended));
    let ended = stage.resume(&ended);
    assert_eq!(state(&ended, "p"), Failed);
    assert!(step(&ended, "p").error.as_ref().unwrap().contains(&other.to_string()));
    assert!(stage.host.sent.lock().unwrap().is_empty());
}

#[test]
fn a_server_that_is_not_there_fails_the_call_before_its_claim() {
    let stage = Stage::new();
    stage.host.on_connect("slack", |_, _| Answer::Failed("exited with 1"));
    let parked = stage.run("then:\n  p: slack.post {}\n");
    let row = only(&parked);
    stage.approve(&row);
    let ended = stage.resume(&parked);
    assert_eq!(state(&ended, "p"), Failed);
    assert_eq!(
        step(&ended, "p").error.as_deref(),
        Some("not sent: the server slack is not there: exited with 1")
    );
    assert!(stage.store_row(&row).claim.is_none());
    assert_eq!(stage.host.calls("slack.post"), 0);
}

/// A join over a branch that nobody chose: what stands behind it does not run, and the run says so.
#[test]
fn a_join_that_a_skip_puts_out_of_reach_is_no_good_end() {
    let recipe = |k: u32| {
        format!(
            "together:\n  mail: gmail.list {{}}\n  other: cal.list {{}}\ncheck:\n  - {{mail}} is not empty\n    a: slack.search {{}}\n  \
             - {{mail}} is empty\n    b: git.get_status {{}}\nthen:\n  need: {k} of 2\n  d: tell of {{a, b}}\nthen:\n  e: \
             fs.read_file {{\"d\":\"{{d}}\"}}\n"
        )
    };
    let stage = Stage::new().answers("gmail.list", "[]");
    let ended = stage.run(&recipe(2));
    assert_eq!((state(&ended, "a"), state(&ended, "b")), (Skipped, Done));
    assert_eq!((state(&ended, "d"), state(&ended, "e")), (Blocked, Blocked));
    let join = ended.record().steps.iter().find(|step| step.id.ends_with("/join")).unwrap();
    assert_eq!(join.state, Failed);
    for step in ["d", "e"] {
        assert_eq!(self::step(&ended, step).cause.as_ref().unwrap().node, join.id);
    }
    assert_eq!(done(&ended).state, RunState::Failed);

    let ended = stage.run(&recipe(1));
    assert_eq!((state(&ended, "d"), state(&ended, "e")), (Done, Done));
    assert_eq!(done(&ended).state, RunState::Done, "a skip alone is no failure");
}
