//! Ready nodes, by priority, and the slots they run in.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use plangate_graph::NodeIx;

use super::Limits;
use super::table::Table;
use super::topology::{Kind, Topology};

/// Longest path to the end first, ties in typed order.
type Turn = (u64, Reverse<NodeIx>);

/// The ready nodes that need a worker. One queue per capped server and one for all others, each once for claims and
/// once for what only reads, so that a full server or a hold passes over a queue and not over its nodes.
#[derive(Debug, Default)]
pub(super) struct Ready {
    ranks: Table<u64>,
    /// The queue of each node.
    queue_of: Table<u32>,
    queues: Vec<(Queue, Seat)>,
    servers: Vec<Slots>,
    workers: Slots,
}

/// Nodes by their turn. Most become ready in the order of their turns: they stand in a line, and only those that have to
/// go before others are in a heap.
#[derive(Debug, Default)]
struct Queue {
    /// Each goes before the one behind it.
    line: VecDeque<Turn>,
    rest: BinaryHeap<Turn>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seat {
    server: Option<usize>,
    call: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slots {
    free: usize,
}

impl Queue {
    fn push(&mut self, turn: Turn) {
        if self.line.back().is_none_or(|last| turn <= *last) {
            self.line.push_back(turn);
        } else {
            self.rest.push(turn);
        }
    }

    fn peek(&self) -> Option<Turn> {
        self.line.front().max(self.rest.peek()).copied()
    }

    fn pop(&mut self) -> Option<Turn> {
        if self.line.front() >= self.rest.peek() { self.line.pop_front() } else { self.rest.pop() }
    }

    fn len(&self) -> usize {
        self.line.len() + self.rest.len()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn clear(&mut self) {
        self.line.clear();
        self.rest.clear();
    }
}

impl Ready {
    pub(super) fn new(shape: &Topology, limits: &Limits, ranks: Table<u64>) -> Ready {
        // Queues stand in pairs: first that of all servers without a cap, then those of the others.
        let queue = |ix| {
            let (server, call) = match shape.kind(ix) {
                Kind::Read { server } => (Some(*server), false),
                Kind::Call { server, .. } => (Some(*server), true),
                _ => (None, false),
            };
            let capped = server.and_then(|s| limits.caps.iter().position(|(capped, _)| *capped == s));
            let pair = capped.map_or(0, |at| at + 1);
            u32::try_from(2 * pair + usize::from(call)).unwrap_or(u32::MAX)
        };
        let queue_of = Table(shape.indices().map(queue).collect());
        let lanes = std::iter::once(None).chain((0..limits.caps.len()).map(Some));
        let queues = lanes
            .flat_map(|server| [false, true].map(|call| (Queue::default(), Seat { server, call })))
            .collect();
        Ready {
            ranks,
            queue_of,
            queues,
            servers: limits.caps.iter().map(|(_, cap)| Slots { free: (*cap).max(1) }).collect(),
            workers: Slots { free: limits.workers.unwrap_or(usize::MAX).max(1) },
        }
    }

    pub(super) fn put(&mut self, ix: NodeIx) {
        let turn = (self.ranks[ix], Reverse(ix));
        if let Some((queue, _)) = self.queues.get_mut(self.queue_of[ix] as usize) {
            queue.push(turn);
        }
    }

    /// The next node for which there are slots; it takes them. `held`: no claims now.
    pub(super) fn take(&mut self, held: bool) -> Option<NodeIx> {
        if self.workers.free == 0 {
            return None;
        }
        let servers = &self.servers;
        let open = |seat: &Seat| {
            !(held && seat.call)
                && seat.server.is_none_or(|s| servers.get(s).is_some_and(|slots| slots.free > 0))
        };
        let (queue, seat) = self
            .queues
            .iter_mut()
            .filter(|(queue, seat)| !queue.is_empty() && open(seat))
            .max_by_key(|(queue, _)| queue.peek())?;
        let (_, Reverse(ix)) = queue.pop()?;
        if let Some(slots) = seat.server.and_then(|s| self.servers.get_mut(s)) {
            slots.free -= 1;
        }
        self.workers.free -= 1;
        Some(ix)
    }

    /// A node gives its slots back.
    pub(super) fn release(&mut self, ix: NodeIx) {
        let seat = self.queues.get(self.queue_of[ix] as usize).map(|(_, seat)| *seat);
        if let Some(slots) = seat.and_then(|seat| self.servers.get_mut(seat.server?)) {
            slots.free += 1;
        }
        self.workers.free += 1;
    }

    /// How many claims wait for their turn.
    pub(super) fn calls(&self) -> usize {
        self.queues.iter().filter(|(_, seat)| seat.call).map(|(queue, _)| queue.len()).sum()
    }

    pub(super) fn clear(&mut self) {
        self.queues.iter_mut().for_each(|(queue, _)| queue.clear());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A queue gives what a heap gives, whatever is put in and taken out in between.
        #[test]
        fn a_queue_is_a_heap(steps in proptest::collection::vec(proptest::option::of(0..20_u64), 0..200)) {
            let (mut queue, mut heap) = (Queue::default(), BinaryHeap::new());
            for (ix, step) in (0..).map(NodeIx).zip(steps) {
                if let Some(rank) = step {
                    queue.push((rank, Reverse(ix)));
                    heap.push((rank, Reverse(ix)));
                } else {
                    prop_assert_eq!(queue.pop(), heap.pop());
                }
                prop_assert_eq!((queue.peek(), queue.len()), (heap.peek().copied(), heap.len()));
            }
            while let Some(turn) = heap.pop() {
                prop_assert_eq!(queue.pop(), Some(turn));
            }
            prop_assert!(queue.is_empty());
        }
    }
}
