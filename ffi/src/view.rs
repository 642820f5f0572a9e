//! Rows and runs as JSON: arguments as the JSON that they are, times as milliseconds since 1970.

use plangate_approval::row::{Reconcile, Settled, Shown, Vote};
use plangate_approval::{Outcome, Person, Row, RowState, Run, RunState, Storage as _, StoreError, Time};
use plangate_graph::Value;
use plangate_graph::policy::Terms;
use serde::Serialize;

use crate::failure::Failure;
use crate::status::PLANGATE_E_PANIC;
use crate::store::Kept;

#[derive(Serialize)]
struct RowView<'a> {
    id: &'a str,
    run: &'a str,
    /// The step that it is about: the call's, or the question's.
    step: &'a str,
    node: &'a str,
    ask: u32,
    state: RowState,
    question: Option<&'a str>,
    call: Option<CallView<'a>>,
    /// What a voter must have seen.
    digest: String,
    edited_from: Option<String>,
    /// What edits replaced, from what was asked on.
    edits: Vec<EditView<'a>>,
    reason: &'a [String],
    terms: &'a Terms,
    plan: String,
    policy: String,
    created: Time,
    expires: Time,
    decided_at: Option<Time>,
    decided_by: Option<&'a str>,
    decision_reason: Option<&'a str>,
    usable_until: Option<Time>,
    /// To whom it was shown, as far as a surface said so.
    shown: &'a [Shown],
    votes: Vec<VoteView<'a>>,
    claim: Option<&'a str>,
    claimed_at: Option<Time>,
    call_deadline: Option<Time>,
    outcome: Option<&'a Outcome>,
    ended_at: Option<Time>,
    /// The host's word on it, which is asked once, and the claim that it was asked about.
    reconciled: Option<&'a Reconcile>,
    settled: Option<&'a Settled>,
    key: &'a str,
    /// What became of the very same call before.
    before: Vec<BeforeView<'a>>,
}

#[derive(Serialize)]
struct EditView<'a> {
    digest: String,
    arguments: Value,
    key: &'a str,
    by: &'a Person,
    at: Time,
    note: Option<&'a str>,
}

#[derive(Serialize)]
struct VoteView<'a> {
    /// Whether it is about what stands now: an edit voids the votes before it.
    counts: bool,
    #[serde(flatten)]
    vote: &'a Vote,
}

#[derive(Serialize)]
struct BeforeView<'a> {
    approval: &'a str,
    run: &'a str,
    state: RowState,
    at: Time,
    outcome: Option<&'a Outcome>,
}

#[derive(Serialize)]
struct CallView<'a> {
    server: &'a str,
    tool: &'a str,
    origin: Option<&'a str>,
    definition: String,
    arguments: Value,
    timeout_ms: i64,
}

#[derive(Serialize)]
struct RunView<'a> {
    id: &'a str,
    title: &'a str,
    state: RunState,
    reason: Option<&'a str>,
    driven: bool,
    holder: Option<&'a str>,
    lease_until: Option<Time>,
    plan: String,
    catalog: String,
    policy: String,
    inputs: Value,
    author: &'a str,
    requester: &'a Person,
    hold_siblings: bool,
    cancel_at: Option<Time>,
    created: Time,
    updated: Time,
}

/// A row, and those that were asked about the very same call before.
pub(crate) struct Told {
    row: Row,
    before: Vec<Row>,
}

impl Told {
    pub(crate) fn read(store: &Kept, row: Row) -> Result<Told, StoreError> {
        let before = store.before(&row)?;
        Ok(Told { row, before })
    }

    /// The same of many, in one go.
    pub(crate) fn each(store: &Kept, rows: Vec<Row>) -> Result<Vec<Told>, StoreError> {
        let before = store.before_each(&rows)?;
        Ok(rows.into_iter().zip(before).map(|(row, before)| Told { row, before }).collect())
    }
}

/// One row.
pub(crate) fn row(told: &Told) -> Result<String, Failure> {
    written(&view(told))
}

/// Rows, under `approvals`.
pub(crate) fn rows(rows: &[Told]) -> Result<String, Failure> {
    #[derive(Serialize)]
    struct Whole<'a> {
        approvals: Vec<RowView<'a>>,
    }
    written(&Whole { approvals: rows.iter().map(view).collect() })
}

/// Runs, under `runs`.
pub(crate) fn runs(runs: &[Run]) -> Result<String, Failure> {
    #[derive(Serialize)]
    struct Whole<'a> {
        runs: Vec<RunView<'a>>,
    }
    let view = |run| {
        let run: &Run = run;
        RunView {
            id: &run.id.0,
            title: &run.title,
            state: run.state,
            reason: run.reason.as_deref(),
            driven: run.driven,
            holder: run.holder.as_deref(),
            lease_until: run.lease_until,
            plan: run.plan.to_string(),
            catalog: run.catalog.to_string(),
            policy: run.policy.to_string(),
            inputs: json(&run.inputs),
            author: &run.author,
            requester: &run.requester,
            hold_siblings: run.hold_siblings,
            cancel_at: run.cancel_at,
            created: run.created,
            updated: run.updated,
        }
    };
    written(&Whole { runs: runs.iter().map(view).collect() })
}

fn view(told: &Told) -> RowView<'_> {
    let row = &told.row;
    RowView {
        id: &row.id.0,
        run: &row.run.0,
        step: row.call.as_ref().map_or(&row.node, |call| &call.node),
        node: &row.node,
        ask: row.ask,
        state: row.state,
        question: row.question.as_deref(),
        call: row.call.as_ref().map(|call| CallView {
            server: &call.server,
            tool: &call.tool,
            origin: call.origin.as_deref(),
            definition: call.definition.to_string(),
            arguments: json(&call.args),
            timeout_ms: call.timeout_ms,
        }),
        digest: row.digest.to_string(),
        edited_from: row.edited_from().map(|digest| digest.to_string()),
        edits: row
            .edits
            .iter()
            .map(|edit| EditView {
                digest: edit.digest.to_string(),
                arguments: json(&edit.args),
                key: &edit.key,
                by: &edit.by,
                at: edit.at,
                note: edit.note.as_deref(),
            })
            .collect(),
        reason: &row.reason,
        terms: &row.terms,
        plan: row.plan.to_string(),
        policy: row.policy.to_string(),
        created: row.created,
        expires: row.expires,
        decided_at: row.decided_at,
        decided_by: row.decided_by.as_deref(),
        decision_reason: row.decision_reason.as_deref(),
        usable_until: row.usable_until,
        shown: &row.shown,
        votes: row.votes.iter().map(|vote| VoteView { counts: row.counts(vote), vote }).collect(),
        claim: row.claim.as_deref(),
        claimed_at: row.claimed_at,
        call_deadline: row.call_deadline,
        outcome: row.outcome.as_ref(),
        ended_at: row.ended_at,
        reconciled: row.reconciled.as_ref(),
        settled: row.settled.as_ref(),
        key: &row.key,
        before: told
            .before
            .iter()
            .map(|other| BeforeView {
                approval: &other.id.0,
                run: &other.run.0,
                state: other.state,
                at: other.moment(),
                outcome: other.outcome.as_ref(),
            })
            .collect(),
    }
}

/// Canonical bytes as the JSON that they are; what is none is text.
fn json(bytes: &[u8]) -> Value {
    Value::parse_bytes(bytes).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(bytes).into_owned()))
}

/// As JSON.
pub(crate) fn written(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value)
        .map_err(|e| Failure::new(PLANGATE_E_PANIC, format!("what is stored cannot be written as JSON: {e}")))
}
