//! The row: a stored approval.

use std::fmt;

use plangate_graph::policy::Terms;
use plangate_graph::{Digest, Value};
use serde::{Deserialize, Serialize};

use crate::clock::Time;
use crate::outcome::{Outcome, Reconciled};
use crate::run::{Holder, RunId};

/// How long an approved row may be claimed after its last vote, in milliseconds.
pub const USABLE_MS: i64 = 3_600_000;
/// How far a clock may lie behind the one that wrote a time, in milliseconds, before that time counts as in the future.
pub const SKEW_MS: i64 = 5_000;
/// How long after its deadline a call whose end nobody recorded may still be under way, in milliseconds.
pub const GRACE_MS: i64 = 30_000;

/// Id of a row: 128 random bits, 32 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RowId(pub String);

/// A claim that was won: under it, and nothing else, the outcome of its call is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Claim {
    /// The row.
    pub row: RowId,
    /// Random 128 bits, made by the claimer.
    pub nonce: String,
}

/// Somebody who starts runs or decides rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Person {
    /// Who says so, for instance `os` or an `OpenID` issuer.
    pub issuer: String,
    /// Who it is, in the issuer's words.
    pub subject: String,
    /// Roles that the host gives this person.
    #[serde(default)]
    pub roles: Vec<String>,
    /// The host has verified who this is.
    #[serde(default)]
    pub verified: bool,
}

/// What is asked: the content of a new row. `id` and `key` are made by [`Approvals`](crate::Approvals).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRow {
    /// Its id.
    pub id: RowId,
    /// Its run.
    pub run: RunId,
    /// Id of the gate, or of the call where nobody is asked.
    pub node: String,
    /// How often this node was asked before.
    pub ask: u32,
    /// The call, or nothing for a question in front of several steps.
    pub call: Option<RowCall>,
    /// SHA-256 of the argument bytes, or of the question's words; what a voter must have seen.
    pub digest: Digest,
    /// The question, with its values.
    pub question: Option<String>,
    /// Why it is asked: sentences with their codes.
    pub reason: Vec<String>,
    /// Digest of the policy in force.
    pub policy: Digest,
    /// What it needs to be decided.
    pub terms: Terms,
    /// Idempotency key: SHA-256 over store id, run id, node and argument digest.
    pub key: String,
}

/// The exact call behind a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowCall {
    /// Id of the call's node.
    pub node: String,
    /// Server.
    pub server: String,
    /// What the server is: command line or URL, without secrets.
    pub origin: Option<String>,
    /// Tool.
    pub tool: String,
    /// Digest of its definition.
    pub definition: Digest,
    /// Canonical argument bytes: shown, hashed, approved, sent.
    pub args: Vec<u8>,
    /// How long the call may take, in milliseconds.
    pub timeout_ms: i64,
}

/// A row as read at a moment: `state` is what holds then (expiry and uncertainty are computed on reading).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Its id.
    pub id: RowId,
    /// Its run.
    pub run: RunId,
    /// Id of the gate, question, or unasked call.
    pub node: String,
    /// Ask number.
    pub ask: u32,
    /// The call, or nothing for a question.
    pub call: Option<RowCall>,
    /// What a voter must have seen.
    pub digest: Digest,
    /// What edits replaced, from what was asked on.
    pub edits: Vec<Edited>,
    /// The question, with its values.
    pub question: Option<String>,
    /// Why it is asked.
    pub reason: Vec<String>,
    /// Digest of the policy in force.
    pub policy: Digest,
    /// What it needs to be decided.
    pub terms: Terms,
    /// Digest of the run's plan.
    pub plan: Digest,
    /// State at the moment of reading.
    pub state: RowState,
    /// When it was asked.
    pub created: Time,
    /// Until when it may be decided.
    pub expires: Time,
    /// When the last vote made it approved or rejected, or it was cancelled.
    pub decided_at: Option<Time>,
    /// Until when an approved row may be claimed.
    pub usable_until: Option<Time>,
    /// Who decided, in words: a person, or the policy rule that let it through.
    pub decided_by: Option<String>,
    /// Reason given with the decision.
    pub decision_reason: Option<String>,
    /// Idempotency key.
    pub key: String,
    /// All votes, also those that an edit voided.
    pub votes: Vec<Vote>,
    /// The claim's nonce.
    pub claim: Option<String>,
    /// When it was claimed.
    pub claimed_at: Option<Time>,
    /// When the claimed call must have ended: claim time and timeout.
    pub call_deadline: Option<Time>,
    /// What came of the call.
    pub outcome: Option<Outcome>,
    /// When that was recorded.
    pub ended_at: Option<Time>,
    /// What the host said of the call, which is asked once.
    pub reconciled: Option<Reconcile>,
    /// Who settled it, when, and with what note.
    pub settled: Option<Settled>,
    /// To whom it was shown while it was open: each person once for each digest and surface.
    pub shown: Vec<Shown>,
}

/// One person's yes or no.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// Who.
    pub by: Person,
    /// Yes or no.
    pub yes: bool,
    /// The digest that the person saw.
    pub digest: Digest,
    /// How many edits stood before it. A later edit voids it, also one that brings the same bytes back.
    #[serde(default)]
    pub edits: u32,
    /// When.
    pub at: Time,
    /// What the person said with it.
    pub reason: Option<String>,
}

/// That a surface showed the row to a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// To whom.
    pub to: Person,
    /// The digest that was shown.
    pub digest: Digest,
    /// How, in a word of the host: `cli`, `web`.
    pub surface: String,
    /// When first.
    pub at: Time,
}

