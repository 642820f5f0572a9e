//! The log with what its events are about: each line says what was shown, who decided, and what was called.

use std::collections::HashMap;

use plangate_approval::storage::Event;
use plangate_approval::{Row, RowId};
use plangate_graph::Value;
use serde::Serialize;

use crate::render::row::step;
use crate::render::time::rfc3339;
use crate::view::{OutcomeView, json, outcome};

/// Rows by id, and the digest that each had at the event that was last read.
pub(crate) struct Ledger {
    rows: HashMap<RowId, Row>,
    digests: HashMap<RowId, String>,
}

/// An event, for programs. What is about an approval stands only where the event is about one.
#[derive(Debug, Serialize)]
pub(crate) struct Line {
    seq: u64,
    at: String,
    what: Value,
    #[serde(flatten)]
    about: Option<About>,
    prev: String,
    hash: String,
}

/// The approval that an event is about.
#[derive(Debug, Serialize)]
struct About {
    run: String,
    step: String,
    tool: Option<String>,
    /// As they were shown at that moment: before an edit those that it replaced.
    arguments_shown: Option<Value>,
    /// As they were handed to the tool; nothing before a claim.
    arguments_executed: Option<Value>,
    /// The state of the row now.
    decision: String,
    decider: Option<String>,
    expires: String,
    outcome: Option<OutcomeView>,
}

/// Kinds of events at which a call has been handed out.
const CLAIMED: [&str; 7] =
    ["claimed", "outcome", "uncertain", "reconciled", "settled", "confirmed", "contradicted"];

impl Ledger {
    /// Over these rows.
    pub(crate) fn of(rows: Vec<Row>) -> Ledger {
        let rows = rows.into_iter().map(|row| (row.id.clone(), row)).collect();
        Ledger { rows, digests: HashMap::new() }
    }

    /// The next event of the log.
    pub(crate) fn line(&mut self, event: &Event) -> Line {
        let what = Value::parse(&event.what).unwrap_or_else(|_| Value::from(event.what.as_str()));
        Line {
            seq: event.seq,
            at: rfc3339(event.at),
            about: self.about(&what),
            what,
            prev: event.prev.to_string(),
            hash: event.hash.to_string(),
        }
    }

    fn about(&mut self, what: &Value) -> Option<About> {
        let member = |name: &str| what.member(name).and_then(Value::text);
        let row = self.rows.get(&RowId(member("row")?.to_owned()))?;
        let kind = member("kind").unwrap_or_default();
        if let Some(digest) = member("digest").filter(|_| matches!(kind, "asked" | "edited" | "claimed")) {
            self.digests.insert(row.id.clone(), digest.to_owned());
        }
        let call = row.call.as_ref();
        let current = call.map(|call| call.args.as_slice());
        // Whoever voted, or was shown it, saw these bytes, whatever stood there by then.
        let of_the_event = member("seen").or_else(|| member("digest").filter(|_| kind == "shown"));
        let digest = of_the_event.or_else(|| self.digests.get(&row.id).map(String::as_str));
        let shown = digest.and_then(|digest| {
            let replaced = row.edits.iter().find(|edit| edit.digest.to_string() == digest);
            match replaced {
                Some(edit) if row.digest.to_string() != digest => Some(edit.args.as_slice()),
                _ => current,
            }
        });
        Some(About {
            run: row.run.0.clone(),
            step: step(row),
            tool: call.map(|call| format!("{}.{}", call.server, call.tool)),
            arguments_shown: shown.map(json),
            arguments_executed: current.filter(|_| CLAIMED.contains(&kind)).map(json),
            decision: row.state.to_string(),
            decider: row.decided_by.clone(),
            expires: rfc3339(row.expires),
            outcome: row.outcome.as_ref().map(outcome),
        })
    }
}
