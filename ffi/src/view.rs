//! Rows and runs as JSON: arguments as the JSON that they are, times as milliseconds since 1970.

use plangate_approval::row::{Settled, Shown, Vote};
use plangate_approval::{Outcome, Person, Row, RowState, Run, RunState, Time};
use plangate_graph::Value;
use plangate_graph::policy::Terms;
use serde::Serialize;

use crate::failure::Failure;
use crate::status::PLANGATE_E_PANIC;

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
    reason: &'a [String],
    terms: &'a Terms,
    created: Time,
    expires: Time,
    decided_at: Option<Time>,
    decided_by: Option<&'a str>,
    decision_reason: Option<&'a str>,
    usable_until: Option<Time>,
    /// To whom it was shown, as far as a surface said so.
    shown: &'a [Shown],
    votes: &'a [Vote],
    claimed_at: Option<Time>,
    outcome: Option<&'a Outcome>,
    ended_at: Option<Time>,
    settled: Option<&'a Settled>,
    key: &'a str,
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
    plan: String,
    inputs: Value,
    author: &'a str,
    requester: &'a Person,
    hold_siblings: bool,
    created: Time,
    updated: Time,
}

/// One row.
pub(crate) fn row(row: &Row) -> Result<String, Failure> {
    written(&view(row))
}

/// Rows, under `approvals`.
pub(crate) fn rows(rows: &[Row]) -> Result<String, Failure> {
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
            plan: run.plan.to_string(),
            inputs: json(&run.inputs),
            author: &run.author,
            requester: &run.requester,
            hold_siblings: run.hold_siblings,
            created: run.created,
            updated: run.updated,
        }
    };
    written(&Whole { runs: runs.iter().map(view).collect() })
}

fn view(row: &Row) -> RowView<'_> {
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
        reason: &row.reason,
        terms: &row.terms,
        created: row.created,
        expires: row.expires,
        decided_at: row.decided_at,
        decided_by: row.decided_by.as_deref(),
        decision_reason: row.decision_reason.as_deref(),
        usable_until: row.usable_until,
        shown: &row.shown,
        votes: &row.votes,
        claimed_at: row.claimed_at,
        outcome: row.outcome.as_ref(),
        ended_at: row.ended_at,
        settled: row.settled.as_ref(),
        key: &row.key,
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
