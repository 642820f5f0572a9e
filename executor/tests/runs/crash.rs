//! Drivers that are gone: what they claimed, and who goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use plangate_approval::run::{Holder, StepWrite};
use plangate_approval::sqlite::SqliteStore;
use plangate_approval::storage::{LeaseAnswer, Storage};
use plangate_approval::{RowState, RunState, StepState};
use plangate_executor::{Ended, Executor, Options, RunError};
use plangate_graph::Policy;

use crate::stage::*;

/// The run of a process that is gone: what was claimed is uncertain at once and is not repeated.
#[test]
fn a_claimed_call_of_a_dead_driver_is_uncertain_and_waits() {
    let stage = Stage::new();
    let parked = stage.run("then:\n  p: slack.post {}\n");
    let row = only(&parked);
    stage.approve(&row);
    // A driver that claims and dies.
    let run = parked.record().run.clone();
    let holder = stage.store.holder().unwrap();
    let LeaseAnswer::Taken(lease) = stage.store.lease(&run, &holder).unwrap() else { panic!("not taken") };
    let step = StepWrite {
        node: "p".into(),
        state: StepState::Running,
        detail: (*br#"{"drive":2,"began":0,"at":0}"#).into(),
    };
    let definition = row.call.as_ref().unwrap().definition;
    stage.store.claim(&lease, &row.id, "nonce", row.digest, definition, &step).unwrap();
    assert!(matches!(stage.executor().resume(&run, None), Err(RunError::Busy { .. })));
    assert_eq!(stage.executor().record(&run).unwrap().step("p").unwrap().state, StepState::Running);
    stage.store.kill(&holder);
    let ended = stage.executor().resume(&run, None).unwrap();
    assert_eq!(only(&ended).state, RowState::Uncertain);
    assert_eq!(state(&ended, "p"), StepState::Uncertain);
    assert_eq!(stage.host.calls("slack.post"), 0);
}

/// A read that is under way when its driver dies, under this policy; what became of it, and how often it was made.
fn read_in_flight(rules: &str) -> (Ended, usize) {
    let (here, there) = crossbeam::channel::bounded(1);
    let (release, released) = crossbeam::channel::bounded::<()>(0);
    let first = AtomicBool::new(true);
    let stage = Arc::new(Stage::new().on("gmail.list", move |_, _| {
        if first.swap(false, SeqCst) {
            here.send(()).unwrap();
            let _ = released.recv();
        }
        Answer::Ok(plangate_graph::Value::from("1"))
    }));
    let driver = {
        let stage = Arc::clone(&stage);
        let recipe = "together:\n  a: gmail.list {}\n  b: cal.list {}\n";
        let plan = plan_with(recipe, &catalog(), &Policy::from_toml(rules).unwrap());
        std::thread::spawn(move || stage.executor().run(&plan, start("{}")))
    };
    there.recv().unwrap();
    let run = stage.store_runs()[0].clone();
    stage.store.kill(&Holder(run.holder.unwrap()));
    let ended = stage.executor().resume(&run.id, None).unwrap();
    drop(release);
    assert!(matches!(driver.join().unwrap(), Err(RunError::LeaseLost(_))));
    let calls = stage.host.calls("gmail.list");
    assert_eq!(stage.resume(&ended), ended, "it has ended");
    (ended, calls)
}

#[test]
fn a_read_in_flight_runs_again_unless_policy_says_once() {
    let (ended, calls) = read_in_flight("");
    assert_eq!((states(&ended).as_str(), calls), ("a done, b done", 2));
    let (ended, calls) = read_in_flight("[[once]]\nserver = \"gmail\"\ntool = \"l*\"\n");
    assert_eq!((states(&ended).as_str(), calls), ("a failed, b done", 1));
    let error = step(&ended, "a").error.clone().unwrap();
    assert!(error.contains("may have been made; policy says once"), "{error}");
}

#[test]
fn the_embedded_store_carries_a_run_from_one_process_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let stage = Stage::new();
    let open = || Arc::new(SqliteStore::open(&path).unwrap());
    let executor =
        |store| Executor::new(store, stage.host.clone(), Some(stage.echo.clone()), Options::default());
    let parked = executor(open()).run(&plan(crate::sweep::RECIPE), start("{}")).unwrap();
    let run = parked.record().run.clone();
    let mut ended = parked;
    while let Ended::Parked { waiting, .. } = &ended {
        let store = open();
        for row in waiting {
            approve(&*store, row).unwrap();
        }
        ended = executor(store).resume(&run, None).unwrap();
    }
    assert_eq!(done(&ended).state, RunState::Done);
    let sent = |by_permit: bool| {
        stage.host.sent.lock().unwrap().iter().filter(|sent| sent.key.is_some() == by_permit).count()
    };
    assert_eq!((sent(true), sent(false)), (9, 3), "it went on where it stood: no read was made again either");
    assert_eq!(plangate_executor::Record::read(&*open(), &run).unwrap(), *ended.record());
}
