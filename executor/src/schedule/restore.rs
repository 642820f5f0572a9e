//! A schedule that goes on from what is stored.

use std::collections::VecDeque;
use std::sync::Arc;

use plangate_approval::StepState;
use plangate_graph::NodeIx;

use super::cause::Standing;
use super::joins::Joins;
use super::ready::Ready;
use super::table::Table;
use super::topology::Topology;
use super::{Limits, Node, Schedule, Tally};

/// What is known of a node when a run goes on: an ended state, or `Pending` or `Uncertain`. A node that was under way
/// or had not started is not named.
pub type Restored = Standing;

impl Schedule {
    /// A run that goes on. Ended nodes keep what they are and start nothing twice; pending and uncertain ones wait; all
    /// others are decided anew from these.
    pub fn resumed(
        shape: &Arc<Topology>,
        limits: &Limits,
        restored: impl Fn(NodeIx) -> Option<Restored>,
    ) -> Schedule {
        let ranks = shape.ranks(|ix| shape.unit_cost(ix));
        Schedule::ranked(shape, limits, ranks, restored)
    }

    pub(crate) fn ranked(
        shape: &Arc<Topology>,
        limits: &Limits,
        ranks: Table<u64>,
        restored: impl Fn(NodeIx) -> Option<Restored>,
    ) -> Schedule {
        let node = |ix| Node {
            state: StepState::Waiting,
            open: u32::try_from(shape.ins(ix).iter().filter(|l| !l.counted).count()).unwrap_or(u32::MAX),
            doomed: None,
            unneeded: false,
            lacking: false,
            value: false,
            yes: false,
        };
        let mut schedule = Schedule {
            nodes: Table(shape.indices().map(node).collect()),
            tally: Tally { open: shape.len(), ..Tally::default() },
            ready: Ready::new(shape, limits, ranks),
            joins: Joins::new(shape),
            news: VecDeque::new(),
            acts: Vec::new(),
            hold: limits.hold_siblings,
            cancelled: false,
            time_up: false,
            shape: Arc::clone(shape),
        };
        for ix in shape.order().iter().copied() {
            let Some(known) = restored(ix) else { continue };
            schedule.set(ix, known.state);
            schedule.nodes[ix].value = known.value;
            schedule.nodes[ix].yes = known.yes;
            if known.state.ended() {
                for link in shape.outs(ix) {
                    schedule.tell(link.node, *link, known, ix);
                }
            }
        }
        for ix in shape.order().iter().copied() {
            schedule.decide(ix);
        }
        schedule.spread();
        schedule
    }
}
