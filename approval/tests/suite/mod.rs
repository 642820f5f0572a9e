//! What every store must do, written against `Storage` and a clock that tests set.
//!
//! A new store joins by a [`Bench`] of its own and one line in `stores.rs`.

pub mod claims;
pub mod edits;
pub mod leases;
pub mod log;
pub mod model;
pub mod outcomes;
pub mod races;
pub mod reconciled;
pub mod reference;
pub mod repeats;
pub mod rows;
pub mod shown;
pub mod time;
mod unclear;
pub mod votes;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use plangate_approval::run::LEASE_MS;
use plangate_approval::storage::{LeaseAnswer, ParkAnswer, Settlement};
use plangate_approval::{
    Approvals, Ask, Clock, Decision, Edit, Holder, Lease, NewRun, Outcome, Permit, Person, Row, RowId,
    RowState, RunId, RunState, StepState, StepWrite, Storage, StoreError, Time,
};
use plangate_graph::policy::Terms;
use plangate_graph::{Digest, Value};

/// A store under test.
pub trait Bench {
    /// A handle on the store: the same store each time, a new handle where it has several.
    fn handle(&self) -> Arc<dyn Storage>;
    /// Its clock.
    fn clock(&self) -> Arc<TestClock>;
    /// A holder whose process can be killed.
    fn mortal(&self) -> Mortal;
}

/// A holder, and what kills its process.
pub struct Mortal {
    pub holder: Holder,
    pub kill: Box<dyn FnOnce() + Send>,
}

/// A clock that stands still unless it is moved.
#[derive(Debug)]
pub struct TestClock {
    now: AtomicI64,
    steady: AtomicI64,
}

impl TestClock {
    pub const START: i64 = 1_790_000_000_000;

    pub fn new() -> Arc<TestClock> {
        Arc::new(TestClock { now: AtomicI64::new(TestClock::START), steady: AtomicI64::new(1_000) })
    }

    /// Time passes.
    pub fn pass(&self, ms: i64) {
        self.now.fetch_add(ms, Ordering::SeqCst);
        self.steady.fetch_add(ms, Ordering::SeqCst);
    }

