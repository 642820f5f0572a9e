//! Drivers that lose their run, and what their calls may still do.

use std::sync::Arc;

use crossbeam::channel::{Receiver, Sender, bounded};
use plangate_approval::StepState::*;
use plangate_approval::storage::Storage;
use plangate_approval::{Outcome, Permit, RowState, RunState, StoreError};
use plangate_executor::{Cancel, Executor, Options, ReadError, RunError, Tools};
use plangate_graph::{Digest, ReadCall, Value};

use crate::stage::*;

/// Stops between the claim and the first byte until it is told to go on.
struct Stopped {
    here: Sender<()>,
    go: Receiver<()>,
}

impl Tools for Stopped {
    fn definition(&self, server: &str, tool: &str) -> Option<Digest> {
        catalog().digest(server, tool)
    }
    fn read(&self, _: ReadCall<'_>, _: &Cancel) -> Result<Value, ReadError> {
        Ok(Value::Null)
    }
    fn effect(&self, permit: Permit, _: &Cancel) -> Outcome {
        self.here.send(()).unwrap();
        self.go.recv().unwrap();
        match permit.spend() {
            Ok(_) => Outcome::Ok("sent".into()),
            Err(lapsed) => Outcome::NotSent(lapsed.to_string()),
        }
    }
}

#[test]
fn a_claimer_that_slept_past_its_lease_sends_nothing() {
    let stage = Stage::new();
    let parked = stage.run("then:\n  p: slack.post {}\n");
    let row = only(&parked);
    stage.approve(&row);
    let run = parked.record().run.clone();
    let (here, there) = bounded(0);
    let (go, gone) = bounded(0);
    let first = {
        let tools = Arc::new(Stopped { here, go: gone });
        let executor = Executor::new(stage.store.clone(), tools, None, Options::default());
        let run = run.clone();
        std::thread::spawn(move || executor.resume(&run, None))
    };
    there.recv().unwrap();
    stage.clock.advance_ms(31_000);
    // Another takes the run: the call is uncertain, and nobody may say yet that it did not happen.
    let ended = stage.resume(&parked);
    let uncertain = only(&ended);
    assert_eq!(uncertain.state, RowState::Uncertain);
    assert!(matches!(settle(&*stage.store, &uncertain, false, None), Err(StoreError::InFlight { .. })));
    go.send(()).unwrap();
    assert_eq!(first.join().unwrap().unwrap_err(), RunError::LeaseLost(run.clone()));
    // What the first saw is recorded all the same: it was not sent.
    let ended = stage.resume(&ended);
    assert_eq!(state(&ended, "p"), Failed);
    assert!(
        step(&ended, "p").error.as_ref().unwrap().starts_with("not sent"),
        "{:?}",
        step(&ended, "p").error
    );
    assert_eq!(stage.host.calls("slack.post"), 0);
}

#[test]
fn a_driver_that_lost_its_run_starts_nothing_more() {
    let (here, there) = bounded(2);
    let (go, gone) = bounded::<()>(0);
    let stage = Arc::new(Stage::new().on("gmail.list", move |_, _| {
        here.send(()).unwrap();
        gone.recv().unwrap();
        Answer::Ok(json("1"))
    }));
    let first = {
        let stage = Arc::clone(&stage);
        std::thread::spawn(move || {
            let plan = plan("together:\n  a: gmail.list {}\nthen:\n  b: cal.list {\"a\":\"{a}\"}\n");
            stage.executor().run(&plan, start("{}"))
        })
    };
    there.recv().unwrap();
    let run = stage.store_runs()[0].id.clone();
    stage.clock.advance_ms(31_000);
    let holder = stage.store.holder().unwrap();
    let lease = stage.store.lease(&run, &holder).unwrap();
    go.send(()).unwrap();
    assert_eq!(first.join().unwrap().unwrap_err(), RunError::LeaseLost(run.clone()));
    assert_eq!(stage.host.calls("cal.list"), 0);
    assert_eq!(stage.store.run(&run).unwrap().fence, 2);
    drop(lease);
    stage.store.kill(&holder);
    // The read that was lost runs again.
    let second = {
        let stage = Arc::clone(&stage);
        let run = run.clone();
        std::thread::spawn(move || stage.executor().resume(&run, None).unwrap())
    };
    go.send(()).unwrap();
    let ended = second.join().unwrap();
    assert_eq!(done(&ended).state, RunState::Done);
    assert_eq!((stage.host.calls("gmail.list"), stage.host.calls("cal.list")), (2, 1));
}

/// Two gates, two people: the second decides just as the first driver is about to park.
#[test]
fn a_decision_at_the_moment_of_parking_is_not_lost() {
    for _ in 0..50 {
        let stage = Stage::new();
        let parked = stage.run("together:\n  a: slack.post {}\n  b: gmail.send {}\n");
        let [a, b] = waiting(&parked).try_into().unwrap();
        stage.approve(&a);
        let run = &parked.record().run;
        let drive = |stage: &Stage| match stage.executor().resume(run, None) {
            Ok(_) | Err(RunError::Busy { .. }) => {}
            Err(other) => panic!("{other}"),
        };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                stage.approve(&b);
                drive(&stage);
            });
            drive(&stage);
        });
        assert_eq!(stage.executor().record(run).unwrap().state, RunState::Done);
        assert_eq!((stage.host.calls("slack.post"), stage.host.calls("gmail.send")), (1, 1));
    }
}
