//! The trait of a store: verbs, each one atomic, each with its events in the same transaction.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use plangate_graph::{Digest, Document};
use serde::{Deserialize, Serialize};

use crate::clock::{Clock, Time};
use crate::outcome::{Outcome, Reconciled};
use crate::row::{Decision, Edit, GRACE_MS, NewRow, Person, Row, RowCall, RowId, RowState, Settled};
use crate::run::{Holder, Lease, NewRun, Run, RunId, RunState, StepWrite};

/// What a store author writes: verbs, each one atomic compare-and-set that returns the state that won.
///
/// What a verb returned is durable, with its events, in the same transaction; what it refused left nothing behind, except
/// that a row it met past its time is written down as expired. The clock is read after the lock. Locks are taken in one
/// order: the run, the row, the head of the event log. [`state`](crate::state) holds every decision as a function of
/// values; a store keeps the values.
///
/// A verb may be asked again when its answer was lost: each is idempotent as its own words say.
pub trait Storage: Send + Sync {
    /// The store's own random id, made once with it.
    fn id(&self) -> Result<String, StoreError>;
    /// The store's clock.
    fn now(&self) -> Time;
    /// The clock of this machine, by whose steady reading leases and permits end here.
    fn clock(&self) -> Arc<dyn Clock>;
    /// The steady clock of this machine.
    fn steady(&self) -> i64 {
        self.clock().steady()
    }
    /// How long after its deadline a call whose end nobody recorded may still be under way, in milliseconds. The same for
    /// every handle of a store.
    fn grace_ms(&self) -> i64 {
        GRACE_MS
    }
    /// A holder for a new driver in this process, made before it leases anything. Where processes share a kernel it is
    /// known dead as soon as this process is gone, however it went; elsewhere its lease decides.
    fn holder(&self) -> Result<Holder, StoreError>;

    /// Stores a run with its documents and takes its first lease. Called before the first step. The same run by the same
    /// holder again is the same lease.
    fn start(&self, run: &NewRun, holder: &Holder) -> Result<Lease, StoreError>;
    /// Takes the lease of a run that is not driven: nobody holds it, it ran out, or its holder is known dead. The fence
    /// grows, claims of the driver before become uncertain, and a run that needed attention or was parked is running. A
    /// cancelled run that has not ended can be taken, to be ended. A holder whose lease is live is `Busy` to itself too.
    fn lease(&self, run: &RunId, holder: &Holder) -> Result<LeaseAnswer, StoreError>;
    /// Extends the lease to [`LEASE_MS`](crate::run::LEASE_MS) from now and reads `wake` and the cancel mark. Called
    /// well before the lease ends; a driver compares `wake` with the one it had. A lease that ran out is not renewed,
    /// even if nobody took it.
    fn renew(&self, lease: &Lease) -> Result<Lease, StoreError>;
    /// Writes states of steps, all of them or none, and renews the lease with it. Called before anything that depends on
    /// these steps starts; many steps are one commit. Works in a cancelled run, so that what its calls brought can be
    /// written.
    fn record(&self, lease: &Lease, steps: &[StepWrite]) -> Result<Lease, StoreError>;
    /// Parks the run and releases the lease, unless `wake` moved since it was seen: then the lease is renewed and the
    /// driver looks again, so that no decision is left lying. A cancelled run is not parked.
    fn park(&self, lease: &Lease) -> Result<ParkAnswer, StoreError>;
    /// Ends the run (or, as `Attention`, lays it down until a person looks) and releases the lease, unless `wake` moved
    /// since it was seen. Rows of an ended run that nobody claimed are cancelled with it. A run that was cancelled ends
    /// as `Cancelled` only, and no other does.
    fn end(&self, lease: &Lease, state: RunState, reason: Option<&str>) -> Result<ParkAnswer, StoreError>;
    /// Cancels a run: its mark and its unclaimed rows in one transaction. Needs no lease. From then on nothing is asked
    /// or claimed; a driver sees the mark with its next renewal, records what its calls brought, and ends the run. Where
    /// nobody drives, the run and its steps end at once. A run that has ended stays as it is; again, nothing changes.
    fn cancel(&self, run: &RunId, by: &Person, reason: Option<&str>) -> Result<Run, StoreError>;

