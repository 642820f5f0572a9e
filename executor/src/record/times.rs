//! Wall, sum, critical path, and the time that people took.

use std::collections::BTreeMap;

use plangate_approval::{RowState, Time};
use plangate_graph::NodeIx;

use crate::schedule::{Kind, Table, Topology};
use crate::stored::{Picture, Span, Stored};

/// What a run took. Microseconds, but for `waited`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) wall: u64,
    pub(super) sum: u64,
    pub(super) critical: u64,
    pub(super) path: Vec<NodeIx>,
    /// Milliseconds of the store's clock.
    pub(super) waited: u64,
}

pub(super) fn measure(stored: &Stored, shape: &Topology, picture: &Picture<'_>) -> Times {
    let (drives, durations) = (&picture.drives, &picture.durations);
    let (critical, path) = critical(shape, picture, durations);
    Times {
        wall: drives.values().map(|drive| drive.last).sum(),
        sum: durations.0.iter().sum(),
        critical,
        path,
        waited: waited(stored, drives),
    }
}

/// The longest way by durations. A branch that a join did not wait for is no way to it.
fn critical(shape: &Topology, picture: &Picture<'_>, durations: &Table<u64>) -> (u64, Vec<NodeIx>) {
    let mut best: Table<(u64, Option<NodeIx>)> = Table(vec![(0, None); shape.len()]);
    for ix in shape.order().iter().copied() {
        let list = match shape.kind(ix) {
            Kind::Need { .. } => picture.details[ix].as_ref().and_then(|d| d.list.as_ref()),
            _ => None,
        };
        let mut before = (0, None);
        let mut counted = list.iter().flat_map(|list| list.iter());
        for link in shape.ins(ix) {
            let waited_for = !link.counted || counted.next().is_none_or(|c| c.state.ended());
            if waited_for && best[link.node].0 > before.0 {
                before = (best[link.node].0, Some(link.node));
            }
        }
        best[ix] = (before.0 + durations[ix], before.1);
    }
    let last = shape.indices().max_by_key(|ix| (best[*ix].0, std::cmp::Reverse(*ix)));
    let total = last.map_or(0, |ix| best[ix].0);
    let mut path: Vec<NodeIx> = std::iter::successors(last, |ix| best[*ix].1).collect();
    path.retain(|ix| durations[*ix] > 0);
    path.reverse();
    (total, path)
}

/// How long nobody drove while some row waited for a person: the gaps between drives, as far as a row was open in them.
fn waited(stored: &Stored, drives: &BTreeMap<u64, Span>) -> u64 {
    let mut open: Vec<(Time, Time)> = Vec::new();
    for row in &stored.rows {
        let end = match row.state {
            RowState::Pending | RowState::Uncertain | RowState::Claimed => None,
            RowState::Expired => Some(row.decided_at.unwrap_or(row.expires)),
            _ => row.decided_at,
        };
        open.push((row.created, end.unwrap_or(Time(i64::MAX))));
        if let Some(settled) = &row.settled {
            open.push((row.ended_at.or(row.claimed_at).unwrap_or(row.created), settled.at));
        }
    }
    open.sort_unstable();
    let spans: Vec<&Span> = drives.values().collect();
    let mut total = 0;
    for pair in spans.windows(2) {
        if let [before, after] = pair {
            total += covered(&open, before.end(), after.began);
        }
    }
    total
}

/// How much of a gap these spans cover. They are sorted by their begin.
fn covered(open: &[(Time, Time)], from: Time, to: Time) -> u64 {
    let mut at = from;
    let mut total = 0;
    for (begin, end) in open {
        let (begin, end) = ((*begin).max(at), (*end).min(to));
        if begin < end {
            total += end.0.abs_diff(begin.0);
            at = end;
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_rows_count_once() {
        let t = |n| Time(n);
        let open = [(t(0), t(10)), (t(5), t(20)), (t(30), t(40))];
        assert_eq!(covered(&open, t(2), t(35)), 8 + 10 + 5);
        assert_eq!(covered(&open, t(20), t(30)), 0);
        assert_eq!(covered(&[(t(0), t(i64::MAX))], t(7), t(9)), 2);
    }
}
