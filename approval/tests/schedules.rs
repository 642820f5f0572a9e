//! Drivers, approvers, a canceller and somebody who settles, under thousands of schedules that a scheduler chooses.
//!
//! A verb of the store is one step; between two verbs anything may come. What must hold is said once, in `World::judge`.
//! The last tests play drivers that are wrong in one place each, so that it is known that the schedules find it.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "tests fail by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize as Count, Ordering::SeqCst};

use plangate_approval::row::{RowCall, Settled};
use plangate_approval::storage::{LeaseAnswer, ParkAnswer, Settlement};
use plangate_approval::{
    Approvals, Ask, Clock, Decision, Lease, MemoryStore, NewRun, Outcome, Person, Row, RowId, RowState,
    RunId, RunState, StepState, StepWrite, Storage, StoreError, Time, audit,
};
use plangate_graph::policy::Terms;
use plangate_graph::{Digest, Value};
use shuttle::rand::{Rng as _, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::sync::atomic::AtomicUsize;
use shuttle::{Config, FailurePersistence, Runner, thread};

/// How many schedules: in full where `PLANGATE_FULL` says so.
fn schedules() -> usize {
    if std::env::var_os("PLANGATE_FULL").is_some() { 20_000 } else { 1_000 }
}

/// Runs a scene under the schedules of this scheduler. A verb needs more stack than such threads have by themselves.
fn under(scheduler: impl Scheduler + 'static, scene: fn()) {
    let mut config = Config::new();
    config.stack_size = 1 << 20;
    // Ids are random and no schedule hangs on them; a schedule that fails is printed.
    config.failure_persistence = FailurePersistence::Print;
    Runner::new(scheduler, config).run(scene);
}

/// Both ways of choosing: any thread at each step, and threads by priorities that change at few places.
fn under_all(scene: fn()) {
    under(RandomScheduler::new(schedules()), scene);
    for depth in [2, 3, 5] {
        under(PctScheduler::new(depth, schedules() / 3), scene);
    }
}

/// A clock that stands until it is moved; both of its readings.
#[derive(Debug, Default)]
struct Standing(AtomicI64);

impl Clock for Standing {
    fn now(&self) -> Time {
        Time(self.0.load(SeqCst))
    }
    fn steady(&self) -> i64 {
        self.0.load(SeqCst)
    }
}

/// What a driver does wrong, where it does anything wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// It reads `wake` again just before it parks, when it has looked already.
    ReadsWakeLate,
    /// It sends what it saw approved, and claims afterwards.
    SendsBeforeItClaims,
    /// It makes the call by bytes that it kept, however long ago its permit ended.
    IgnoresTheEndOfItsPermit,
}

struct World {
    approvals: Approvals<MemoryStore>,
    clock: Arc<Standing>,
    /// A place where another thread may come in.
    switch: AtomicUsize,
    run: RunId,
    row: RowId,
    seen: Digest,
    sent: Count,
    /// Drivers that died on the way.
    died: Count,
    mortal: bool,
    fault: Fault,
}

fn person(name: &str) -> Person {
    Person { issuer: "os".into(), subject: name.into(), roles: Vec::new(), verified: true }
}

fn step(state: StepState) -> StepWrite {
    StepWrite { node: "post".into(), state, detail: (*b"{}").into() }
}

fn definition() -> Digest {
    Digest::of(b"definition")
}

