//! What later steps must wait for because it does not commute with them.
//!
//! Of each world the frontier keeps the effects since which nothing else changed it, and the reads since those. A read
//! waits for the effects; an effect waits for the reads, and for the effects unless a read that waits for them stands
//! between. Then it takes their place. So edges are minimal as they are made.
//!
//! A `need` loosens the edges of some steps: its counted steps leave the frontier for a [`Group`], which every step that
//! is not loosened waits for as if it were still there, and every loosened one through the join.

use std::collections::BTreeSet;

use super::derived::Derived;
use crate::plan::{Asks, NodeIx};

/// From how many on a step waits through one join instead of for each.
const MANY: usize = 4;

/// All worlds.
pub(super) struct Frontier {
    worlds: Vec<World>,
    /// Joins of all made so far.
    joins: usize,
    /// Groups made so far.
    groups: usize,
    /// Blocks whose join can still loosen something.
    live: BTreeSet<usize>,
}

/// Who waits.
pub(super) enum Waiter<'a> {
    /// A call that changes something.
    Effect {
        /// In this world.
        world: usize,
        /// Blocks whose `need` loosens it, sorted.
        loose: &'a [usize],
    },
    /// A call that only reads.
    Read {
        /// In this world.
        world: usize,
        /// Blocks whose `need` loosens it, sorted.
        loose: &'a [usize],
    },
    /// A sentence: waits for nothing but what it reads, and every effect below waits for it.
    Sentence,
    /// A question that is a node: waits for everything above, in every world, and nothing waits for it but what it guards.
    Question {
        /// Blocks whose `need` loosens it, sorted.
        loose: &'a [usize],
    },
    /// A check, or words on a gate.
    Nothing,
}

/// Steps of one block in typed order, beside the other branches of it.
#[derive(Default)]
pub(super) struct Branch {
    worlds: Vec<(usize, Own)>,
}

/// What a branch did to one world.
#[derive(Default)]
struct Own {
    /// It has an effect, which waits for all that stood before the block; what it added since follows.
    replaced: bool,
    effects: Set,
    reads: Set,
    dissolved: BTreeSet<usize>,
}

#[derive(Default)]
struct World {
    effects: Set,
    reads: Set,
    groups: Vec<Group>,
}

/// Counted steps of a `need` that nothing waits for strictly yet.
struct Group {
    id: usize,
    /// The blocks that count them, with their joins.
    counted_by: Vec<(usize, NodeIx)>,
    effects: Set,
    reads: Set,
}

/// Nodes to wait for, with the joins that already stand for a prefix of them.
#[derive(Default)]
struct Set {
    members: Vec<Member>,
    /// How many members cover.
    covering: usize,
    /// The join that stands for the first so many members, for strict waiters.
    strict: Option<(usize, NodeIx)>,
    /// The same for loose waiters.
    loose: Option<(usize, NodeIx)>,
}

#[derive(Clone, Copy)]
struct Member {
    node: NodeIx,
    /// It waits for all effects of its world that stood when it was passed.
    covers: bool,
}

/// What a frontier edge asks: strict edges that it is done or skipped, loose ones only that it has ended.
#[derive(Clone, Copy)]
enum Grip {
    Strict,
    Loose,
}

impl Frontier {
    pub(super) fn new(worlds: usize) -> Frontier {
        let worlds = (0..worlds).map(|_| World::default()).collect();
        Frontier { worlds, joins: 0, groups: 0, live: BTreeSet::new() }
    }

    /// A block's join counts these steps: whoever is loosened by it waits for them through it.
    pub(super) fn loosen(&mut self, block: usize, join: NodeIx, counted: &[NodeIx]) {
        let mut fresh = Vec::new();
        for world in &mut self.worlds {
            let mut groups = vec![(Vec::new(), world.effects.split(counted), world.reads.split(counted))];
            for group in &mut world.groups {
                let by = group.counted_by.clone();
                groups.push((by, group.effects.split(counted), group.reads.split(counted)));
            }
            for (mut counted_by, effects, reads) in groups {
                if !effects.members.is_empty() || !reads.members.is_empty() {
                    counted_by.push((block, join));
                    self.groups += 1;
                    world.groups.push(Group { id: self.groups, counted_by, effects, reads });
                    fresh.push(block);
                }
            }
            world.groups.retain(|g| !g.effects.members.is_empty() || !g.reads.members.is_empty());
        }
        self.live.extend(fresh);
    }

