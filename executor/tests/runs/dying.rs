//! A store at one of whose verbs its process dies: before the verb is done, or before anybody hears that it is.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use plangate_approval::row::{NewRow, RowId};
use plangate_approval::run::{Holder, Lease, NewRun, StepWrite};
use plangate_approval::storage::{
    Accepted, Event, Fault, History, LeaseAnswer, ParkAnswer, Settlement, Storage,
};
use plangate_approval::{
    Clock, Decision, Edit, Outcome, Person, Reconciled, Row, Run, RunId, RunState, StoreError, Time,
};
use plangate_graph::Digest;

/// What happens to the verb at which the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It is not done.
    Before,
    /// It is done, and nobody hears of it.
    After,
}

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// Nothing reaches the store any more.
    Silence,
    /// By a signal that cannot be caught: this process is gone.
    Kill,
}

/// A store as one process has it, which dies at one of its verbs.
pub struct Dying<S> {
    store: Arc<S>,
    /// The verb it dies at, counted down; never, where it begins at zero.
    left: AtomicUsize,
    mortal: bool,
    cut: Cut,
    death: Death,
    dead: AtomicBool,
    verbs: AtomicUsize,
    holders: Mutex<Vec<Holder>>,
}

impl<S: Storage> Dying<S> {
    /// Dies at this verb, counted from one.
    pub fn at(store: &Arc<S>, verb: usize, cut: Cut, death: Death) -> Arc<Dying<S>> {
        assert!(verb > 0);
        Arc::new(Dying { left: AtomicUsize::new(verb), mortal: true, cut, death, ..Dying::bare(store) })
    }

    /// Never dies.
    pub fn never(store: &Arc<S>) -> Arc<Dying<S>> {
        Arc::new(Dying::bare(store))
    }

    fn bare(store: &Arc<S>) -> Dying<S> {
        Dying {
            store: Arc::clone(store),
            left: AtomicUsize::new(0),
            mortal: false,
            cut: Cut::Before,
            death: Death::Silence,
            dead: AtomicBool::new(false),
            verbs: AtomicUsize::new(0),
            holders: Mutex::default(),
        }
    }

    /// Whether it died.
    pub fn dead(&self) -> bool {
        self.dead.load(SeqCst)
    }

    /// How many verbs were asked for.
    pub fn verbs(&self) -> usize {
        self.verbs.load(SeqCst)
    }

    /// Who drove in this process.
    pub fn holders(&self) -> Vec<Holder> {
        self.holders.lock().unwrap().clone()
    }

    fn verb<T>(&self, verb: impl FnOnce(&S) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.verbs.fetch_add(1, SeqCst);
        if !self.mortal {
            return verb(&self.store);
        }
        let left = self.left.fetch_update(SeqCst, SeqCst, |n| Some(n.saturating_sub(1))).unwrap();
        if left == 0 || (left == 1 && self.cut == Cut::Before) {
            return self.die();
        }
        let answer = verb(&self.store);
        if left == 1 { self.die() } else { answer }
    }

    fn look<T>(&self, look: impl FnOnce(&S) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if self.dead() { Err(gone()) } else { look(&self.store) }
    }

    fn die<T>(&self) -> Result<T, StoreError> {
        self.dead.store(true, SeqCst);
        if self.death == Death::Kill {
            let own = rustix::process::getpid();
            rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
        }
        Err(gone())
    }
}

fn gone() -> StoreError {
    StoreError::Unusable { path: "nowhere".into(), fault: Fault::Io, message: "is gone".into() }
}

