//! A store in memory, for tests and for hosts that keep nothing.

mod tables;

use std::sync::{Arc, Mutex, PoisonError};

use plangate_graph::Digest;

use crate::clock::{Clock, SystemClock, Time};
use crate::outcome::{Outcome, Reconciled};
use crate::random;
use crate::row::{Decision, Edit, GRACE_MS, NewRow, Person, Row, RowId};
use crate::run::{Holder, Lease, NewRun, Run, RunId, RunState, StepWrite};
use crate::storage::{Accepted, Event, History, LeaseAnswer, ParkAnswer, Settlement, Storage, StoreError};
use crate::verbs::{self, RowsOf, Tables as _};

use tables::{Kept, Locked};

/// A store in memory: the same verbs as any other, gone with the process.
///
/// Every holder counts as alive until [`kill`](MemoryStore::kill) says otherwise.
#[derive(Debug)]
pub struct MemoryStore {
    id: String,
    clock: Arc<dyn Clock>,
    grace_ms: i64,
    tables: Mutex<Kept>,
}

impl MemoryStore {
    /// An empty store on the machine's clocks.
    pub fn new() -> Result<MemoryStore, StoreError> {
        MemoryStore::with_clock(Arc::new(SystemClock))
    }

    /// An empty store on this clock.
    pub fn with_clock(clock: Arc<dyn Clock>) -> Result<MemoryStore, StoreError> {
        let id = random::id()?;
        let kept = Kept::empty(Event::genesis(&id));
        Ok(MemoryStore { id, clock, grace_ms: GRACE_MS, tables: Mutex::new(kept) })
    }

    /// With another grace after a call's deadline than [`GRACE_MS`].
    #[must_use]
    pub fn with_grace(self, grace_ms: i64) -> MemoryStore {
        MemoryStore { grace_ms, ..self }
    }

    /// From now on this holder is known dead, as if its process had been killed.
    pub fn kill(&self, holder: &Holder) {
        self.lock().kept.dead.insert(holder.clone());
    }

    /// A verb panics only where this crate is wrong; what it had written by then is whole, change by change.
    fn lock(&self) -> Locked<'_> {
        let kept = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        Locked { now: self.clock.now(), kept }
    }

    fn rows_of(&self, of: RowsOf<'_>) -> Result<Vec<Row>, StoreError> {
        verbs::read::rows_written_down(&mut self.lock(), of)?
    }
}

impl Storage for MemoryStore {
    fn id(&self) -> Result<String, StoreError> {
        Ok(self.id.clone())
    }