    /// Whether the join of any block can still loosen anything.
    pub(super) fn is_any_live(&self) -> bool {
        !self.live.is_empty()
    }

    /// Whether the join of a block can still loosen anything.
    pub(super) fn is_live(&self, block: usize) -> bool {
        self.live.contains(&block)
    }

    /// Adds what a waiter waits for, and what it asks, to `waits`, which is empty. May make joins.
    pub(super) fn waits(
        &mut self,
        waiter: &Waiter<'_>,
        branch: &mut Branch,
        out: &mut Derived,
        waits: &mut Vec<(NodeIx, Asks)>,
    ) {
        match waiter {
            Waiter::Nothing | Waiter::Sentence => {}
            Waiter::Read { world, loose } => self.before_read(*world, loose, branch, out, waits),
            Waiter::Effect { world, loose } => {
                self.before_effect(*world, loose, branch.own(*world), out, waits);
            }
            Waiter::Question { loose } => {
                // Questions of one block are independent of each other: they see what stood before it.
                for world in 0..self.worlds.len() {
                    self.before_effect(world, loose, &mut Own::default(), out, waits);
                }
            }
        }
        waits.sort_unstable();
        waits.dedup();
    }

    /// The waiter has its node: later steps wait for that.
    pub(super) fn pass(&mut self, waiter: &Waiter<'_>, node: NodeIx, branch: &mut Branch) {
        match waiter {
            Waiter::Nothing | Waiter::Question { .. } => {}
            Waiter::Sentence => {
                for world in 0..self.worlds.len() {
                    branch.own(world).reads.push(Member { node, covers: false });
                }
            }
            Waiter::Read { world, .. } => branch.own(*world).reads.push(Member { node, covers: true }),
            Waiter::Effect { world, .. } => {
                let own = branch.own(*world);
                own.replaced = true;
                own.effects = Set::default();
                own.reads = Set::default();
                own.effects.push(Member { node, covers: false });
            }
        }
    }

    /// The branches of a block have ended: what stands after all of them.
    pub(super) fn merge(&mut self, branches: impl IntoIterator<Item = Branch>) {
        let mut changed: Vec<Vec<Own>> = self.worlds.iter().map(|_| Vec::new()).collect();
        let mut dissolved = false;
        for (world, own) in branches.into_iter().flat_map(|b| b.worlds) {
            dissolved |= !own.dissolved.is_empty();
            if let Some(list) = changed.get_mut(world) {
                list.push(own);
            }
        }
        for (world, owns) in self.worlds.iter_mut().zip(changed) {
            world.merge(owns);
        }
        if dissolved {
            let groups = self.worlds.iter().flat_map(|w| &w.groups);
            self.live = groups.flat_map(|g| g.counted_by.iter().map(|(block, _)| *block)).collect();
        }
    }

    fn before_read(
        &mut self,
        world: usize,
        loose: &[usize],
        branch: &mut Branch,
        out: &mut Derived,
        waits: &mut Vec<(NodeIx, Asks)>,
    ) {
        let Some(before) = self.worlds.get_mut(world) else { return };
        let own = branch.own(world);
        if !own.replaced {
            before.effects.wait(Grip::Strict, out, &mut self.joins, waits);
        }
        own.effects.wait(Grip::Strict, out, &mut self.joins, waits);
        for group in before.groups.iter_mut().filter(|g| !own.dissolved.contains(&g.id)) {
            let grip = if group.loosened(loose).is_some() { Grip::Loose } else { Grip::Strict };
            group.effects.wait(grip, out, &mut self.joins, waits);
        }
    }