    /// Puts a row, and its step to `pending`. Called once its arguments are final, before anybody is told that it waits.
    /// Idempotent by (run, node, ask); other bytes are [`StoreError::Changed`]. The next ask number of a node is taken
    /// only after its last row expired or a person said that its call did not happen. Where the row's terms say so,
    /// [`StoreError::Repeated`] if the very same call was made a short while before, in any run.
    fn ask(&self, lease: &Lease, row: &NewRow, step: &[StepWrite]) -> Result<Row, StoreError>;
    /// One person's vote; raises the run's `wake`. Refusals in this order: not found, decided, cancelled, expired,
    /// changed, not allowed. The same person's yes again changes nothing.
    fn decide(&self, decision: &Decision) -> Result<Row, StoreError>;
    /// Puts other arguments in the place of those that a pending row was asked with; raises the run's `wake`. The caller
    /// has held them against schema and policy; `key` is the idempotency key for them. Refusals as for `decide`. Earlier
    /// votes are void and kept, the bytes before are kept, and the row expires no later than before. The same edit again
    /// changes nothing. [`StoreError::Repeated`] as for `ask`.
    fn edit(&self, edit: &Edit, key: &str) -> Result<Row, StoreError>;
    /// Writes down that a surface showed this row, with this digest, to this person: the log then says who saw what, when
    /// and how. Called once the whole of it was shown, before the person decides. Once for each person, digest and surface,
    /// while the row is open; anything else changes nothing. A digest that the row never had is [`StoreError::Changed`].
    fn shown(&self, row: &RowId, digest: Digest, to: &Person, surface: &str) -> Result<Row, StoreError>;
    /// Takes an approved row to make its call, and its step to `running`. The last thing before the call. It compares
    /// the digest with the stored one and with the bytes themselves, the definition, the votes, and the lease. The same
    /// nonce again is the same claim, in whatever state it is by then: look at the state. [`StoreError::Repeated`] as for
    /// `ask`: of two rows about the very same call that wait at once, one is claimed.
    fn claim(
        &self,
        lease: &Lease,
        row: &RowId,
        nonce: &str,
        digest: Digest,
        definition: Digest,
        step: &StepWrite,
    ) -> Result<Row, StoreError>;
    /// A row that policy lets through: born claimed, with the rule as decider. Idempotent by the nonce.
    fn claim_unasked(
        &self,
        lease: &Lease,
        row: &NewRow,
        rule: &str,
        nonce: &str,
        step: &StepWrite,
    ) -> Result<Row, StoreError>;
    /// What came of a claimed call, with its value, and its step ended, in one transaction. Keyed by the claim, not by
    /// the lease: the claimer may always say what it saw, and an unknown outcome may become known. The same outcome
    /// again changes nothing. After a person has spoken it is kept as an event and changes nothing else.
    fn outcome(
        &self,
        row: &RowId,
        nonce: &str,
        outcome: &Outcome,
        step: &StepWrite,
    ) -> Result<Row, StoreError>;
    /// A person says what happened to an uncertain call; raises the run's `wake`. "It happened" puts its step to `done`,
    /// "it did not" to `ready`. [`StoreError::InFlight`] until the call has ended: its outcome is recorded as unknown,
    /// the claimer's process is known dead, or its deadline and a grace have passed.
    fn settle(&self, row: &RowId, settled: &Settlement) -> Result<Row, StoreError>;

    /// Takes the host's word on an uncertain call; raises the run's `wake` unless the host cannot tell. Called once for a
    /// row, by its run's driver, after the call's deadline. "It happened" ends row and step as a person's word does. "It
    /// did not, and will not" makes an approved row claimable once more, with the same key, while the approval is usable;
    /// otherwise the step is asked again. [`StoreError::InFlight`] as for `settle`, and before the deadline. The same word
    /// again changes nothing.
    fn reconcile(
        &self,
        lease: &Lease,
        row: &RowId,
        claim: &str,
        answer: &Reconciled,
    ) -> Result<Row, StoreError>;
    /// A person accepts what changed: from now on these are the run's plan, catalog and policy, and every row of it that
    /// nobody claimed is cancelled, so that its node is asked again. Not in a cancelled run.
    fn accept(&self, lease: &Lease, by: &Person, accepted: &Accepted) -> Result<Lease, StoreError>;