impl<S: Storage> Storage for Dying<S> {
    fn id(&self) -> Result<String, StoreError> {
        self.store.id()
    }
    fn now(&self) -> Time {
        self.store.now()
    }
    fn clock(&self) -> Arc<dyn Clock> {
        self.store.clock()
    }
    fn grace_ms(&self) -> i64 {
        self.store.grace_ms()
    }
    fn holder(&self) -> Result<Holder, StoreError> {
        let holder = self.look(Storage::holder)?;
        self.holders.lock().unwrap().push(holder.clone());
        Ok(holder)
    }
    fn start(&self, run: &NewRun, holder: &Holder) -> Result<Lease, StoreError> {
        self.verb(|s| s.start(run, holder))
    }
    fn lease(&self, run: &RunId, holder: &Holder) -> Result<LeaseAnswer, StoreError> {
        self.verb(|s| s.lease(run, holder))
    }
    fn renew(&self, lease: &Lease) -> Result<Lease, StoreError> {
        self.verb(|s| s.renew(lease))
    }
    fn record(&self, lease: &Lease, steps: &[StepWrite]) -> Result<Lease, StoreError> {
        self.verb(|s| s.record(lease, steps))
    }
    fn park(&self, lease: &Lease) -> Result<ParkAnswer, StoreError> {
        self.verb(|s| s.park(lease))
    }
    fn end(&self, lease: &Lease, state: RunState, reason: Option<&str>) -> Result<ParkAnswer, StoreError> {
        self.verb(|s| s.end(lease, state, reason))
    }
    fn cancel(&self, run: &RunId, by: &Person, reason: Option<&str>) -> Result<Run, StoreError> {
        self.verb(|s| s.cancel(run, by, reason))
    }
    fn ask(&self, lease: &Lease, row: &NewRow, step: &[StepWrite]) -> Result<Row, StoreError> {
        self.verb(|s| s.ask(lease, row, step))
    }
    fn decide(&self, decision: &Decision) -> Result<Row, StoreError> {
        self.verb(|s| s.decide(decision))
    }
    fn edit(&self, edit: &Edit, key: &str) -> Result<Row, StoreError> {
        self.verb(|s| s.edit(edit, key))
    }
    fn shown(&self, row: &RowId, digest: Digest, to: &Person, surface: &str) -> Result<Row, StoreError> {
        self.verb(|s| s.shown(row, digest, to, surface))
    }
    fn claim(
        &self,
        lease: &Lease,
        row: &RowId,
        nonce: &str,
        digest: Digest,
        definition: Digest,
        step: &StepWrite,
    ) -> Result<Row, StoreError> {
        self.verb(|s| s.claim(lease, row, nonce, digest, definition, step))
    }
    fn claim_unasked(
        &self,
        lease: &Lease,
        row: &NewRow,
        rule: &str,
        nonce: &str,
        step: &StepWrite,
    ) -> Result<Row, StoreError> {
        self.verb(|s| s.claim_unasked(lease, row, rule, nonce, step))
    }
    fn outcome(
        &self,
        row: &RowId,
        nonce: &str,
        outcome: &Outcome,
        step: &StepWrite,
    ) -> Result<Row, StoreError> {
        self.verb(|s| s.outcome(row, nonce, outcome, step))
    }
    fn settle(&self, row: &RowId, settled: &Settlement) -> Result<Row, StoreError> {
        self.verb(|s| s.settle(row, settled))
    }
    fn reconcile(
        &self,
        lease: &Lease,
        row: &RowId,
        claim: &str,
        answer: &Reconciled,
    ) -> Result<Row, StoreError> {
        self.verb(|s| s.reconcile(lease, row, claim, answer))
    }
    fn accept(&self, lease: &Lease, by: &Person, accepted: &Accepted) -> Result<Lease, StoreError> {
        self.verb(|s| s.accept(lease, by, accepted))
    }
    fn run(&self, run: &RunId) -> Result<Run, StoreError> {
        self.look(|s| s.run(run))
    }
    fn runs(&self) -> Result<Vec<Run>, StoreError> {
        self.look(Storage::runs)
    }
    fn steps(&self, run: &RunId) -> Result<Vec<StepWrite>, StoreError> {
        self.look(|s| s.steps(run))
    }
    fn history(&self, run: &RunId) -> Result<History, StoreError> {
        self.look(|s| s.history(run))
    }
    fn row(&self, row: &RowId) -> Result<Row, StoreError> {
        self.look(|s| s.row(row))
    }
    fn rows(&self, of: Option<&RunId>) -> Result<Vec<Row>, StoreError> {
        self.look(|s| s.rows(of))
    }
    fn waiting(&self) -> Result<Vec<Row>, StoreError> {
        self.look(Storage::waiting)
    }
    fn same_calls(&self, server: &str, tool: &str, digest: &Digest) -> Result<Vec<Row>, StoreError> {
        self.look(|s| s.same_calls(server, tool, digest))
    }
    fn document(&self, digest: &Digest) -> Result<Vec<u8>, StoreError> {
        self.look(|s| s.document(digest))
    }
    fn events(&self, after: u64) -> Result<Vec<Event>, StoreError> {
        self.look(|s| s.events(after))
    }
}