    fn before_effect(
        &mut self,
        world: usize,
        loose: &[usize],
        own: &mut Own,
        out: &mut Derived,
        waits: &mut Vec<(NodeIx, Asks)>,
    ) {
        let Some(before) = self.worlds.get_mut(world) else { return };
        let joins = &mut self.joins;
        if !own.replaced {
            before.reads.wait(Grip::Strict, out, joins, waits);
            if !before.reads.covers() && !own.reads.covers() {
                before.effects.wait(Grip::Strict, out, joins, waits);
            }
        }
        if !own.reads.covers() {
            own.effects.wait(Grip::Strict, out, joins, waits);
        }
        own.reads.wait(Grip::Strict, out, joins, waits);
        for group in before.groups.iter_mut().filter(|g| !own.dissolved.contains(&g.id)) {
            if let Some(join) = group.loosened(loose) {
                if !group.reads.members.is_empty() {
                    waits.push((join, Asks::DoneOrSkipped));
                }
                group.effects.wait(Grip::Loose, out, joins, waits);
            } else {
                group.reads.wait(Grip::Strict, out, joins, waits);
                group.effects.wait(Grip::Strict, out, joins, waits);
            }
        }
        own.dissolved.extend(before.groups.iter().filter(|g| g.loosened(loose).is_none()).map(|g| g.id));
    }
}

impl Group {
    /// The join through which a step that these blocks loosen waits for its reads.
    fn loosened(&self, loose: &[usize]) -> Option<NodeIx> {
        self.counted_by.iter().find(|(block, _)| loose.binary_search(block).is_ok()).map(|(_, join)| *join)
    }
}

impl Branch {
    fn own(&mut self, world: usize) -> &mut Own {
        let found = self.worlds.iter().position(|(w, _)| *w == world);
        let at = found.unwrap_or_else(|| {
            self.worlds.push((world, Own::default()));
            self.worlds.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "found or pushed just above")]
        &mut self.worlds[at].1
    }
}

impl World {
    fn merge(&mut self, owns: Vec<Own>) {
        if owns.iter().any(|own| own.replaced) {
            // Each effect waits for all that stood before; it stands for it now.
            self.effects = Set::default();
            self.reads = Set::default();
            // Reads of the other branches wait for none of these effects.
            for own in owns {
                let follows = own.replaced;
                self.groups.retain(|g| !own.dissolved.contains(&g.id));
                self.effects.extend(own.effects.members.into_iter());
                self.reads.extend(
                    own.reads.members.into_iter().map(|m| Member { covers: m.covers && follows, ..m }),
                );
            }
            if self.effects.members.len() > 1 {
                self.reads.uncover();
            }
        } else {
            for own in owns {
                self.reads.extend(own.reads.members.into_iter());
            }
        }
    }
}

impl Set {
    fn push(&mut self, member: Member) {
        self.covering += usize::from(member.covers);
        self.members.push(member);
    }

    fn extend(&mut self, members: impl Iterator<Item = Member>) {
        members.for_each(|m| self.push(m));
    }

    fn covers(&self) -> bool {
        self.covering > 0
    }

    fn uncover(&mut self) {
        self.members.iter_mut().for_each(|m| m.covers = false);
        self.covering = 0;
    }

    /// Takes these nodes (sorted) out into a set of their own.
    fn split(&mut self, taken: &[NodeIx]) -> Set {
        if !self.members.iter().any(|m| taken.binary_search(&m.node).is_ok()) {
            return Set::default();
        }
        let (mut out, mut kept) = (Set::default(), Set::default());
        for member in self.members.drain(..) {
            let set = if taken.binary_search(&member.node).is_ok() { &mut out } else { &mut kept };
            set.push(member);
        }
        *self = kept;
        out
    }

    /// Adds an edge from each member, or from a join of all where they are many.
    fn wait(&mut self, grip: Grip, out: &mut Derived, joins: &mut usize, waits: &mut Vec<(NodeIx, Asks)>) {
        let (slot, asks) = match grip {
            Grip::Strict => (&mut self.strict, Asks::DoneOrSkipped),
            Grip::Loose => (&mut self.loose, Asks::Ended),
        };
        let (upto, join) = slot.map_or((0, None), |(upto, join)| (upto, Some(join)));
        let rest = self.members.get(upto..).unwrap_or_default();
        let single =
            join.map(|j| (j, Asks::DoneOrSkipped)).into_iter().chain(rest.iter().map(|m| (m.node, asks)));
        if rest.len() + usize::from(join.is_some()) <= MANY {
            waits.extend(single);
            return;
        }
        let single: Vec<_> = single.collect();
        *joins += 1;
        let join = out.join_all(*joins, &single);
        *slot = Some((self.members.len(), join));
        waits.push((join, Asks::DoneOrSkipped));
    }
}
