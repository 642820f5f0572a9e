//! The schedule on a clock that is only counted: what a plan would take, without running it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use plangate_graph::NodeIx;

use crate::schedule::{Act, Event, How, Illegal, Limits, Schedule, Table, Topology};

/// What a plan takes on a counted clock, in the unit of the costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// When each node started; gates, checks and joins start when they end.
    pub starts: Table<u64>,
    /// When each node ended.
    pub ends: Table<u64>,
    /// When the last one ended.
    pub makespan: u64,
}

/// Runs the schedule with a cost per node on so many workers (nothing: as many as are ready). Everything ends well:
/// people say yes at once, checks say true, and neither takes time. Work is linear up to a logarithm.
pub fn simulate(
    shape: &Arc<Topology>,
    costs: impl Fn(NodeIx) -> u64,
    workers: Option<usize>,
) -> Result<Simulation, Illegal> {
    let limits = Limits { workers, ..Limits::default() };
    let ranks = shape.ranks(|ix| if shape.unit_cost(ix) == 0 { 0 } else { costs(ix) });
    let mut schedule = Schedule::ranked(shape, &limits, ranks, |_| None);
    let mut starts = Table(vec![0; shape.len()]);
    let mut ends = Table(vec![0; shape.len()]);
    let mut running: BinaryHeap<Reverse<(u64, NodeIx)>> = BinaryHeap::new();
    let mut now = 0;
    loop {
        let acts = schedule.advance();
        let idle = acts.is_empty();
        for act in acts {
            match act {
                Act::Read(ix) | Act::Write(ix) | Act::Call(ix) => {
                    starts[ix] = now;
                    running.push(Reverse((now + costs(ix), ix)));
                }
                Act::Check(ix) | Act::Ask(ix) => {
                    (starts[ix], ends[ix]) = (now, now);
                    schedule.on(match act {
                        Act::Check(ix) => Event::Ended(ix, How::Answered(true)),
                        _ => Event::Yes(ix),
                    })?;
                }
                Act::Fired(ix) | Act::Ended(ix, _) => (starts[ix], ends[ix]) = (now, now),
                Act::Late { .. } | Act::Stop(_) => {}
            }
        }
        if !idle {
            continue;
        }
        let Some(Reverse((at, _))) = running.peek().copied() else { break };
        now = at;
        while let Some(Reverse((_, ix))) = running.peek().copied().filter(|Reverse((t, _))| *t == now) {
            running.pop();
            ends[ix] = now;
            schedule.on(Event::Ended(ix, How::Done { value: true }))?;
        }
    }
    Ok(Simulation { starts, ends, makespan: now })
}