/// What the host said of an uncertain call, and the claim that it was asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reconcile {
    /// Its word.
    pub answer: Reconciled,
    /// When.
    pub at: Time,
    /// The nonce of that claim.
    pub claim: String,
    /// When it was claimed.
    pub claimed_at: Option<Time>,
    /// When its call must have ended.
    pub call_deadline: Option<Time>,
    /// Who held it.
    pub holder: Holder,
    /// Under which fence.
    pub fence: u64,
}

/// What an edit replaced. The row holds the bytes that count now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edited {
    /// Digest of the bytes before.
    pub digest: Digest,
    /// The bytes before.
    pub args: Vec<u8>,
    /// The idempotency key before.
    pub key: String,
    /// Who edited; counts as requester of what came of it.
    pub by: Person,
    /// When.
    pub at: Time,
    /// What the person said with it.
    pub note: Option<String>,
}

/// A person's word on what happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// Who.
    pub by: Person,
    /// It happened.
    pub happened: bool,
    /// With this value, if one was given.
    pub value: Option<Value>,
    /// A note.
    pub note: Option<String>,
    /// When.
    pub at: Time,
}

/// State of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowState {
    /// Waits for votes.
    Pending,
    /// Enough yes; may be claimed.
    Approved,
    /// A call is under way.
    Claimed,
    /// The call ended ok.
    Succeeded,
    /// The call failed, or was not sent.
    Failed,
    /// The call started and its outcome is not known.
    Uncertain,
    /// A person settled it: it happened.
    Happened,
    /// A person settled it: it did not.
    DidNot,
    /// A question without a call was answered yes.
    Answered,
    /// Somebody said no.
    Rejected,
    /// The run was cancelled.
    Cancelled,
    /// Its time was over.
    Expired,
}

/// One person's decision on a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The row.
    pub row: RowId,
    /// The digest that the person saw.
    pub seen: Digest,
    /// Who.
    pub by: Person,
    /// Yes or no.
    pub yes: bool,
    /// What the person says with it.
    pub reason: Option<String>,
}

/// Other arguments for a pending call. Whoever makes one has held them against schema and policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The row.
    pub row: RowId,
    /// The digest that the person saw.
    pub seen: Digest,
    /// Who.
    pub by: Person,
    /// Canonical argument bytes from now on.
    pub args: Vec<u8>,
    /// Why the call is asked with these.
    pub reason: Vec<String>,
    /// What it needs to be decided with these. The row expires no later than before.
    pub terms: Terms,
    /// What the person says with it.
    pub note: Option<String>,
}

impl Person {
    /// The host itself, where it reconciles a call.
    pub fn host() -> Person {
        Person { issuer: "host".into(), subject: "reconcile".into(), roles: Vec::new(), verified: true }
    }
}

impl Row {
    /// The digest of what was asked, if it was edited since.
    pub fn edited_from(&self) -> Option<Digest> {
        self.edits.first().map(|edit| edit.digest)
    }

    /// When something last became of it: it ended, was claimed, was decided, or was asked.
    pub fn moment(&self) -> Time {
        self.ended_at.or(self.claimed_at).or(self.decided_at).unwrap_or(self.created)
    }

    /// Whether it is about this very call.
    pub fn is_call(&self, server: &str, tool: &str, digest: &Digest) -> bool {
        self.digest == *digest
            && self.call.as_ref().is_some_and(|call| call.server == server && call.tool == tool)
    }

    /// Whether this row about a call, which is that of another row, was asked before it and tells what became of it: it does
    /// not just wait, and is not over with nothing done.
    pub fn came_before(&self, row: &Row) -> bool {
        let waits = matches!(self.state, RowState::Pending | RowState::Approved);
        let nothing = matches!(self.state, RowState::Cancelled | RowState::Expired);
        self.id != row.id && self.created <= row.created && !waits && !nothing
    }

    /// Whether a vote is about the bytes as they are now. Votes before an edit are kept, and void.
    pub fn counts(&self, vote: &Vote) -> bool {
        vote.digest == self.digest && usize::try_from(vote.edits) == Ok(self.edits.len())
    }
}

impl RowState {
    /// All of them.
    pub const ALL: [RowState; 12] = [
        RowState::Pending,
        RowState::Approved,
        RowState::Claimed,
        RowState::Succeeded,
        RowState::Failed,
        RowState::Uncertain,
        RowState::Happened,
        RowState::DidNot,
        RowState::Answered,
        RowState::Rejected,
        RowState::Cancelled,
        RowState::Expired,
    ];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            RowState::Pending => "pending",
            RowState::Approved => "approved",
            RowState::Claimed => "claimed",
            RowState::Succeeded => "succeeded",
            RowState::Failed => "failed",
            RowState::Uncertain => "uncertain",
            RowState::Happened => "happened",
            RowState::DidNot => "did_not",
            RowState::Answered => "answered",
            RowState::Rejected => "rejected",
            RowState::Cancelled => "cancelled",
            RowState::Expired => "expired",
        }
    }

    /// The state that is written so.
    pub fn named(text: &str) -> Option<RowState> {
        RowState::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// What became of a call, as a predicate of "the very same call".
    pub(crate) fn of_the_same_call(self) -> &'static str {
        match self {
            RowState::Claimed => "is being made",
            RowState::Uncertain => "was left uncertain",
            RowState::Rejected => "was rejected",
            _ => "was made",
        }
    }

    /// Whether it waits for somebody: for votes, for its call, or for a word on what happened.
    pub fn open(self) -> bool {
        matches!(self, RowState::Pending | RowState::Approved | RowState::Claimed | RowState::Uncertain)
    }
}

impl fmt::Display for RowState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for RowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}{}", self.issuer, self.subject, if self.verified { "" } else { " (asserted)" })
    }
}