    fn now(&self) -> Time {
        self.clock.now()
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock)
    }

    fn grace_ms(&self) -> i64 {
        self.grace_ms
    }
    fn holder(&self) -> Result<Holder, StoreError> {
        Holder::random()
    }

    fn start(&self, run: &NewRun, holder: &Holder) -> Result<Lease, StoreError> {
        let steady = self.steady();
        verbs::run::start(&mut self.lock(), run, holder, steady)?
    }

    fn lease(&self, run: &RunId, holder: &Holder) -> Result<LeaseAnswer, StoreError> {
        let steady = self.steady();
        verbs::run::lease(&mut self.lock(), run, holder, steady)?
    }

    fn renew(&self, lease: &Lease) -> Result<Lease, StoreError> {
        self.record(lease, &[])
    }

    fn record(&self, lease: &Lease, steps: &[StepWrite]) -> Result<Lease, StoreError> {
        let steady = self.steady();
        verbs::run::record(&mut self.lock(), lease, steps, steady)?
    }

    fn park(&self, lease: &Lease) -> Result<ParkAnswer, StoreError> {
        self.end(lease, RunState::Parked, None)
    }

    fn end(&self, lease: &Lease, state: RunState, reason: Option<&str>) -> Result<ParkAnswer, StoreError> {
        let steady = self.steady();
        verbs::run::release(&mut self.lock(), lease, state, reason, steady)?
    }

    fn cancel(&self, run: &RunId, by: &Person, reason: Option<&str>) -> Result<Run, StoreError> {
        verbs::run::cancel(&mut self.lock(), run, by, reason)?
    }

    fn ask(&self, lease: &Lease, row: &NewRow, step: &[StepWrite]) -> Result<Row, StoreError> {
        verbs::row::ask(&mut self.lock(), lease, row, step)?
    }

    fn decide(&self, decision: &Decision) -> Result<Row, StoreError> {
        verbs::row::decide(&mut self.lock(), decision)?
    }

    fn edit(&self, edit: &Edit, key: &str) -> Result<Row, StoreError> {
        verbs::row::edit(&mut self.lock(), edit, key)?
    }

    fn shown(&self, row: &RowId, digest: Digest, to: &Person, surface: &str) -> Result<Row, StoreError> {
        verbs::row::shown(&mut self.lock(), row, digest, to, surface)?
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
        verbs::row::claim(&mut self.lock(), lease, row, nonce, digest, definition, step)?
    }

    fn claim_unasked(
        &self,
        lease: &Lease,
        row: &NewRow,
        rule: &str,
        nonce: &str,
        step: &StepWrite,
    ) -> Result<Row, StoreError> {
        verbs::row::claim_unasked(&mut self.lock(), lease, row, rule, nonce, step)?
    }

    fn outcome(
        &self,
        row: &RowId,
        nonce: &str,
        outcome: &Outcome,
        step: &StepWrite,
    ) -> Result<Row, StoreError> {
        verbs::row::outcome(&mut self.lock(), row, nonce, outcome, step)?
    }

    fn settle(&self, row: &RowId, settled: &Settlement) -> Result<Row, StoreError> {
        verbs::row::settle(&mut self.lock(), row, settled, self.grace_ms)?
    }

    fn reconcile(
        &self,
        lease: &Lease,
        row: &RowId,
        claim: &str,
        answer: &Reconciled,
    ) -> Result<Row, StoreError> {
        verbs::row::reconcile(&mut self.lock(), lease, row, claim, answer, self.grace_ms)?
    }

    fn accept(&self, lease: &Lease, by: &Person, accepted: &Accepted) -> Result<Lease, StoreError> {
        let steady = self.steady();
        verbs::run::accept(&mut self.lock(), lease, by, accepted, steady)?
    }

    fn run(&self, run: &RunId) -> Result<Run, StoreError> {
        verbs::read::run(&mut self.lock(), run)?
    }

    fn runs(&self) -> Result<Vec<Run>, StoreError> {
        verbs::read::runs(&mut self.lock())
    }

    fn steps(&self, run: &RunId) -> Result<Vec<StepWrite>, StoreError> {
        self.lock().steps(run)
    }

    fn history(&self, run: &RunId) -> Result<History, StoreError> {
        let t = &mut self.lock();
        let rows = verbs::read::rows_written_down(t, RowsOf::Run(run))??;
        Ok(History { run: verbs::read::run(t, run)??, steps: t.steps(run)?, rows })
    }

    fn row(&self, row: &RowId) -> Result<Row, StoreError> {
        verbs::read::only(self.rows_of(RowsOf::Row(row))?, row)
    }

    fn rows(&self, of: Option<&RunId>) -> Result<Vec<Row>, StoreError> {
        self.rows_of(of.map_or(RowsOf::All, RowsOf::Run))
    }

    fn waiting(&self) -> Result<Vec<Row>, StoreError> {
        self.rows_of(RowsOf::Open)
    }

    fn same_calls(&self, server: &str, tool: &str, digest: &Digest) -> Result<Vec<Row>, StoreError> {
        self.rows_of(RowsOf::Same { server, tool, digest })
    }

    fn with_digests(&self, digests: &[Digest]) -> Result<Vec<Row>, StoreError> {
        self.rows_of(RowsOf::Digests(digests))
    }

    fn document(&self, digest: &Digest) -> Result<Vec<u8>, StoreError> {
        let document = self.lock().document(digest)?;
        document.ok_or_else(|| StoreError::NotFound { what: "document", id: digest.to_string() })
    }

    fn events(&self, after: u64) -> Result<Vec<Event>, StoreError> {
        self.lock().events(after)
    }
}
