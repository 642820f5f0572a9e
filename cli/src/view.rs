//! What programs get of rows and runs: names and times in words, arguments as the JSON that they are.

use plangate_approval::{Outcome, Person, Row, Run, Time};
use plangate_graph::Value;
use plangate_graph::policy::Repeat;
use serde::Serialize;

use crate::render::row::step;
use crate::render::time::rfc3339;

/// An approval.
#[derive(Debug, Serialize)]
pub(crate) struct RowView {
    id: String,
    run: String,
    step: String,
    node: String,
    ask: u32,
    state: String,
    question: Option<String>,
    call: Option<CallView>,
    digest: String,
    edited_from: Option<String>,
    edits: Vec<EditView>,
    reason: Vec<String>,
    quorum: u32,
    /// For how long the very same call is refused once it was made.
    repeat: Option<Repeat>,
    created: String,
    expires: String,
    decided_at: Option<String>,
    decided_by: Option<String>,
    decision_reason: Option<String>,
    shown: Vec<ShownView>,
    votes: Vec<VoteView>,
    claimed_at: Option<String>,
    outcome: Option<OutcomeView>,
    ended_at: Option<String>,
    reconciled: Option<String>,
    settled: Option<SettledView>,
    key: String,
}

/// The call behind an approval.
#[derive(Debug, Serialize)]
struct CallView {
    server: String,
    tool: String,
    origin: Option<String>,
    definition: String,
    arguments: Value,
    timeout_ms: i64,
}

/// Arguments that an edit replaced.
#[derive(Debug, Serialize)]
struct EditView {
    edited_from: String,
    arguments: Value,
    by: PersonView,
    at: String,
    note: Option<String>,
}

/// What became of the very same call before.
#[derive(Debug, Serialize)]
pub(crate) struct BeforeView {
    approval: String,
    run: String,
    state: String,
    at: String,
}

impl BeforeView {
    /// Of a row about it.
    pub(crate) fn of(row: &Row) -> BeforeView {
        BeforeView {
            approval: row.id.0.clone(),
            run: row.run.0.clone(),
            state: row.state.to_string(),
            at: rfc3339(row.moment()),
        }
    }
}

#[derive(Debug, Serialize)]
struct ShownView {
    to: PersonView,
    surface: String,
    digest: String,
    at: String,
}

#[derive(Debug, Serialize)]
struct VoteView {
    counts: bool,
    by: PersonView,
    yes: bool,
    at: String,
    digest: String,
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct SettledView {
    by: PersonView,
    happened: bool,
    value: Option<Value>,
    note: Option<String>,
    at: String,
}

#[derive(Debug, Serialize)]
struct PersonView {
    issuer: String,
    subject: String,
    verified: bool,
}

/// What came of a call.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OutcomeView {
    Ok(Value),
    Failed(String),
    NotSent(String),
    Unknown(String),
}

/// A run, without its steps.
#[derive(Debug, Serialize)]
pub(crate) struct RunView {
    id: String,
    title: String,
    state: String,
    reason: Option<String>,
    driven: bool,
    plan: String,
    inputs: Value,
    author: String,
    requester: PersonView,
    hold_siblings: bool,
    created: String,
    updated: String,
}

impl RowView {
    /// Of a row.
    pub(crate) fn of(row: &Row) -> RowView {
        let time = |at: Option<Time>| at.map(rfc3339);
        RowView {
            id: row.id.0.clone(),
            run: row.run.0.clone(),
            step: step(row),
            node: row.node.clone(),
            ask: row.ask,
            state: row.state.to_string(),
            question: row.question.clone(),
            call: row.call.as_ref().map(|call| CallView {
                server: call.server.clone(),
                tool: call.tool.clone(),
                origin: call.origin.clone(),
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
                    edited_from: edit.digest.to_string(),
                    arguments: json(&edit.args),
                    by: person(&edit.by),
                    at: rfc3339(edit.at),
                    note: edit.note.clone(),
                })
                .collect(),
            reason: row.reason.clone(),
            quorum: row.terms.quorum,
            repeat: row.terms.repeat,
            created: rfc3339(row.created),
            expires: rfc3339(row.expires),
            decided_at: time(row.decided_at),
            decided_by: row.decided_by.clone(),
            decision_reason: row.decision_reason.clone(),
            shown: row
                .shown
                .iter()
                .map(|shown| ShownView {
                    to: person(&shown.to),
                    surface: shown.surface.clone(),
                    digest: shown.digest.to_string(),
                    at: rfc3339(shown.at),
                })
                .collect(),
            votes: row
                .votes
                .iter()
                .map(|vote| VoteView {
                    counts: row.counts(vote),
                    by: person(&vote.by),
                    yes: vote.yes,
                    at: rfc3339(vote.at),
                    digest: vote.digest.to_string(),
                    reason: vote.reason.clone(),
                })
                .collect(),
            claimed_at: time(row.claimed_at),
            outcome: row.outcome.as_ref().map(outcome),
            ended_at: time(row.ended_at),
            reconciled: row.reconciled.as_ref().map(|word| word.answer.kind().to_owned()),
            settled: row.settled.as_ref().map(|settled| SettledView {
                by: person(&settled.by),
                happened: settled.happened,
                value: settled.value.clone(),
                note: settled.note.clone(),
                at: rfc3339(settled.at),
            }),
            key: row.key.clone(),
        }
    }
}

impl RunView {
    /// Of a run.
    pub(crate) fn of(run: &Run) -> RunView {
        RunView {
            id: run.id.0.clone(),
            title: run.title.clone(),
            state: run.state.to_string(),
            reason: run.reason.clone(),
            driven: run.driven,
            plan: run.plan.to_string(),
            inputs: json(&run.inputs),
            author: run.author.clone(),
            requester: person(&run.requester),
            hold_siblings: run.hold_siblings,
            created: rfc3339(run.created),
            updated: rfc3339(run.updated),
        }
    }
}

/// Canonical bytes as the JSON that they are; what is none is text.
pub(crate) fn json(bytes: &[u8]) -> Value {
    Value::parse_bytes(bytes).unwrap_or_else(|_| Value::from(String::from_utf8_lossy(bytes).into_owned()))
}

fn person(person: &Person) -> PersonView {
    PersonView { issuer: person.issuer.clone(), subject: person.subject.clone(), verified: person.verified }
}

pub(crate) fn outcome(outcome: &Outcome) -> OutcomeView {
    match outcome {
        Outcome::Ok(value) => OutcomeView::Ok(value.clone()),
        Outcome::Failed(why) => OutcomeView::Failed(why.clone()),
        Outcome::NotSent(why) => OutcomeView::NotSent(why.clone()),
        Outcome::Unknown(why) => OutcomeView::Unknown(why.clone()),
    }
}
