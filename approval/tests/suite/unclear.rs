//! A store whose answers get lost after it has committed, as over a broken connection.

use std::sync::Mutex;

use plangate_approval::Fault;
use plangate_approval::storage::Event;

use super::*;

pub struct Unclear {
    inner: Arc<dyn Storage>,
    lost: Mutex<u32>,
}

impl Unclear {
    /// The next `lost` claims are made, but their answers are lost.
    pub fn new(inner: Arc<dyn Storage>, lost: u32) -> Unclear {
        Unclear { inner, lost: Mutex::new(lost) }
    }

    fn answer(&self, row: Result<Row, StoreError>) -> Result<Row, StoreError> {
        let mut lost = self.lost.lock().unwrap();
        if *lost == 0 {
            return row;
        }
        *lost -= 1;
        Err(StoreError::Unusable { path: "a test".into(), fault: Fault::Io, message: "went away".into() })
    }
}

impl Storage for Unclear {
    fn id(&self) -> Result<String, StoreError> {
        self.inner.id()
    }
    fn now(&self) -> Time {
        self.inner.now()
    }
    fn clock(&self) -> Arc<dyn Clock> {
        self.inner.clock()
    }
    fn holder(&self) -> Result<Holder, StoreError> {
        self.inner.holder()
    }
    fn start(&self, run: &NewRun, holder: &Holder) -> Result<Lease, StoreError> {
        self.inner.start(run, holder)
    }
    fn lease(&self, run: &RunId, holder: &Holder) -> Result<LeaseAnswer, StoreError> {
        self.inner.lease(run, holder)
    }
    fn renew(&self, lease: &Lease) -> Result<Lease, StoreError> {
        self.inner.renew(lease)
    }
    fn record(&self, lease: &Lease, steps: &[StepWrite]) -> Result<Lease, StoreError> {
        self.inner.record(lease, steps)
    }
    fn park(&self, lease: &Lease) -> Result<ParkAnswer, StoreError> {
        self.inner.park(lease)
    }
    fn end(&self, lease: &Lease, state: RunState, reason: Option<&str>) -> Result<ParkAnswer, StoreError> {
        self.inner.end(lease, state, reason)
    }
    fn cancel(
        &self,
        run: &RunId,
        by: &Person,
        reason: Option<&str>,
    ) -> Result<plangate_approval::Run, StoreError> {
        self.inner.cancel(run, by, reason)
    }
    fn ask(&self, l: &Lease, row: &plangate_approval::NewRow, s: &[StepWrite]) -> Result<Row, StoreError> {
        self.inner.ask(l, row, s)
    }
    fn decide(&self, decision: &Decision) -> Result<Row, StoreError> {
        self.inner.decide(decision)
    }
    fn edit(&self, edit: &Edit, key: &str) -> Result<Row, StoreError> {
        self.inner.edit(edit, key)
    }
    fn shown(&self, row: &RowId, digest: Digest, to: &Person, surface: &str) -> Result<Row, StoreError> {
        self.inner.shown(row, digest, to, surface)
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
        self.answer(self.inner.claim(lease, row, nonce, digest, definition, step))
    }
    fn claim_unasked(
        &self,
        lease: &Lease,
        row: &plangate_approval::NewRow,
        rule: &str,
        nonce: &str,
        step: &StepWrite,
    ) -> Result<Row, StoreError> {
        self.answer(self.inner.claim_unasked(lease, row, rule, nonce, step))
    }
    fn outcome(&self, row: &RowId, nonce: &str, o: &Outcome, s: &StepWrite) -> Result<Row, StoreError> {
        self.inner.outcome(row, nonce, o, s)
    }
    fn settle(&self, row: &RowId, settled: &Settlement) -> Result<Row, StoreError> {
        self.inner.settle(row, settled)
    }
    fn reconcile(
        &self,
        lease: &Lease,
        row: &RowId,
        claim: &str,
        answer: &plangate_approval::Reconciled,
    ) -> Result<Row, StoreError> {
        self.inner.reconcile(lease, row, claim, answer)
    }
    fn accept(
        &self,
        lease: &Lease,
        by: &Person,
        accepted: &plangate_approval::storage::Accepted,
    ) -> Result<Lease, StoreError> {
        self.inner.accept(lease, by, accepted)
    }
    fn run(&self, run: &RunId) -> Result<plangate_approval::Run, StoreError> {
        self.inner.run(run)
    }
    fn runs(&self) -> Result<Vec<plangate_approval::Run>, StoreError> {
        self.inner.runs()
    }
    fn steps(&self, run: &RunId) -> Result<Vec<StepWrite>, StoreError> {
        self.inner.steps(run)
    }
    fn row(&self, row: &RowId) -> Result<Row, StoreError> {
        self.inner.row(row)
    }
    fn rows(&self, of: Option<&RunId>) -> Result<Vec<Row>, StoreError> {
        self.inner.rows(of)
    }
    fn document(&self, digest: &Digest) -> Result<Vec<u8>, StoreError> {
        self.inner.document(digest)
    }
    fn events(&self, after: u64) -> Result<Vec<Event>, StoreError> {
        self.inner.events(after)
    }
}
