//! Edges that earn their place.
//!
//! Items are taken in typed order. Each gets its node (a call to be asked gets its gate first, which takes over every
//! edge of the call), and its edges from what it reads, what its author said, what guards it, and what it does not
//! commute with. The [frontier](super::frontier) keeps the last part minimal.

use super::derived::{Derived, Made};
use super::frontier::{Branch, Frontier, Waiter};
use super::guards::Guards;
use super::judgements::Marks;
use super::typed::Typed;
use super::worlds::Worlds;
use crate::outline::{BlockKind, Body, Item};
use crate::plan::{Asks, NodeIx, Reason};

/// Derives the nodes and edges that follow from what was typed. Linear in steps and references.
pub(super) fn derive(typed: &Typed, marks: &Marks, guards: &Guards, worlds: &Worlds) -> Derived {
    let mut deriving = Deriving {
        typed,
        marks,
        guards,
        worlds,
        out: Derived::of(&typed.outline),
        frontier: Frontier::new(worlds.count()),
        from_joins: Vec::new(),
        waits: Vec::new(),
        questions: 0,
        checks: 0,
    };
    for at in 0..typed.outline.blocks.len() {
        deriving.block(at);
    }
    deriving.out.settle();
    deriving.out
}

struct Deriving<'a> {
    typed: &'a Typed,
    marks: &'a Marks,
    guards: &'a Guards,
    worlds: &'a Worlds,
    out: Derived,
    frontier: Frontier,
    /// For each item: the blocks from whose `need` joins it gets data, directly or through other steps. Shorter than the
    /// items where the rest get none.
    from_joins: Vec<Vec<usize>>,
    /// What the item at hand waits for, kept for its room.
    waits: Vec<(NodeIx, Asks)>,
    questions: usize,
    checks: usize,
}