    /// A run.
    fn run(&self, run: &RunId) -> Result<Run, StoreError>;
    /// Runs, newest first.
    fn runs(&self) -> Result<Vec<Run>, StoreError>;
    /// The steps of a run that were written down, by node id.
    fn steps(&self, run: &RunId) -> Result<Vec<StepWrite>, StoreError>;
    /// A run with all that was written down of it, as it was at one moment. A store that cannot read all of it at once reads
    /// one after the other.
    fn history(&self, run: &RunId) -> Result<History, StoreError> {
        Ok(History { run: self.run(run)?, steps: self.steps(run)?, rows: self.rows(Some(run))? })
    }
    /// A row, with its state at this moment. Where readers see a row expired for the first time they write that down.
    fn row(&self, row: &RowId) -> Result<Row, StoreError>;
    /// Rows of a run in the order they were asked, or of all runs.
    fn rows(&self, of: Option<&RunId>) -> Result<Vec<Row>, StoreError>;
    /// Rows of all runs that are pending, approved, claimed or uncertain at this moment, in the order they were asked.
    fn waiting(&self) -> Result<Vec<Row>, StoreError> {
        let mut rows = self.rows(None)?;
        rows.retain(|row| row.state.open());
        Ok(rows)
    }
    /// Rows of all runs about the very same call (server, tool and argument digest), in the order they were asked.
    fn same_calls(&self, server: &str, tool: &str, digest: &Digest) -> Result<Vec<Row>, StoreError> {
        let mut rows = self.rows(None)?;
        rows.retain(|row| row.is_call(server, tool, digest));
        Ok(rows)
    }
    /// What became of the call of this row before: rows about the very same call that were asked earlier, in any run, and
    /// that do not just wait. Nothing for a row without a call.
    fn before(&self, row: &Row) -> Result<Vec<Row>, StoreError> {
        let Some(call) = &row.call else { return Ok(Vec::new()) };
        let mut same = self.same_calls(&call.server, &call.tool, &row.digest)?;
        same.retain(|other| other.came_before(row));
        Ok(same)
    }
    /// The same of many rows, in their order, in one go.
    fn before_each(&self, rows: &[Row]) -> Result<Vec<Vec<Row>>, StoreError> {
        let calls = || rows.iter().filter(|row| row.call.is_some());
        let digests: BTreeSet<Digest> = calls().map(|row| row.digest).collect();
        let mut same: HashMap<Digest, Vec<Row>> = HashMap::new();
        for row in self.with_digests(&digests.into_iter().collect::<Vec<_>>())? {
            same.entry(row.digest).or_default().push(row);
        }
        let before = |row: &Row| {
            let call = row.call.as_ref();
            let same = call.and_then(|call| Some((call, same.get(&row.digest)?)));
            let of = |(call, same): (&RowCall, &Vec<Row>)| {
                let is = |other: &&Row| {
                    other.is_call(&call.server, &call.tool, &row.digest) && other.came_before(row)
                };
                same.iter().filter(is).cloned().collect()
            };
            same.map(of).unwrap_or_default()
        };
        Ok(rows.iter().map(before).collect())
    }
    /// Rows of all runs with one of these digests, in the order they were asked.
    fn with_digests(&self, digests: &[Digest]) -> Result<Vec<Row>, StoreError> {
        let digests: HashSet<&Digest> = digests.iter().collect();
        let mut rows = if digests.is_empty() { Vec::new() } else { self.rows(None)? };
        rows.retain(|row| digests.contains(&row.digest));
        Ok(rows)
    }
    /// A document by its digest.
    fn document(&self, digest: &Digest) -> Result<Vec<u8>, StoreError>;
    /// Events after a sequence number, in order.
    fn events(&self, after: u64) -> Result<Vec<Event>, StoreError>;
}

/// A run and what was written down of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The run.
    pub run: Run,
    /// Its steps by node id, as of [`Storage::steps`].
    pub steps: Vec<StepWrite>,
    /// Its rows in the order they were asked, as of [`Storage::rows`].
    pub rows: Vec<Row>,
}

/// The documents that a run goes on with, and the change that a person saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// `actions.json`.
    pub plan: Document,
    /// The part of the catalog that it uses.
    pub catalog: Document,
    /// The policy, as TOML.
    pub policy: Document,
    /// What was shown of the change.
    pub shown: String,
}