impl World {
    /// A run with a row that waits, and the lease of its driver, which is about to look.
    fn new(mortal: bool, fault: Fault) -> (Arc<World>, Lease) {
        let clock = Arc::new(Standing::default());
        let store = MemoryStore::with_clock(clock.clone()).unwrap();
        let new = NewRun {
            id: RunId::random().unwrap(),
            plan: b"{}".to_vec().into(),
            catalog: b"{}".to_vec().into(),
            policy: b"".to_vec().into(),
            inputs: b"{}".to_vec(),
            requester: person("ann"),
            author: "person".into(),
            title: "a run".into(),
            hold_siblings: false,
        };
        let lease = store.start(&new, &store.holder().unwrap()).unwrap();
        let approvals = Approvals::new(store);
        let ask = Ask {
            node: "post/gate".into(),
            ask: 0,
            call: Some(RowCall {
                node: "post".into(),
                server: "slack".into(),
                origin: None,
                tool: "post".into(),
                definition: definition(),
                args: b"{}".to_vec(),
                timeout_ms: 60_000,
            }),
            question: None,
            reason: Vec::new(),
            policy: Digest::of(b""),
            terms: Terms::default(),
        };
        let row = approvals.ask(&lease, &ask, &[step(StepState::Waiting)]).unwrap();
        let world = World {
            approvals,
            clock,
            switch: AtomicUsize::new(0),
            run: new.id,
            row: row.id,
            seen: row.digest,
            sent: Count::new(0),
            died: Count::new(0),
            mortal,
            fault,
        };
        (Arc::new(world), lease)
    }

    /// The store, after whatever comes in between.
    fn store(&self) -> &MemoryStore {
        self.between();
        self.approvals.store()
    }

    fn between(&self) {
        self.switch.fetch_add(1, SeqCst);
    }

    /// Whether the process of this driver is killed here.
    fn dies(&self, lease: &Lease) -> bool {
        let dies = self.mortal && thread_rng().gen_range(0..8) == 0;
        if dies {
            self.approvals.store().kill(&lease.holder);
            self.died.fetch_add(1, SeqCst);
        }
        dies
    }

    /// Somebody says yes, and takes the run up if nobody drives it.
    fn approve(&self, who: &str) {
        self.between();
        let by = person(who);
        let yes = Decision { row: self.row.clone(), seen: self.seen, by, yes: true, reason: None };
        match self.approvals.decide(&yes) {
            Ok(row) => assert_eq!(row.decided_by.as_deref(), Some(format!("os:{who}").as_str())),
            Err(StoreError::Decided { state, at: Some(_), .. }) => assert_ne!(state, RowState::Rejected),
            Err(StoreError::Cancelled) => {}
            Err(other) => panic!("{other:?}"),
        }
        self.take_up();
    }

    fn take_up(&self) {
        let holder = self.store().holder().unwrap();
        match self.store().lease(&self.run, &holder).unwrap() {
            LeaseAnswer::Taken(lease) => self.drive(lease),
            // Its driver will look again; the others are told what became of it.
            LeaseAnswer::Busy { .. } | LeaseAnswer::Ended(_) => {}
        }
    }

    fn cancel(&self) {
        self.store().cancel(&self.run, &person("carol"), None).unwrap();
    }

    /// Somebody who knows what was sent looks at the row, and says so if it is uncertain.
    fn settle(&self) -> bool {
        let row = self.store().row(&self.row).unwrap();
        if row.state != RowState::Uncertain {
            return false;
        }
        let happened = self.sent.load(SeqCst) > 0;
        let settled = Settled { by: person("dan"), happened, value: None, note: None, at: Time::default() };
        let word = Settlement { claim: row.claim.unwrap(), settled };
        match self.store().settle(&self.row, &word) {
            Ok(_) => true,
            Err(StoreError::InFlight { .. } | StoreError::NotNow(_) | StoreError::Decided { .. }) => false,
            Err(other) => panic!("{other:?}"),
        }
    }

