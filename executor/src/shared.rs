//! A store that is shared with the threads of a run.

use std::sync::Arc;

use plangate_approval::row::{Decision, NewRow, Person, Row, RowId};
use plangate_approval::run::{Holder, Lease, NewRun, Run, RunId, RunState, StepWrite};
use plangate_approval::storage::{Event, LeaseAnswer, ParkAnswer, Settlement, Storage, StoreError};
use plangate_approval::{Clock, Outcome, Time};
use plangate_graph::Digest;

/// The same store, for the [`Approvals`](plangate_approval::Approvals) of a run. Hands on each verb.
pub(crate) struct Shared<S>(pub(crate) Arc<S>);

impl<S: Storage> Storage for Shared<S> {
    fn id(&self) -> Result<String, StoreError> {
        self.0.id()
    }
    fn now(&self) -> Time {
        self.0.now()
    }
    fn clock(&self) -> Arc<dyn Clock> {
        self.0.clock()
    }
    fn holder(&self) -> Result<Holder, StoreError> {
        self.0.holder()
    }
    fn start(&self, run: &NewRun, holder: &Holder) -> Result<Lease, StoreError> {
        self.0.start(run, holder)
    }
    fn lease(&self, run: &RunId, holder: &Holder) -> Result<LeaseAnswer, StoreError> {
        self.0.lease(run, holder)
    }
    fn renew(&self, lease: &Lease) -> Result<Lease, StoreError> {
        self.0.renew(lease)
    }
    fn record(&self, lease: &Lease, steps: &[StepWrite]) -> Result<Lease, StoreError> {
        self.0.record(lease, steps)
    }
    fn park(&self, lease: &Lease) -> Result<ParkAnswer, StoreError> {
        self.0.park(lease)
    }
    fn end(&self, lease: &Lease, state: RunState, reason: Option<&str>) -> Result<ParkAnswer, StoreError> {
        self.0.end(lease, state, reason)
    }
    fn cancel(&self, run: &RunId, by: &Person, reason: Option<&str>) -> Result<Run, StoreError> {
        self.0.cancel(run, by, reason)
    }
    fn ask(&self, lease: &Lease, row: &NewRow, step: &[StepWrite]) -> Result<Row, StoreError> {
        self.0.ask(lease, row, step)
    }
    fn decide(&self, decision: &Decision) -> Result<Row, StoreError> {
        self.0.decide(decision)
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
        self.0.claim(lease, row, nonce, digest, definition, step)
    }
    fn claim_unasked(
        &self,
        lease: &Lease,
        row: &NewRow,
        rule: &str,
        nonce: &str,
        step: &StepWrite,
    ) -> Result<Row, StoreError> {
        self.0.claim_unasked(lease, row, rule, nonce, step)
    }
    fn outcome(
        &self,
        row: &RowId,
        nonce: &str,
        outcome: &Outcome,
        step: &StepWrite,
    ) -> Result<Row, StoreError> {
        self.0.outcome(row, nonce, outcome, step)
    }
    fn settle(&self, row: &RowId, settled: &Settlement) -> Result<Row, StoreError> {
        self.0.settle(row, settled)
    }
    fn run(&self, run: &RunId) -> Result<Run, StoreError> {
        self.0.run(run)
    }
    fn runs(&self) -> Result<Vec<Run>, StoreError> {
        self.0.runs()
    }
    fn steps(&self, run: &RunId) -> Result<Vec<StepWrite>, StoreError> {
        self.0.steps(run)
    }
    fn row(&self, row: &RowId) -> Result<Row, StoreError> {
        self.0.row(row)
    }
    fn rows(&self, of: Option<&RunId>) -> Result<Vec<Row>, StoreError> {
        self.0.rows(of)
    }
    fn waiting(&self) -> Result<Vec<Row>, StoreError> {
        self.0.waiting()
    }
    fn document(&self, digest: &Digest) -> Result<Vec<u8>, StoreError> {
        self.0.document(digest)
    }
    fn events(&self, after: u64) -> Result<Vec<Event>, StoreError> {
        self.0.events(after)
    }
}