/// What came of asking for a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseAnswer {
    /// It is yours.
    Taken(Lease),
    /// Another drives it and will take up what was decided.
    Busy {
        /// Until when its lease lasts.
        until: Time,
    },
    /// The run has ended.
    Ended(RunState),
}

/// What came of parking or ending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParkAnswer {
    /// Done; the lease is released.
    Released,
    /// Something was decided meanwhile: look again, with this lease.
    LookAgain(Lease),
}

/// A person's word on an uncertain call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// The claim that the person saw.
    pub claim: String,
    /// Who, what, value and note; its time is set by the store.
    pub settled: Settled,
}

/// One transition, in the append-only log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Position, from 1.
    pub seq: u64,
    /// When.
    pub at: Time,
    /// What: canonical JSON with `kind` and the ids it is about.
    pub what: String,
    /// Hash of the event before.
    pub prev: Digest,
    /// Hash over `prev`, `seq`, `at` and `what`.
    pub hash: Digest,
}

/// Why a verb did nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No such run, row or document.
    #[error("no {what} {id}")]
    NotFound {
        /// `run`, `row` or `document`.
        what: &'static str,
        /// Its id.
        id: String,
    },
    /// Decided already.
    #[error("already {state} by {by}")]
    Decided {
        /// What it is now.
        state: RowState,
        /// Who decided.
        by: String,
        /// When.
        at: Option<Time>,
    },
    /// Its run was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
    /// Its time was over.
    #[error("expired; nothing was run: ask again")]
    Expired {
        /// When it expired.
        at: Time,
    },
    /// The digest is not that of the stored row.
    #[error("the stored call has the digest {stored}, not {seen}")]
    Changed {
        /// What is stored.
        stored: Digest,
        /// What was shown.
        seen: Digest,
    },
    /// This person may not decide this.
    #[error("not allowed: {0}")]
    NotAllowed(String),
    /// It cannot be settled yet: the call may still be under way.
    #[error("the call may still be under way; it can be settled once that is certain")]
    InFlight {
        /// When it can be settled.
        until: Time,
    },
    /// The row is not in a state that allows this.
    #[error("the row is {0}")]
    NotNow(RowState),
    /// Another drives the run now; nothing more is started here.
    #[error("the lease of run {0} is lost")]
    LeaseLost(RunId),
    /// Written by another version of plangate.
    #[error("the store has schema version {found}, this version reads {known}")]
    Version {
        /// What it has.
        found: i64,
        /// What is known.
        known: i64,
    },
    /// The row, or what was decided about it, comes from later than this clock shows: nothing is decided until it is right.
    #[error("the row is from later than this clock shows: set the clock right")]
    FromFuture {
        /// When it was asked or approved.
        at: Time,
        /// What the store's clock shows.
        now: Time,
    },
    /// The run holds its effects while one of its rows is pending.
    #[error("the run starts nothing while {0} waits for a decision")]
    Held(RowId),
    /// The very same call was made before, or rejected, and policy refuses a repeat so soon.
    #[error(
        "the very same call {} by run {run} at {at}; a rule [[repeat]] of the policy refuses it until {until}. \
         Whoever wants it sooner changes that rule",
        .state.of_the_same_call()
    )]
    Repeated {
        /// The row of that call.
        row: RowId,
        /// Its run.
        run: RunId,
        /// What became of it, as far as it is written down.
        state: RowState,
        /// When it was called, or rejected.
        at: Time,
        /// Until when it is refused, as things stand.
        until: Time,
    },
    /// The operating system gave no random bits.
    #[error("no random bits: {0}")]
    Random(String),
    /// The file is damaged, read-only, full, locked, or not a store.
    #[error("the store at {path} {message}")]
    Unusable {
        /// Where it lies.
        path: String,
        /// What kind of fault it is.
        fault: Fault,
        /// What is wrong and what to do.
        message: String,
    },
}

/// What is wrong with a store that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The file is something else.
    NotAStore,
    /// The file, or a value in it, is not what was written.
    Damaged,
    /// It cannot be written.
    ReadOnly,
    /// The disk or the quota is full.
    Full,
    /// Another process kept it locked for too long.
    Locked,
    /// It cannot be opened.
    NoAccess,
    /// Reading or writing failed.
    Io,
}
