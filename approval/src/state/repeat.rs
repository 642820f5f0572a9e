//! The very same call, made before: the same server, tool and argument digest, in any run.

use plangate_graph::policy::Repeat;

use super::{Refusal, Stored};
use crate::clock::Time;
use crate::event::{Kind, What};
use crate::row::{Row, RowState};
use crate::storage::StoreError;

/// Whether this change claims the row, or puts a call that was not there before: what a repeat is refused at.
pub fn puts_a_call(before: &Stored, next: &Stored) -> bool {
    let claims = next.row.state == RowState::Claimed && before.row.state != RowState::Claimed;
    claims || next.row.digest != before.row.digest
}

/// Refuses the call of this row where its terms say so and one of these rows about the very same call was made, or
/// rejected, too short a while before. A call that is under way, or of which nobody knows what became of it, counts as
/// made; one that failed, or that did not happen, does not. The one that refuses for longest is named.
pub fn repeated<'a>(row: &Row, same: impl IntoIterator<Item = &'a Stored>, now: Time) -> Option<Refusal> {
    let (Some(repeat), Some(call)) = (row.terms.repeat, &row.call) else { return None };
    let others = same.into_iter().map(|stored| &stored.row).filter(|other| other.id != row.id);
    let (at, until, other) = others
        .filter(|other| other.is_call(&call.server, &call.tool, &row.digest))
        .filter_map(|other| counts(other, repeat, now).map(|(at, until)| (at, until, other)))
        .filter(|(_, until, _)| now < *until)
        .max_by_key(|(at, until, _)| (*until, *at))?;
    let log = What::new(Kind::Refused, &row.run)
        .with("node", row.node.as_str())
        .with("ask", u64::from(row.ask))
        .with("server", call.server.as_str())
        .with("tool", call.tool.as_str())
        .digest("digest", &row.digest)
        .with("before", other.id.0.as_str())
        .with("before_run", other.run.0.as_str())
        .time("before_at", at)
        .time("until", until);
    let (state, run) = (other.state, other.run.clone());
    let why = StoreError::Repeated { row: other.id.clone(), run, state, at, until };
    Some(Refusal { why, write: None, log: Some(log) })
}

/// When a call was made, and until when it keeps its like from being made: from the moment by which it had ended.
fn counts(row: &Row, repeat: Repeat, now: Time) -> Option<(Time, Time)> {
    let made = row.claimed_at.unwrap_or(row.created);
    let (at, last) = match row.state {
        RowState::Claimed => (made, now),
        RowState::Succeeded | RowState::Uncertain | RowState::Happened => {
            (made, row.ended_at.or(row.call_deadline).unwrap_or(made))
        }
        RowState::Rejected if repeat.rejected => {
            let no = row.decided_at.unwrap_or(row.created);
            (no, no)
        }
        _ => return None,
    };
    Some((at, Time(last.0.saturating_add(repeat.within_ms))))
}
