//! Workers, caps, one worker, observers, threads that end.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier};

use plangate_approval::StepState::*;
use plangate_approval::memory::MemoryStore;
use plangate_approval::storage::Storage;
use plangate_approval::{RowState, RunState};

use crate::stage::*;

/// Counts how many are inside at once.
#[derive(Default)]
struct Inside {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Inside {
    fn visit(&self, what: impl FnOnce()) {
        let now = self.now.fetch_add(1, SeqCst) + 1;
        self.most.fetch_max(now, SeqCst);
        what();
        self.now.fetch_sub(1, SeqCst);
    }
}

#[test]
fn a_cap_holds_for_its_server_alone() {
    let (capped, free) = (Arc::new(Inside::default()), Arc::new(Inside::default()));
    // Two at a time to the capped server; all four of the other must meet, whatever the capped ones do.
    let (pairs, four) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(4)));
    let (inside, meet) = (Arc::clone(&capped), pairs);
    let (other, all) = (Arc::clone(&free), four);
    let mut stage = Stage::new()
        .on("gmail.list", move |_, _| {
            inside.visit(|| {
                meet.wait();
            });
            Answer::Ok(json("1"))
        })
        .on("cal.list", move |_, _| {
            other.visit(|| {
                all.wait();
            });
            Answer::Ok(json("1"))
        });
    stage.options.caps.insert("gmail".to_owned(), 2);
    let mut recipe = "together:\n".to_owned();
    for i in 0..6 {
        recipe.push_str(&format!("  g{i}: gmail.list {{\"n\":{i}}}\n"));
    }
    for i in 0..4 {
        recipe.push_str(&format!("  c{i}: cal.list {{\"n\":{i}}}\n"));
    }
    assert_eq!(done(&stage.run(&recipe)).state, RunState::Done);
    assert_eq!((capped.most.load(SeqCst), free.most.load(SeqCst)), (2, 4));
}