    /// A driver: looks, makes the call if it is approved, and lays the run down.
    fn drive(&self, mut lease: Lease) {
        loop {
            if self.dies(&lease) {
                return;
            }
            // `wake` as it was before looking.
            lease = match self.store().renew(&lease) {
                Ok(lease) => lease,
                Err(StoreError::LeaseLost(_)) => return,
                Err(other) => panic!("{other:?}"),
            };
            let row = self.store().row(&self.row).unwrap();
            let laid_down = match row.state {
                _ if lease.cancelled => self.store().end(&lease, RunState::Cancelled, None),
                RowState::Approved => {
                    if self.call(&lease, &row) {
                        return;
                    }
                    continue;
                }
                RowState::Pending | RowState::Claimed | RowState::Uncertain => {
                    if self.fault == Fault::ReadsWakeLate {
                        lease = self.store().renew(&lease).unwrap();
                    }
                    self.store().park(&lease)
                }
                _ => self.store().end(&lease, RunState::Done, None),
            };
            match laid_down {
                Ok(ParkAnswer::Released) | Err(StoreError::LeaseLost(_)) => return,
                Ok(ParkAnswer::LookAgain(newer)) => lease = newer,
                Err(StoreError::Cancelled) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
    }

    /// Claims, sends, records. Whether the driver died.
    fn call(&self, lease: &Lease, row: &Row) -> bool {
        if self.fault == Fault::SendsBeforeItClaims {
            self.between();
            self.sent.fetch_add(1, SeqCst);
        }
        self.between();
        let permit = match self.approvals.claim(lease, row, definition(), &step(StepState::Running)) {
            Ok(permit) => permit,
            Err(StoreError::LeaseLost(_) | StoreError::Cancelled | StoreError::NotNow(_)) => return false,
            Err(other) => panic!("{other:?}"),
        };
        let claim = permit.claim().clone();
        if self.dies(lease) {
            return true;
        }
        self.between();
        // No switch between the look at the permit and the first byte: that is the claimer's own last instruction.
        let outcome = match permit.spend() {
            Err(_) if self.fault != Fault::IgnoresTheEndOfItsPermit => Outcome::NotSent("too late".into()),
            _ => {
                if self.fault != Fault::SendsBeforeItClaims {
                    self.sent.fetch_add(1, SeqCst);
                }
                Outcome::Ok(Value::Null)
            }
        };
        if self.dies(lease) {
            return true;
        }
        let state = if matches!(outcome, Outcome::Ok(_)) { StepState::Done } else { StepState::Failed };
        self.between();
        self.approvals.outcome(&claim, &outcome, &step(state)).unwrap();
        false
    }

    /// What must hold when everybody is done.
    fn judge(&self) {
        let store = self.approvals.store();
        let row = store.row(&self.row).unwrap();
        let run = store.run(&self.run).unwrap();
        let sent = self.sent.load(SeqCst);
        let told = format!("sent {sent} times, and the row is {}", row.state);
        assert!(sent <= 1, "{told}");
        match row.state {
            RowState::Succeeded | RowState::Happened => assert_eq!(sent, 1, "{told}"),
            RowState::Failed | RowState::DidNot | RowState::Cancelled => assert_eq!(sent, 0, "{told}"),
            other => panic!("left lying: {other}, the run is {:?}", run.state),
        }
        assert!(run.state.ended(), "left lying: the run is {:?}, its row {}", run.state, row.state);
        let events = store.events(0).unwrap();
        let count = |kind: &str| {
            let kind = format!("\"kind\":\"{kind}\"");
            events.iter().filter(|e| e.what.contains(&kind) && e.what.contains(&self.row.0)).count()
        };
        assert!(count("approved") <= 1 && count("claimed") <= 1 && count("outcome") <= 1);
        assert!(count("outcome") + count("settled") + count("cancelled") >= 1);
        assert!(count("cancelled") == 0 || count("claimed") == 0, "cancelled or claimed, never both");
        audit::verify(store, None).unwrap();
    }
}

type Part = Box<dyn FnOnce(&World) + Send>;

/// All parts at once, and the driver that is about to park.
fn together(mortal: bool, fault: Fault, parts: Vec<Part>) -> Arc<World> {
    let (world, lease) = World::new(mortal, fault);
    let driver = {
        let world = Arc::clone(&world);
        thread::spawn(move || world.drive(lease))
    };
    let others: Vec<_> = parts
        .into_iter()
        .map(|part| {
            let world = Arc::clone(&world);
            thread::spawn(move || part(&world))
        })
        .collect();
    for thread in others.into_iter().chain([driver]) {
        thread.join().unwrap();
    }
    world
}

fn approver(who: &'static str) -> Part {
    Box::new(move |world| world.approve(who))
}

/// Two say yes while a driver is about to park: sent once, and not left lying though nobody looks again.
fn two_approve() {
    together(false, Fault::None, vec![approver("bob"), approver("eve")]).judge();
}

/// And somebody cancels.
fn two_approve_and_one_cancels() {
    let cancel: Part = Box::new(World::cancel);
    together(false, Fault::None, vec![approver("bob"), approver("eve"), cancel]).judge();
}

/// Any driver may be killed anywhere. Who looks next morning finds nothing worse than uncertain.
fn drivers_die() {
    let settle: Part = Box::new(|world| {
        if world.settle() {
            world.take_up();
        }
    });
    let world = together(true, Fault::None, vec![approver("bob"), approver("eve"), settle]);
    let row = world.approvals.store().row(&world.row).unwrap();
    assert_ne!(row.state, RowState::Claimed, "nobody lives who could have it");
    if world.died.load(SeqCst) == 0 {
        return world.judge();
    }
    the_next_morning(&world);
}

fn the_next_morning(world: &World) {
    world.settle();
    // No more deaths: `dies` draws lots, so the last drive is played until one gets through.
    while !world.approvals.store().run(&world.run).unwrap().state.ended() {
        world.take_up();
        world.settle();
    }
    world.judge();
}

/// The lease runs out at any moment, another takes the run, and the word of a person comes as soon as it may.
fn a_lease_runs_out() {
    a_slow_driver(Fault::None);
}

fn a_slow_driver(fault: Fault) {
    let ticks: Part = Box::new(|world| {
        for ms in [29_999, 1, 30_000, 30_000] {
            world.between();
            world.clock.0.fetch_add(ms, SeqCst);
        }
    });
    let settle: Part = Box::new(|world| {
        for _ in 0..3 {
            if world.settle() {
                return world.take_up();
            }
        }
    });
    let world = together(false, fault, vec![approver("bob"), ticks, settle]);
    world.clock.0.fetch_add(200_000, SeqCst);
    the_next_morning(&world);
}

#[test]
fn two_approvers_and_a_driver_about_to_park() {
    under_all(two_approve);
}

#[test]
fn two_approvers_a_driver_and_a_canceller() {
    under_all(two_approve_and_one_cancels);
}

#[test]
fn drivers_that_are_killed_anywhere() {
    under_all(drivers_die);
}

#[test]
fn a_lease_that_runs_out_anywhere() {
    under_all(a_lease_runs_out);
}

#[test]
#[should_panic(expected = "left lying")]
fn a_driver_that_reads_wake_late_is_found() {
    let scene = || together(false, Fault::ReadsWakeLate, vec![approver("bob"), approver("eve")]).judge();
    under(RandomScheduler::new(20_000), scene);
}

#[test]
#[should_panic(expected = "times, and the row is")]
fn a_driver_that_sends_before_it_claims_is_found() {
    fn scene() {
        // Their leases have run out, and neither knows.
        let ticks: Part = Box::new(|world| {
            world.between();
            world.clock.0.fetch_add(30_000, SeqCst);
        });
        let parts = vec![approver("bob"), approver("eve"), ticks];
        let world = together(false, Fault::SendsBeforeItClaims, parts);
        world.clock.0.fetch_add(200_000, SeqCst);
        the_next_morning(&world);
    }
    under(RandomScheduler::new(20_000), scene);
}

#[test]
#[should_panic(expected = "the row is did_not")]
fn a_driver_that_ignores_the_end_of_its_permit_is_found() {
    under(RandomScheduler::new(50_000), || a_slow_driver(Fault::IgnoresTheEndOfItsPermit));
}
