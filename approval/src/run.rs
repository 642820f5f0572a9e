//! A run: one execution of a plan, its lease and its steps.

use std::fmt;
use std::sync::Arc;

use plangate_graph::{Digest, Document};
use serde::{Deserialize, Serialize};

use crate::clock::Time;
use crate::row::Person;

/// How long a lease lasts from its last renewal, in milliseconds.
pub const LEASE_MS: i64 = 30_000;

/// Id of a run: 128 random bits, 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub String);

/// What is stored when a run starts, in one transaction with its documents and its first lease.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// `actions.json`.
    pub plan: Document,
    /// The part of the catalog that it uses.
    pub catalog: Document,
    /// The policy, as TOML.
    pub policy: Document,
    /// Values of the inputs, canonical JSON object.
    pub inputs: Vec<u8>,
    /// Who started it.
    pub requester: Person,
    /// Who wrote the recipe, as the host said: `person` or `model`.
    pub author: String,
    /// For people: the recipe's file name or what the host calls it. Not trusted for anything.
    pub title: String,
    /// While a row of the run is pending, no effect is claimed.
    pub hold_siblings: bool,
}

/// A run as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// Digest of its plan.
    pub plan: Digest,
    /// Digest of the used part of the catalog.
    pub catalog: Digest,
    /// Digest of its policy.
    pub policy: Digest,
    /// Values of the inputs, canonical JSON object.
    pub inputs: Vec<u8>,
    /// Who started it.
    pub requester: Person,
    /// Who wrote the recipe: `person` or `model`.
    pub author: String,
    /// For people.
    pub title: String,
    /// See [`NewRun::hold_siblings`].
    pub hold_siblings: bool,
    /// Where it stands.
    pub state: RunState,
    /// Why it needs attention, or was cancelled.
    pub reason: Option<String>,
    /// Raised by each lease.
    pub fence: u64,
    /// Who drives it.
    pub holder: Option<String>,
    /// Until when that lease lasts.
    pub lease_until: Option<Time>,
    /// At the moment of reading: that lease is not over, and its holder not known dead.
    pub driven: bool,
    /// Raised by every decision.
    pub wake: u64,
    /// When it was cancelled.
    pub cancel_at: Option<Time>,
    /// When it started.
    pub created: Time,
    /// When it last parked or ended.
    pub updated: Time,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Someone drives it, or did until it died.
    Running,
    /// All that is left waits for people.
    Parked,
    /// The stored plan no longer passes; a person cancels it or accepts the change.
    Attention,
    /// Every step ended ok or was skipped.
    Done,
    /// It ended, and at least one step did not end ok.
    Failed,
    /// A person stopped it.
    Cancelled,
}

/// Who drives a run: one value per driver, random, so that no process id is ever taken for another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Holder(pub String);

/// The right to drive a run until it ends or another takes it. Plain data: the store checks it in each verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The run.
    pub run: RunId,
    /// The driver.
    pub holder: Holder,
    /// The fence in the predicate of `ask`, `claim`, `record`, `park` and `end`.
    pub fence: u64,
    /// Until when, on the store's clock.
    pub until: Time,
    /// Until when, on the steady clock of this machine.
    pub steady_until: i64,
    /// The run's `wake` when it was last seen.
    pub wake: u64,
    /// The run was cancelled.
    pub cancelled: bool,
}

/// State of one node of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// Something it waits for has not ended.
    Waiting,
    /// It may start.
    Ready,
    /// Under way.
    Running,
    /// Waits for people: its row is not decided.
    Pending,
    /// Started, outcome unknown; a person says what happened.
    Uncertain,
    /// Ended as it should.
    Done,
    /// The tool or the writer said that it failed, or what it reads was not there.
    Failed,
    /// A read that did not answer in time.
    TimedOut,
    /// A person said no.
    Rejected,
    /// Nobody decided in time.
    Expired,
    /// What it waits for did not end as it must.
    Blocked,
    /// A check said that it is not needed.
    Skipped,
    /// The run was cancelled.
    Cancelled,
}

/// What is written down of a step. A copy of it shares its texts, so that a store in memory holds them once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepWrite {
    /// The node's id.
    pub node: Arc<str>,
    /// Its state.
    pub state: StepState,
    /// JSON: attempts, times, arguments, result or error; the executor's business.
    pub detail: Arc<[u8]>,
}

impl StepState {
    /// All of them.
    pub const ALL: [StepState; 13] = [
        StepState::Waiting,
        StepState::Ready,
        StepState::Running,
        StepState::Pending,
        StepState::Uncertain,
        StepState::Done,
        StepState::Failed,
        StepState::TimedOut,
        StepState::Rejected,
        StepState::Expired,
        StepState::Blocked,
        StepState::Skipped,
        StepState::Cancelled,
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            StepState::Waiting => "waiting",
            StepState::Ready => "ready",
            StepState::Running => "running",
            StepState::Pending => "pending",
            StepState::Uncertain => "uncertain",
            StepState::Done => "done",
            StepState::Failed => "failed",
            StepState::TimedOut => "timed_out",
            StepState::Rejected => "rejected",
            StepState::Expired => "expired",
            StepState::Blocked => "blocked",
            StepState::Skipped => "skipped",
            StepState::Cancelled => "cancelled",
        }
    }

    /// The state that is written so.
    pub fn named(text: &str) -> Option<StepState> {
        StepState::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Whether nothing more happens to it.
    pub fn ended(self) -> bool {
        !matches!(
            self,
            StepState::Waiting
                | StepState::Ready
                | StepState::Running
                | StepState::Pending
                | StepState::Uncertain
        )
    }
}

impl RunState {
    /// All of them.
    pub const ALL: [RunState; 6] = [
        RunState::Running,
        RunState::Parked,
        RunState::Attention,
        RunState::Done,
        RunState::Failed,
        RunState::Cancelled,
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            RunState::Running => "running",
            RunState::Parked => "parked",
            RunState::Attention => "attention",
            RunState::Done => "done",
            RunState::Failed => "failed",
            RunState::Cancelled => "cancelled",
        }
    }

    /// The state that is written so.
    pub fn named(text: &str) -> Option<RunState> {
        RunState::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Whether nothing more happens to it.
    pub fn ended(self) -> bool {
        matches!(self, RunState::Done | RunState::Failed | RunState::Cancelled)
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for StepState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
