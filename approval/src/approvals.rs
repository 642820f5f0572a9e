//! The one place where a claim that was won becomes a permit.

use plangate_graph::Digest;
use plangate_graph::policy::Terms;

use crate::outcome::Outcome;
use crate::permit::{Permit, PermittedCall};
use crate::random;
use crate::row::{Claim, Decision, Edit, NewRow, Person, Row, RowCall, RowId, RowState};
use crate::run::{LEASE_MS, Lease, RunId, StepWrite};
use crate::storage::{Settlement, Storage, StoreError};

/// Decisions and claims over a store.
#[derive(Debug)]
pub struct Approvals<S> {
    store: S,
}

/// What is asked, before it has an id and a key. Its run is that of the lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Id of the gate or question, or of the call where nobody is asked.
    pub node: String,
    /// How often this node was asked before.
    pub ask: u32,
    /// The call with its final bytes, or nothing for a question in front of several steps.
    pub call: Option<RowCall>,
    /// The question, with its values. A row without a call needs one: its digest is over these words.
    pub question: Option<String>,
    /// Why it is asked: sentences with their codes.
    pub reason: Vec<String>,
    /// Digest of the policy in force.
    pub policy: Digest,
    /// What it needs to be decided.
    pub terms: Terms,
}

impl Ask {
    /// What a voter must have seen: SHA-256 of the argument bytes, or of the question's words.
    pub fn digest(&self) -> Digest {
        match &self.call {
            Some(call) => Digest::of(&call.args),
            None => Digest::of(self.question.as_deref().unwrap_or_default().as_bytes()),
        }
    }
}

impl<S: Storage> Approvals<S> {
    /// Over this store.
    pub fn new(store: S) -> Approvals<S> {
        Approvals { store }
    }

    /// The store.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// Puts a row, with its steps, in one transaction. Asked again (same run, node and ask number) it is the same row.
    pub fn ask(&self, lease: &Lease, ask: &Ask, steps: &[StepWrite]) -> Result<Row, StoreError> {
        self.store.ask(lease, &self.new_row(lease, ask)?, steps)
    }

    /// One person's vote; see [`Storage::decide`].
    pub fn decide(&self, decision: &Decision) -> Result<Row, StoreError> {
        self.store.decide(decision)
    }

    /// Puts other arguments in the place of those that were asked; see [`Storage::edit`]. `row` is the row as it was
    /// shown. Schema and policy are the caller's to ask first: `plangate_executor::edit` does both.
    pub fn edit(&self, row: &Row, edit: &Edit) -> Result<Row, StoreError> {
        let node = row.call.as_ref().map_or(&row.node, |call| &call.node);
        self.store.edit(edit, &key(&self.store.id()?, &row.run, node, &Digest::of(&edit.args)))
    }

    /// Writes down that a surface showed this row to this person, as it is given here; see [`Storage::shown`].
    pub fn shown(&self, row: &Row, to: &Person, surface: &str) -> Result<Row, StoreError> {
        self.store.shown(&row.id, row.digest, to, surface)
    }

    /// Takes an approved row to make its call: the last thing before the call. `row` is what the driver holds to be
    /// approved, `definition` the digest of the tool's definition as it is now, `step` the call's step as running.
    ///
    /// Where the answer of the store is unclear it is asked once more under the same nonce; still unclear, there is no
    /// permit and no call.
    pub fn claim(
        &self,
        lease: &Lease,
        row: &Row,
        definition: Digest,
        step: &StepWrite,
    ) -> Result<Permit, StoreError> {
        let nonce = random::id()?;
        self.permit(lease, row.digest, &nonce, || {
            self.store.claim(lease, &row.id, &nonce, row.digest, definition, step)
        })
    }

    /// A permit for a call that policy lets through: its row is born claimed, with the rule as decider.
    pub fn claim_unasked(
        &self,
        lease: &Lease,
        ask: &Ask,
        rule: &str,
        step: &StepWrite,
    ) -> Result<Permit, StoreError> {
        let row = self.new_row(lease, ask)?;
        let nonce = random::id()?;
        self.permit(lease, row.digest, &nonce, || self.store.claim_unasked(lease, &row, rule, &nonce, step))
    }

    /// What came of a claimed call, and its step; see [`Storage::outcome`]. The same outcome again changes nothing.
    pub fn outcome(&self, claim: &Claim, outcome: &Outcome, step: &StepWrite) -> Result<Row, StoreError> {
        self.store.outcome(&claim.row, &claim.nonce, outcome, step)
    }

    /// A person's word on an uncertain call; see [`Storage::settle`].
    pub fn settle(&self, row: &RowId, settlement: &Settlement) -> Result<Row, StoreError> {
        self.store.settle(row, settlement)
    }

    fn new_row(&self, lease: &Lease, ask: &Ask) -> Result<NewRow, StoreError> {
        let digest = ask.digest();
        let node = ask.call.as_ref().map_or(&ask.node, |call| &call.node);
        Ok(NewRow {
            id: RowId::random()?,
            run: lease.run.clone(),
            node: ask.node.clone(),
            ask: ask.ask,
            call: ask.call.clone(),
            digest,
            question: ask.question.clone(),
            reason: ask.reason.clone(),
            policy: ask.policy,
            terms: ask.terms.clone(),
            key: key(&self.store.id()?, &lease.run, node, &digest),
        })
    }

    fn permit(
        &self,
        lease: &Lease,
        digest: Digest,
        nonce: &str,
        claim: impl Fn() -> Result<Row, StoreError>,
    ) -> Result<Permit, StoreError> {
        let clock = self.store.clock();
        // Read before the verb: whatever the store takes, the permit ends no later than the lease.
        let steady_until = lease.steady_until.min(clock.steady() + LEASE_MS);
        let row = match claim() {
            Err(StoreError::Unusable { .. }) => claim()?,
            answer => answer?,
        };
        if row.state != RowState::Claimed || row.claim.as_deref() != Some(nonce) {
            return Err(StoreError::NotNow(row.state));
        }
        let call =
            row.call.ok_or_else(|| StoreError::NotAllowed("a question has no call to be made".into()))?;
        // The store has compared these; a permit is worth looking twice.
        let stored = Digest::of(&call.args);
        if stored != digest {
            return Err(StoreError::Changed { stored, seen: digest });
        }
        Ok(Permit {
            claim: Claim { row: row.id, nonce: nonce.to_owned() },
            call: PermittedCall { server: call.server, tool: call.tool, args: call.args, key: row.key },
            steady_until,
            clock,
        })
    }
}

/// Idempotency key of a call: the same for each time that this node is asked about these bytes.
fn key(store: &str, run: &RunId, node: &str, digest: &Digest) -> String {
    let parts = [store.as_bytes(), run.0.as_bytes(), node.as_bytes(), digest.as_bytes()];
    let key = Digest::of_parts(parts).to_string();
    key.trim_start_matches("sha256:").to_owned()
}