    /// Somebody sets the wall clock.
    pub fn set(&self, ms_from_start: i64) {
        self.now.store(TestClock::START + ms_from_start, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Time {
        Time(self.now.load(Ordering::SeqCst))
    }

    fn steady(&self) -> i64 {
        self.steady.load(Ordering::SeqCst)
    }
}

/// A moment after the start of the test clock.
pub fn at(ms: i64) -> Time {
    Time(TestClock::START + ms)
}

/// A store with a run in it that is driven.
pub struct World {
    pub store: Arc<dyn Storage>,
    pub approvals: Approvals<Arc<dyn Storage>>,
    pub clock: Arc<TestClock>,
    pub holder: Holder,
    pub lease: Lease,
}

pub const ARGS: &str = r##"{"channel":"#daily","text":"1e2 and 1.10"}"##;

pub fn definition() -> Digest {
    Digest::of(b"the definition of slack.post")
}

pub fn person(name: &str) -> Person {
    Person { issuer: "os".into(), subject: name.into(), roles: Vec::new(), verified: true }
}

pub fn with_roles(name: &str, roles: &[&str]) -> Person {
    Person { roles: roles.iter().map(|r| (*r).to_owned()).collect(), ..person(name) }
}

pub fn step(node: &str, state: StepState) -> StepWrite {
    StepWrite { node: node.into(), state, detail: (*b"{}").into() }
}

pub fn new_run(id: &RunId) -> NewRun {
    NewRun {
        id: id.clone(),
        plan: b"{\"format\":\"actions/1\"}".to_vec().into(),
        catalog: b"{\"servers\":{}}".to_vec().into(),
        policy: b"".to_vec().into(),
        inputs: b"{\"channel\":\"#daily\"}".to_vec(),
        requester: person("ann"),
        author: "person".into(),
        title: "morning".into(),
        hold_siblings: false,
    }
}

/// What is asked of a node: a call of `slack.post`, or a question without one.
pub fn post(node: &str, ask: u32) -> Ask {
    Ask {
        node: format!("{node}/gate"),
        ask,
        call: Some(plangate_approval::row::RowCall {
            node: node.into(),
            server: "slack".into(),
            origin: Some("slack-server --stdio".into()),
            tool: "post".into(),
            definition: definition(),
            args: ARGS.as_bytes().to_vec(),
            timeout_ms: 60_000,
        }),
        question: Some("post to #daily?".into()),
        reason: vec!["sends (name verb \"post\")".into()],
        policy: Digest::of(b""),
        terms: Terms::default(),
    }
}

pub fn question(node: &str) -> Ask {
    Ask { node: node.into(), call: None, ..post(node, 0) }
}

pub fn under(terms: Terms) -> Ask {
    Ask { terms, ..post("post", 0) }
}

impl World {
    pub fn new(bench: &dyn Bench) -> World {
        World::of(bench, |_| {})
    }

    /// A run that is made differently.
    pub fn of(bench: &dyn Bench, change: impl FnOnce(&mut NewRun)) -> World {
        World::on(bench.handle(), bench.clock(), change)
    }

    /// A run through a handle that is open already.
    pub fn on(store: Arc<dyn Storage>, clock: Arc<TestClock>, change: impl FnOnce(&mut NewRun)) -> World {
        let holder = store.holder().unwrap();
        let mut new = new_run(&RunId::random().unwrap());
        change(&mut new);
        let lease = store.start(&new, &holder).unwrap();
        World { approvals: Approvals::new(Arc::clone(&store)), store, clock, holder, lease }
    }

    pub fn run(&self) -> &RunId {
        &self.lease.run
    }

    pub fn ask(&self, ask: &Ask) -> Row {
        self.try_ask(ask).unwrap()
    }

    pub fn try_ask(&self, ask: &Ask) -> Result<Row, StoreError> {
        let steps = [step(&ask.node, StepState::Pending)];
        self.approvals.ask(&self.lease, ask, &steps)
    }

    pub fn asked(&self) -> Row {
        self.ask(&post("post", 0))
    }

    pub fn approved(&self) -> Row {
        let row = self.asked();
        self.vote(&row, "bob", true).unwrap()
    }

    pub fn vote(&self, row: &Row, who: &str, yes: bool) -> Result<Row, StoreError> {
        self.decide(row, &person(who), yes)
    }

    pub fn decide(&self, row: &Row, by: &Person, yes: bool) -> Result<Row, StoreError> {
        self.approvals.decide(&decision(row, by, yes))
    }

    pub fn claim(&self, row: &Row) -> Result<Permit, StoreError> {
        let node = row.call.as_ref().map_or("post", |call| call.node.as_str());
        self.approvals.claim(&self.lease, row, definition(), &step(node, StepState::Running))
    }

    /// A row whose call is under way, and its permit.
    pub fn claimed(&self) -> (Row, Permit) {
        let row = self.approved();
        let permit = self.claim(&row).unwrap();
        (self.row(&row.id), permit)
    }

    pub fn outcome(&self, permit: &plangate_approval::Claim, outcome: &Outcome) -> Result<Row, StoreError> {
        let state = match outcome {
            Outcome::Ok(_) => StepState::Done,
            Outcome::Failed(_) | Outcome::NotSent(_) => StepState::Failed,
            Outcome::Unknown(_) => StepState::Uncertain,
        };
        self.approvals.outcome(permit, outcome, &step("post", state))
    }

    pub fn settle(&self, row: &Row, happened: bool) -> Result<Row, StoreError> {
        self.approvals.settle(&row.id, &settlement(row, happened, None))
    }

    pub fn row(&self, id: &RowId) -> Row {
        self.store.row(id).unwrap()
    }

    pub fn state(&self, row: &Row) -> RowState {
        self.row(&row.id).state
    }

    pub fn step_state(&self, node: &str) -> Option<StepState> {
        let steps = self.store.steps(self.run()).unwrap();
        steps.into_iter().find(|step| *step.node == *node).map(|step| step.state)
    }

    /// The lease as it would be read now.
    pub fn renew(&mut self) {
        self.lease = self.store.renew(&self.lease).unwrap();
    }

    pub fn park(&mut self) {
        self.renew();
        assert_eq!(self.store.park(&self.lease), Ok(ParkAnswer::Released));
    }

    /// Takes the run up again, as another driver would.
    pub fn take(&mut self) {
        let holder = self.store.holder().unwrap();
        self.lease = taken(self.store.lease(self.run(), &holder).unwrap());
        self.holder = holder;
    }

    /// Waits until the lease has run out, and takes the run up again.
    pub fn take_after_lease(&mut self) {
        self.clock.pass(AFTER_LEASE);
        self.take();
    }

    /// Kinds of the events about this row, or about the run where there is no row.
    pub fn kinds(&self, row: Option<&RowId>) -> Vec<String> {
        let events = self.store.events(0).unwrap();
        let whats = events.iter().map(|event| Value::parse(&event.what).unwrap());
        let row = row.map(|row| row.0.as_str());
        whats
            .filter(|what| what.member("row").and_then(Value::text) == row)
            .filter(|what| what.member("run").and_then(Value::text) == Some(self.run().0.as_str()))
            .map(|what| what.member("kind").and_then(Value::text).unwrap().to_owned())
            .collect()
    }
}

pub fn decision(row: &Row, by: &Person, yes: bool) -> Decision {
    Decision { row: row.id.clone(), seen: row.digest, by: by.clone(), yes, reason: None }
}

pub fn settlement(row: &Row, happened: bool, value: Option<Value>) -> Settlement {
    Settlement {
        claim: row.claim.clone().unwrap_or_default(),
        settled: plangate_approval::row::Settled {
            by: person("carol"),
            happened,
            value,
            note: Some("looked at the channel".into()),
            at: Time(0),
        },
    }
}

pub fn taken(answer: LeaseAnswer) -> Lease {
    match answer {
        LeaseAnswer::Taken(lease) => lease,
        other => panic!("not taken: {other:?}"),
    }
}

/// Everything past a lease's end.
pub const AFTER_LEASE: i64 = LEASE_MS + 1;

pub fn ok() -> Outcome {
    Outcome::Ok(Value::parse(r#"{"ts":1.10,"n":12345678901234567890123}"#).unwrap())
}

pub fn ended(store: &dyn Storage, run: &RunId) -> RunState {
    store.run(run).unwrap().state
}
