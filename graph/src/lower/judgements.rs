//! What each call was found to be.

use std::sync::Arc;

use crate::digest::Digest;
use crate::effect::{Classification, Effect, Evidence};
use crate::plan::Judged;

/// What a call counts as. Nodes and edges follow from this and from what was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Its effect.
    pub(crate) effect: Effect,
    /// Whether it gets a gate.
    pub(crate) asked: bool,
}

/// What the calls count as, by item.
///
/// What a plan says of its calls is a floor where it is verified: the stronger of it and of what catalog and policy say
/// now counts, so that a policy that became looser changes nothing and one that became stricter shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks(Vec<Option<Mark>>);

/// What each call is, by item.
#[derive(Debug, Default)]
pub(crate) struct Judgements {
    /// What it counts as: nothing for what is no call, and for calls that may not be made.
    pub(super) marks: Marks,
    /// What catalog and policy say of it: an index into `found`, or beyond its end.
    pub(super) found_of: Vec<u32>,
    /// What was found out, each thing once: most calls of one tool are the same to catalog and policy.
    pub(super) found: Vec<Found>,
    /// Some call counts as more than the floor said.
    pub(super) raised: bool,
}

/// What catalog and policy say now of a call, before any floor.
#[derive(Debug)]
pub(crate) struct Found {
    /// Digest of its tool's definition.
    pub(crate) definition: Digest,
    /// What it does.
    pub(crate) now: Arc<Classification>,
    /// Whether catalog and policy alone would have it asked.
    pub(crate) asked_now: bool,
    /// Why it is asked or not.
    pub(crate) why: Evidence,
    /// Both, as they go into the plan.
    pub(crate) evidence: Arc<[Evidence]>,
}

/// No index of anything that was found.
pub(super) const NOTHING: u32 = u32::MAX;

impl Mark {
    /// A call of which nothing is said.
    pub(super) const LEAST: Mark = Mark { effect: Effect::Read, asked: false };

    /// What is true of either.
    pub(super) fn or(self, other: Mark) -> Mark {
        Mark { effect: self.effect.max(other.effect), asked: self.asked || other.asked }
    }
}

impl Marks {
    /// Nothing yet about so many items.
    pub(super) fn of_items(items: usize) -> Marks {
        Marks(vec![None; items])
    }

    /// What an item counts as: nothing for what is no call.
    pub(crate) fn of(&self, item: usize) -> Option<Mark> {
        self.0.get(item).copied().flatten()
    }

    /// Whether an item is a call that changes something.
    pub(super) fn changes(&self, item: usize) -> bool {
        self.of(item).is_some_and(|mark| mark.effect.changes())
    }

    /// Whether an item is a call that is asked.
    pub(super) fn is_asked(&self, item: usize) -> bool {
        self.of(item).is_some_and(|mark| mark.asked)
    }

    /// Says what an item counts as; of what is said twice, the stronger.
    pub(super) fn put(&mut self, item: usize, mark: Mark) {
        if let Some(slot) = self.0.get_mut(item) {
            *slot = Some(slot.unwrap_or(Mark::LEAST).or(mark));
        }
    }
}

impl Judgements {
    /// Nothing yet about so many items.
    pub(super) fn of_items(items: usize) -> Judgements {
        Judgements {
            marks: Marks::of_items(items),
            found_of: vec![NOTHING; items],
            found: Vec::new(),
            raised: false,
        }
    }

    /// What was found out about an item.
    pub(crate) fn found(&self, item: usize) -> Option<&Found> {
        self.found.get(*self.found_of.get(item)? as usize)
    }

    /// What goes into the plan about a call that was judged.
    pub(super) fn judged(&self, item: usize) -> Option<Judged> {
        let (mark, found) = (self.marks.of(item)?, self.found(item)?);
        Some(Judged {
            definition: found.definition,
            effect: mark.effect,
            asked: mark.asked,
            evidence: Arc::clone(&found.evidence),
        })
    }

    /// What was found out about a call at its place.
    pub(super) fn put(&mut self, place: usize, found: u32, mark: Mark) {
        self.marks.put(place, mark);
        if let Some(slot) = self.found_of.get_mut(place) {
            *slot = found;
        }
    }
}
