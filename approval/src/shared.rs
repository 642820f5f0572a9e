//! A store behind an `Arc` or a reference is a store.

use std::sync::Arc;

use plangate_graph::Digest;

use crate::clock::{Clock, Time};
use crate::outcome::{Outcome, Reconciled};
use crate::row::{Decision, Edit, NewRow, Person, Row, RowId};
use crate::run::{Holder, Lease, NewRun, Run, RunId, RunState, StepWrite};
use crate::storage::{Accepted, Event, History, LeaseAnswer, ParkAnswer, Settlement, Storage, StoreError};

macro_rules! handed_on {
    ($of:ty) => {
        impl<S: Storage + ?Sized> Storage for $of {
            fn id(&self) -> Result<String, StoreError> {
                (**self).id()
            }

            fn now(&self) -> Time {
                (**self).now()
            }

            fn clock(&self) -> Arc<dyn Clock> {
                (**self).clock()
            }

            fn steady(&self) -> i64 {
                (**self).steady()
            }

            fn grace_ms(&self) -> i64 {
                (**self).grace_ms()
            }

            fn holder(&self) -> Result<Holder, StoreError> {
                (**self).holder()
            }

            fn start(&self, run: &NewRun, holder: &Holder) -> Result<Lease, StoreError> {
                (**self).start(run, holder)
            }

            fn lease(&self, run: &RunId, holder: &Holder) -> Result<LeaseAnswer, StoreError> {
                (**self).lease(run, holder)
            }

            fn renew(&self, lease: &Lease) -> Result<Lease, StoreError> {
                (**self).renew(lease)
            }

            fn record(&self, lease: &Lease, steps: &[StepWrite]) -> Result<Lease, StoreError> {
                (**self).record(lease, steps)
            }

            fn park(&self, lease: &Lease) -> Result<ParkAnswer, StoreError> {
                (**self).park(lease)
            }

            fn end(
                &self,
                lease: &Lease,
                state: RunState,
                reason: Option<&str>,
            ) -> Result<ParkAnswer, StoreError> {
                (**self).end(lease, state, reason)
            }

            fn cancel(&self, run: &RunId, by: &Person, reason: Option<&str>) -> Result<Run, StoreError> {
                (**self).cancel(run, by, reason)
            }

            fn ask(&self, lease: &Lease, row: &NewRow, step: &[StepWrite]) -> Result<Row, StoreError> {
                (**self).ask(lease, row, step)
            }

            fn decide(&self, decision: &Decision) -> Result<Row, StoreError> {
                (**self).decide(decision)
            }

            fn edit(&self, edit: &Edit, key: &str) -> Result<Row, StoreError> {
                (**self).edit(edit, key)
            }

            fn shown(
                &self,
                row: &RowId,
                digest: Digest,
                to: &Person,
                surface: &str,
            ) -> Result<Row, StoreError> {
                (**self).shown(row, digest, to, surface)
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
                (**self).claim(lease, row, nonce, digest, definition, step)
            }

            fn claim_unasked(
                &self,
                lease: &Lease,
                row: &NewRow,
                rule: &str,
                nonce: &str,
                step: &StepWrite,
            ) -> Result<Row, StoreError> {
                (**self).claim_unasked(lease, row, rule, nonce, step)
            }

            fn outcome(
                &self,
                row: &RowId,
                nonce: &str,
                outcome: &Outcome,
                step: &StepWrite,
            ) -> Result<Row, StoreError> {
                (**self).outcome(row, nonce, outcome, step)
            }

            fn settle(&self, row: &RowId, settled: &Settlement) -> Result<Row, StoreError> {
                (**self).settle(row, settled)
            }

            fn reconcile(
                &self,
                lease: &Lease,
                row: &RowId,
                claim: &str,
                answer: &Reconciled,
            ) -> Result<Row, StoreError> {
                (**self).reconcile(lease, row, claim, answer)
            }

            fn accept(&self, lease: &Lease, by: &Person, accepted: &Accepted) -> Result<Lease, StoreError> {
                (**self).accept(lease, by, accepted)
            }

            fn run(&self, run: &RunId) -> Result<Run, StoreError> {
                (**self).run(run)
            }

            fn runs(&self) -> Result<Vec<Run>, StoreError> {
                (**self).runs()
            }

            fn steps(&self, run: &RunId) -> Result<Vec<StepWrite>, StoreError> {
                (**self).steps(run)
            }

            fn history(&self, run: &RunId) -> Result<History, StoreError> {
                (**self).history(run)
            }

            fn row(&self, row: &RowId) -> Result<Row, StoreError> {
                (**self).row(row)
            }

            fn rows(&self, of: Option<&RunId>) -> Result<Vec<Row>, StoreError> {
                (**self).rows(of)
            }

            fn waiting(&self) -> Result<Vec<Row>, StoreError> {
                (**self).waiting()
            }

            fn same_calls(&self, server: &str, tool: &str, digest: &Digest) -> Result<Vec<Row>, StoreError> {
                (**self).same_calls(server, tool, digest)
            }

            fn with_digests(&self, digests: &[Digest]) -> Result<Vec<Row>, StoreError> {
                (**self).with_digests(digests)
            }

            fn document(&self, digest: &Digest) -> Result<Vec<u8>, StoreError> {
                (**self).document(digest)
            }

            fn events(&self, after: u64) -> Result<Vec<Event>, StoreError> {
                (**self).events(after)
            }
        }
    };
}

handed_on!(Arc<S>);
handed_on!(&S);
