//! A store in which somebody has edited the plan of every run, and its digest with it.

use std::sync::{Arc, Mutex};

use plangate_approval::row::Edit;
use plangate_approval::storage::{Event, LeaseAnswer, ParkAnswer, Settlement};
use plangate_approval::{
    Accepted, Clock, Decision, Holder, Lease, MemoryStore, NewRow, NewRun, Outcome, Person, Reconciled, Row,
    RowId, Run, RunId, RunState, StepWrite, Storage, StoreError, Time,
};
use plangate_graph::Digest;

type Answer<T> = Result<T, StoreError>;

pub struct Edited {
    kept: MemoryStore,
    /// What stands where the plan stood.
    pub plan: Mutex<Option<String>>,
    /// The digest is left as it was.
    pub keeps_digest: bool,
}

impl Edited {
    pub fn new() -> Edited {
        Edited { kept: MemoryStore::new().unwrap(), plan: Mutex::default(), keeps_digest: false }
    }

    fn other(&self, run: Run) -> Run {
        match &*self.plan.lock().unwrap() {
            Some(text) if !self.keeps_digest => Run { plan: Digest::of(text.as_bytes()), ..run },
            _ => run,
        }
    }
}

impl Storage for Edited {
    fn run(&self, run: &RunId) -> Answer<Run> {
        self.kept.run(run).map(|run| self.other(run))
    }
    fn runs(&self) -> Answer<Vec<Run>> {
        Ok(self.kept.runs()?.into_iter().map(|run| self.other(run)).collect())
    }
    fn document(&self, digest: &Digest) -> Answer<Vec<u8>> {
        match &*self.plan.lock().unwrap() {
            Some(text) if self.keeps_digest && self.kept.runs()?.iter().any(|run| run.plan == *digest) => {
                Ok(text.clone().into_bytes())
            }
            Some(text) if Digest::of(text.as_bytes()) == *digest => Ok(text.clone().into_bytes()),
            _ => self.kept.document(digest),
        }
    }

    fn id(&self) -> Answer<String> {
        self.kept.id()
    }
    fn now(&self) -> Time {
        self.kept.now()
    }
    fn clock(&self) -> Arc<dyn Clock> {
        self.kept.clock()
    }
    fn holder(&self) -> Answer<Holder> {
        self.kept.holder()
    }
    fn start(&self, run: &NewRun, holder: &Holder) -> Answer<Lease> {
        self.kept.start(run, holder)
    }
    fn lease(&self, run: &RunId, holder: &Holder) -> Answer<LeaseAnswer> {
        self.kept.lease(run, holder)
    }
    fn renew(&self, lease: &Lease) -> Answer<Lease> {
        self.kept.renew(lease)
    }
    fn record(&self, lease: &Lease, steps: &[StepWrite]) -> Answer<Lease> {
        self.kept.record(lease, steps)
    }
    fn park(&self, lease: &Lease) -> Answer<ParkAnswer> {
        self.kept.park(lease)
    }
    fn end(&self, lease: &Lease, state: RunState, reason: Option<&str>) -> Answer<ParkAnswer> {
        self.kept.end(lease, state, reason)
    }
    fn cancel(&self, run: &RunId, by: &Person, reason: Option<&str>) -> Answer<Run> {
        self.kept.cancel(run, by, reason)
    }
    fn ask(&self, lease: &Lease, row: &NewRow, step: &[StepWrite]) -> Answer<Row> {
        self.kept.ask(lease, row, step)
    }
    fn decide(&self, decision: &Decision) -> Answer<Row> {
        self.kept.decide(decision)
    }
    fn edit(&self, edit: &Edit, key: &str) -> Answer<Row> {
        self.kept.edit(edit, key)
    }
    fn shown(&self, row: &RowId, digest: Digest, to: &Person, surface: &str) -> Answer<Row> {
        self.kept.shown(row, digest, to, surface)
    }
    fn claim(
        &self,
        lease: &Lease,
        row: &RowId,
        nonce: &str,
        digest: Digest,
        definition: Digest,
        step: &StepWrite,
    ) -> Answer<Row> {
        self.kept.claim(lease, row, nonce, digest, definition, step)
    }
    fn claim_unasked(
        &self,
        lease: &Lease,
        row: &NewRow,
        rule: &str,
        nonce: &str,
        step: &StepWrite,
    ) -> Answer<Row> {
        self.kept.claim_unasked(lease, row, rule, nonce, step)
    }
    fn outcome(&self, row: &RowId, nonce: &str, outcome: &Outcome, step: &StepWrite) -> Answer<Row> {
        self.kept.outcome(row, nonce, outcome, step)
    }
    fn settle(&self, row: &RowId, settled: &Settlement) -> Answer<Row> {
        self.kept.settle(row, settled)
    }
    fn reconcile(&self, lease: &Lease, row: &RowId, claim: &str, answer: &Reconciled) -> Answer<Row> {
        self.kept.reconcile(lease, row, claim, answer)
    }
    fn accept(&self, lease: &Lease, by: &Person, accepted: &Accepted) -> Answer<Lease> {
        self.kept.accept(lease, by, accepted)
    }
    fn steps(&self, run: &RunId) -> Answer<Vec<StepWrite>> {
        self.kept.steps(run)
    }
    fn row(&self, row: &RowId) -> Answer<Row> {
        self.kept.row(row)
    }
    fn rows(&self, of: Option<&RunId>) -> Answer<Vec<Row>> {
        self.kept.rows(of)
    }
    fn events(&self, after: u64) -> Answer<Vec<Event>> {
        self.kept.events(after)
    }
}