/// A place at a server is given back however its call ends.
#[test]
fn a_call_that_ends_badly_keeps_no_place() {
    for bad in [Bad::Fails, Bad::Panics, Bad::TimesOut] {
        let mut stage = Stage::new().on("gmail.list", move |args, cancel| {
            let first = args.member("n").map(plangate_graph::Value::to_string).as_deref() == Some("1");
            match bad {
                _ if !first => Answer::Ok(json("1")),
                Bad::Fails => Answer::Failed("no"),
                Bad::Panics => panic!("oh"),
                Bad::TimesOut => {
                    let (stop, stopped) = crossbeam::channel::bounded(1);
                    cancel.on_cancel(move || stop.send(()).unwrap());
                    stopped.recv().unwrap();
                    Answer::Failed("stopped")
                }
            }
        });
        stage.options.caps.insert("gmail".to_owned(), 1);
        let timeout = if bad == Bad::TimesOut { "    timeout: 200ms\n" } else { "" };
        let ended = stage.run(&format!(
            "together:\n  a: gmail.list {{\"n\":1}}\n{timeout}  b: gmail.list {{\"n\":2}}\n  c: gmail.list {{\"n\":3}}\n"
        ));
        let a = if bad == Bad::TimesOut { "timed_out" } else { "failed" };
        assert_eq!(states(&ended), format!("a {a}, b done, c done"), "{bad:?}");
        assert_eq!(stage.host.calls("gmail.list"), 3, "each was made once: {bad:?}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bad {
    Fails,
    Panics,
    TimesOut,
}

#[test]
fn one_worker_is_enough_for_anything() {
    let inside = Arc::new(Inside::default());
    let visited = Arc::clone(&inside);
    let mut stage = Stage::new().on("fs.read_file", move |_, _| {
        visited.visit(|| ());
        Answer::Ok(json("1"))
    });
    stage.options.workers = Some(1);
    stage.options.caps.insert("fs".to_owned(), 1);
    let ended = stage.run(
        "together:\n  a: fs.read_file {\"a\":1}\n  b: fs.read_file {\"b\":1}\n  c: fs.read_file {\"c\":1}\nthen:\n  need: 2 of \
         3\n  s: tell of {a, b, c}\n  d: fs.read_file {\"s\":\"{s}\"}\nthen:\n  e: fs.read_file {\"d\":\"{d}+{a}\"}\n",
    );
    assert_eq!(done(&ended).state, RunState::Done);
    assert_eq!(inside.most.load(SeqCst), 1);
    assert_eq!(step(&ended, "e").arguments, Some(json(r#"{"d":"1+1"}"#)));
}

#[test]
fn a_failing_sibling_stops_nobody() {
    let failed = Arc::new(Barrier::new(3));
    let (one, two) = (Arc::clone(&failed), Arc::clone(&failed));
    let stage = Stage::new()
        .on("gmail.list", move |_, _| {
            failed.wait();
            Answer::Failed("at once")
        })
        .on("cal.list", move |_, _| {
            one.wait();
            Answer::Ok(json("1"))
        })
        .on("slack.search", move |_, _| {
            two.wait();
            Answer::Ok(json("1"))
        });
    let ended = stage.run("together:\n  a: gmail.list {}\n  b: cal.list {}\n  c: slack.search {}\n");
    assert_eq!(states(&ended), "a failed, b done, c done");
}

#[test]
fn a_sibling_in_flight_is_drained_and_recorded_before_the_run_parks() {
    let stage = Stage::new().on("gmail.list", |_, _| Answer::Ok(json("\"late\"")));
    let parked = stage.run("together:\n  p: slack.post {}\n  slow: gmail.list {}\nthen:\n  both: jira.create {\"a\":\"{p}\",\"b\":\"{slow}\"}\n");
    assert_eq!((state(&parked, "slow"), stage.host.calls("gmail.list")), (Done, 1));
    stage.approve(&only(&parked));
    let parked = stage.resume(&parked);
    assert_eq!(only(&parked).call.unwrap().args, br#"{"a":{"from":"slack.post"},"b":"late"}"#);
    assert_eq!((stage.host.calls("gmail.list"), stage.host.calls("slack.post")), (1, 1));
}

/// The same of a call that changes something: it goes on while the gate beside it waits, and is recorded before the run is
/// laid down.
#[test]
fn an_effect_under_way_is_recorded_before_the_run_parks() {
    let store = Arc::new(std::sync::OnceLock::<Arc<MemoryStore>>::new());
    let seen = Arc::clone(&store);
    let stage = Stage::new().on("slack.post", move |_, _| {
        while !seen.wait().rows(None).unwrap().iter().any(|row| row.state == RowState::Pending) {
            std::thread::yield_now();
        }
        Answer::Ok(json("\"posted\""))
    });
    store.set(Arc::clone(&stage.store)).unwrap();
    let allow = "[[allow]]\nserver = \"slack\"\ntool = \"post\"\ndefinition = \"any\"\nreason = \"test\"\n";
    let recipe = "together:\n  q: gmail.send {}\n  p: slack.post {}\nthen:\n  both: fs.read_file {\"q\":\"{q}\",\"p\":\"{p}\"}\n";
    let plan = plan_with(recipe, &catalog(), &plangate_graph::Policy::from_toml(allow).unwrap());
    let parked = stage.executor().run(&plan, start("{}")).unwrap();
    assert_eq!(states(&parked), "q/gate pending, q waiting, p done, both waiting");
    let kinds: Vec<String> =
        stage.store.events(0).unwrap().iter().map(|e| json(&e.what).to_string()).collect();
    let at =
        |kind: &str| kinds.iter().position(|what| what.contains(&format!("\"kind\":\"{kind}\""))).unwrap();
    assert!(at("asked") < at("outcome") && at("outcome") < at("parked"), "{kinds:#?}");
    stage.approve(&only(&parked));
    let ended = stage.resume(&parked);
    assert_eq!(step(&ended, "both").arguments, Some(json(r#"{"p":"posted","q":{"from":"gmail.send"}}"#)));
    assert_eq!((done(&ended).state, stage.host.calls("slack.post")), (RunState::Done, 1));
}

#[test]
fn the_observer_sees_each_change_in_order() {
    let seen = Arc::new(Seen::default());
    let mut stage = Stage::new().fails("cal.list", "down");
    stage.options.observer = Some(seen.clone());
    let parked = stage
        .run("together:\n  a: cal.list {}\nthen:\n  b: fs.read_file {\"a\":\"{a}\"}\n  p: slack.post {}\n");
    let of = |id: &str| -> Vec<_> {
        seen.0.lock().unwrap().iter().filter(|(node, _)| node == id).map(|(_, state)| *state).collect()
    };
    assert_eq!((of("a"), of("b")), (vec![Running, Failed], vec![Blocked]));
    assert_eq!(of("p"), vec![Blocked]);
    assert_eq!(done(&parked).state, RunState::Failed);
    seen.0.lock().unwrap().clear();
    let parked = stage.run("then:\n  p: slack.post {}\n");
    stage.approve(&only(&parked));
    stage.resume(&parked);
    let all = seen.0.lock().unwrap().clone();
    let expected = [("p/gate", Pending), ("p", Running), ("p", Done)];
    assert_eq!(all, expected.map(|(node, state)| (node.to_owned(), state)));
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, |tasks| {
        tasks
            .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
            .filter(|name| name.trim() == "plangate-size")
            .count()
    })
}

#[test]
fn no_thread_is_left_when_a_run_returns() {
    // Threads of this run alone carry the name that its first read gives them.
    let stage = Stage::new().on("fs.read_file", |_, _| {
        std::fs::write("/proc/thread-self/comm", "plangate-size").unwrap();
        Answer::Ok(json("1"))
    });
    let mut recipe = "together:\n".to_owned();
    for i in 0..8 {
        recipe.push_str(&format!("  r{i}: fs.read_file {{\"n\":{i}}}\n"));
    }
    stage.run(&recipe);
    assert_eq!(stage.host.calls("fs.read_file"), 8);
    assert_eq!(threads(), 0);
}

#[test]
fn a_record_is_written_and_read_as_json() {
    let stage = Stage::new().answers("gmail.list", r#"{"n":1.10,"big":12345678901234567890123}"#);
    let parked =
        stage.run("together:\n  mail: gmail.list {\"q\":1e2}\nthen:\n  p: slack.post {\"m\":\"{mail.n}\"}\n");
    let record = parked.record();
    let text = record.to_json().unwrap();
    assert_eq!(&serde_json::from_str::<plangate_executor::Record>(&text).unwrap(), record);
    assert!(text.contains("1e2") && text.contains("1.10") && text.contains("12345678901234567890123"));
    assert!(text.find("\"run\"").unwrap() < text.find("\"steps\"").unwrap());
    let mail = step(&parked, "mail");
    assert!(mail.started <= mail.ended && mail.queued <= mail.started && mail.ended.unwrap() <= record.wall);
    assert_eq!((mail.attempts, mail.drive), (1, Some(1)));
    assert!(record.critical_path.ms <= record.sum && record.sum <= record.wall);
}

#[test]
fn time_that_people_took_is_outside_the_wall() {
    let stage = Stage::new();
    let parked = stage.run("then:\n  p: slack.post {}\n");
    stage.clock.advance_ms(600_000);
    stage.approve(&only(&parked));
    stage.clock.advance_ms(5_000);
    let ended = stage.resume(&parked);
    let record = done(&ended);
    assert!((599_000..=600_000).contains(&record.waited_for_people), "{}", record.waited_for_people);
    assert!(record.wall < 60_000);
    assert_eq!(step(&ended, "p").drive, Some(2));
}

/// Holds whoever tells that this node has come so far, until so many others are inside.
struct Holds {
    node: &'static str,
    state: plangate_approval::StepState,
    inside: crossbeam::channel::Receiver<()>,
    others: usize,
    in_time: std::sync::atomic::AtomicBool,
}

impl plangate_executor::Observer for Holds {
    fn changed(&self, change: &plangate_executor::Change<'_>) {
        if (change.node, change.state) == (self.node, self.state) {
            let met = (0..self.others)
                .all(|_| self.inside.recv_timeout(std::time::Duration::from_secs(60)).is_ok());
            self.in_time.store(met, SeqCst);
        }
    }
}

/// The thread that called hands out the reads, and then asks for the gate, which may take as long as it likes.
#[test]
fn reads_run_side_by_side_while_the_steward_is_held_up() {
    let (inside, tells) = crossbeam::channel::unbounded();
    let both = Arc::new(Barrier::new(2));
    let mut stage = Stage::new().on("cal.list", move |_, _| {
        inside.send(()).unwrap();
        both.wait();
        Answer::Ok(json("1"))
    });
    let in_time = std::sync::atomic::AtomicBool::new(false);
    let holds = Arc::new(Holds { node: "p/gate", state: Pending, inside: tells, others: 2, in_time });
    stage.options.observer = Some(holds.clone());
    let parked =
        stage.run("together:\n  a: cal.list {\"n\":1}\n  b: cal.list {\"n\":2}\n  p: slack.post {}\n");
    assert_eq!(states(&parked), "a done, b done, p/gate pending, p waiting");
    assert!(holds.in_time.load(SeqCst), "the second read waited for the gate to be asked");
}