impl Deriving<'_> {
    fn block(&mut self, at: usize) {
        let typed = self.typed;
        let Some(block) = typed.outline.blocks.get(at) else { return };
        if let Some(need) = block.need {
            self.need(at, need.k);
        }
        // What may run side by side is a branch of its own; a branch is in typed order.
        let mut branches: Vec<(Option<usize>, Branch)> = Vec::new();
        for place in typed.members.get(at) {
            let Some(item) = typed.outline.items.get(*place) else { continue };
            let key = match block.kind {
                // What changes nothing waits for nothing beside it either way.
                BlockKind::Together => self.marks.changes(*place).then_some(*place),
                BlockKind::AskMe => Some(item.under.unwrap_or(*place)),
                BlockKind::Then | BlockKind::Check => None,
            };
            if branches.last().is_none_or(|(last, _)| *last != key) {
                branches.push((key, Branch::default()));
            }
            if let Some((_, branch)) = branches.last_mut() {
                self.item(*place, item, branch);
            }
        }
        self.frontier.merge(branches.into_iter().map(|(_, branch)| branch));
    }

    /// The join of a block's `need`, in front of its steps.
    fn need(&mut self, at: usize, k: u32) {
        let counted = self.typed.counted.get(at);
        let of: Vec<NodeIx> = counted.iter().filter_map(|place| self.out.node_of(*place)).collect();
        let number = self.typed.numbers.get(at).copied().unwrap_or(0);
        let join = self.out.need_join(at, number, k, &of);
        self.frontier.loosen(at, join, &of);
    }

    fn item(&mut self, place: usize, item: &Item, branch: &mut Branch) {
        if matches!(item.body, Body::Question(_)) && self.guards.is_on_gate(place) {
            self.questions += 1;
            return; // Its words go where its call goes.
        }
        let loose = self.loosened(place, item);
        // Joins of many are made before the node that waits for them, so that every edge leads to a higher index.
        let waiter = self.waiter(place, item, &loose);
        self.frontier.waits(&waiter, branch, &mut self.out, &mut self.waits);
        let entry = self.nodes(place, item);
        for (from, asks) in self.waits.drain(..) {
            self.out.edge(from, entry, Reason::Effect, asks);
        }
        self.data(place, item, entry);
        let typed = self.typed;
        for said in typed.after.get(place) {
            self.edge_from(*said, entry, Reason::Said, Asks::Done);
        }
        let guards = self.guards;
        for guard in guards.of.get(place) {
            self.edge_from(*guard, entry, Reason::Gate, Asks::Yes);
        }
        if let Some(node) = self.out.node_of(place) {
            self.frontier.pass(&waiter, node, branch);
        }
        if !loose.is_empty() {
            self.from_joins.resize(place, Vec::new());
            self.from_joins.push(loose);
        }
    }

    fn edge_from(&mut self, place: usize, to: NodeIx, reason: Reason, asks: Asks) {
        if let Some(from) = self.out.node_of(place) {
            self.out.edge(from, to, reason, asks);
        }
    }

    fn waiter<'l>(&self, place: usize, item: &Item, loose: &'l [usize]) -> Waiter<'l> {
        let world = || self.typed.tool_of(place).map_or(0, |tool| self.worlds.of_tool(tool));
        match &item.body {
            Body::Call(_) if self.marks.changes(place) => Waiter::Effect { world: world(), loose },
            Body::Call(_) => Waiter::Read { world: world(), loose },
            Body::Sentence(_) => Waiter::Sentence,
            Body::Question(_) => Waiter::Question { loose },
            Body::Check(_) => Waiter::Nothing,
        }
    }

    /// Makes the item's node, with a gate in front of a call that is asked, and returns where its edges enter.
    fn nodes(&mut self, place: usize, item: &Item) -> NodeIx {
        match &item.body {
            Body::Call(_) if self.marks.is_asked(place) => {
                self.out.guarded_call(place, self.guards.words_on_gate(place))
            }
            Body::Call(_) => self.out.step(place, Made::Call { item: place }),
            Body::Sentence(_) => self.out.step(place, Made::Write { item: place }),
            Body::Question(_) => {
                self.questions += 1;
                self.out.step(place, Made::Ask { item: place, number: self.questions })
            }
            Body::Check(_) => {
                self.checks += 1;
                self.out.step(place, Made::Check { item: place, number: self.checks })
            }
        }
    }

    /// Edges from what is read: by the item, and by the words on its gate.
    fn data(&mut self, place: usize, item: &Item, entry: NodeIx) {
        self.sources(place, item, entry);
        let typed = self.typed;
        if let Some(words) = self.guards.words_on_gate(place)
            && let Some(question) = typed.outline.items.get(words)
        {
            self.sources(words, question, entry);
        }
    }

    /// Edges from the nodes that an item's references read: the join of its block for steps that it counts.
    fn sources(&mut self, place: usize, item: &Item, entry: NodeIx) {
        let typed = self.typed;
        let join = self.out.join_of(item.block);
        for at in typed.reads.get(place) {
            let above = || typed.outline.items.get(*at).is_some_and(|i| i.block < item.block);
            match join {
                Some(join) if above() => self.out.edge(join, entry, Reason::Data, Asks::Done),
                _ => self.edge_from(*at, entry, Reason::Data, Asks::Done),
            }
        }
    }

    /// The blocks whose `need` loosens this item, sorted: its own, and those it gets data from.
    fn loosened(&self, place: usize, item: &Item) -> Vec<usize> {
        let mut loose = Vec::new();
        if !self.frontier.is_any_live() {
            return loose;
        }
        if self.out.join_of(item.block).is_some() {
            loose.push(item.block);
        }
        for read in self.typed.reads.get(place) {
            loose.extend_from_slice(self.from_joins.get(*read).map_or(&[], Vec::as_slice));
        }
        if let Some(words) = self.guards.words_on_gate(place) {
            for read in self.typed.reads.get(words) {
                loose.extend_from_slice(self.from_joins.get(*read).map_or(&[], Vec::as_slice));
            }
        }
        // Only joins whose counted steps are still in the frontier can matter to anyone below.
        loose.retain(|block| self.frontier.is_live(*block));
        loose.sort_unstable();
        loose.dedup();
        loose
    }
}
