//! Which question or check guards what, and which question is a node of its own.

use std::collections::{BTreeMap, HashSet};

use super::judge::Judgement;
use crate::outline::{Body, Outline};

/// The guards of an outline.
#[derive(Default)]
pub(super) struct Guards {
    /// For each item: the questions and checks, by place, whose yes it waits for, nearest only (what guards those guards it too).
    pub(super) of: Vec<Vec<usize>>,
    /// For each item that is a call: the question whose words stand on its gate.
    pub(super) on_gate: BTreeMap<usize, usize>,
    /// The questions of `on_gate`.
    words_on_gate: HashSet<usize>,
    /// Questions and checks that guard nothing.
    pub(super) idle: Vec<usize>,
}

impl Guards {
    /// Works them out. Linear.
    pub(super) fn of(outline: &Outline, judgements: &BTreeMap<usize, Judgement>) -> Guards {
        let scopes = scopes(outline);
        let mut guards = Guards { of: vec![Vec::new(); outline.items.len()], ..Guards::default() };
        guards.idle = scopes
            .iter()
            .enumerate()
            .filter(|(_, s)| s.is_some_and(|s| s.count == 0))
            .map(|(p, _)| p)
            .collect();
        // The words nearest to the call stand on its gate: first those it is indented under.
        for indented in [true, false] {
            for (place, scope) in scopes.iter().enumerate() {
                let Some(Scope { bare, count: 1, first }) = *scope else { continue };
                let question = matches!(outline.items.get(place).map(|i| &i.body), Some(Body::Question(_)));
                let asked = judgements.get(&first).is_some_and(|j| j.judged.asked);
                if question && asked && bare != indented && !guards.on_gate.contains_key(&first) {
                    guards.on_gate.insert(first, place);
                    guards.words_on_gate.insert(place);
                }
            }
        }
        guards.walk(outline, &scopes);
        guards
    }

    /// Whether the words of this question stand on a gate.
    pub(super) fn is_on_gate(&self, question: usize) -> bool {
        self.words_on_gate.contains(&question)
    }

    fn walk(&mut self, outline: &Outline, scopes: &[Option<Scope>]) {
        // Guards of everything below: the bare ones of the last block that had any; those above guard them in turn.
        let mut above: Vec<usize> = Vec::new();
        // Bare ones of the block we are in.
        let mut here: Vec<usize> = Vec::new();
        let mut block = 0;
        for (place, item) in outline.items.iter().enumerate() {
            if item.block != block {
                block = item.block;
                if !here.is_empty() {
                    above = std::mem::take(&mut here);
                }
            }
            let scope = scopes.get(place).copied().flatten();
            let bare = scope.is_some_and(|s| s.bare && s.count > 0) && !self.is_on_gate(place);
            let mut waits = Vec::new();
            match (&item.body, item.under) {
                // The questions of one `ask me:` are independent of each other.
                (Body::Question(_), _) => waits.extend(&above),
                // A check is guarded by what stands above it, in its own block too.
                (Body::Check(_), _) => waits.extend(if here.is_empty() { &above } else { &here }),
                (_, Some(guard)) if !self.is_on_gate(guard) => {
                    waits.push(guard);
                    if matches!(outline.items.get(guard).map(|i| &i.body), Some(Body::Question(_))) {
                        waits.extend(&here);
                    }
                }
                _ => {
                    waits.extend(if here.is_empty() { &above } else { &here });
                }
            }
            waits.sort_unstable();
            waits.dedup();
            if let Some(of) = self.of.get_mut(place) {
                *of = waits;
            }
            if bare {
                if matches!(item.body, Body::Check(_)) {
                    here.clear(); // It is guarded by them, so it stands for them.
                }
                here.push(place);
            }
        }
    }
}

/// What a question or check guards.
#[derive(Clone, Copy)]
struct Scope {
    /// Nothing is indented under it.
    bare: bool,
    /// How many items it guards, counted to two.
    count: usize,
    /// The first of them.
    first: usize,
}

/// The scope of each item that is a question or check. One walk from the end.
fn scopes(outline: &Outline) -> Vec<Option<Scope>> {
    let mut under: Vec<(usize, usize)> = vec![(0, 0); outline.items.len()];
    for (place, item) in outline.items.iter().enumerate().rev() {
        if let Some((count, first)) = item.under.and_then(|guard| under.get_mut(guard)) {
            *count += 1;
            *first = place;
        }
    }
    let mut scopes = vec![None; outline.items.len()];
    // The first two items of later blocks, and of this block but for its questions.
    let mut later: Vec<usize> = Vec::new();
    let mut here: Vec<usize> = Vec::new();
    let mut all: Vec<usize> = Vec::new();
    let mut block = outline.blocks.len();
    for (place, item) in outline.items.iter().enumerate().rev() {
        if item.block != block {
            block = item.block;
            later.clone_from(&all);
            here.clear();
        }
        let own = under.get(place).copied().unwrap_or_default();
        let question = matches!(item.body, Body::Question(_));
        if item.name().is_none() {
            let below = if question { [here.as_slice(), later.as_slice()].concat() } else { all.clone() };
            let scope = match own {
                (0, _) => Scope {
                    bare: true,
                    count: below.len().min(2),
                    first: below.first().copied().unwrap_or(0),
                },
                (count, first) => Scope { bare: false, count, first },
            };
            if let Some(slot) = scopes.get_mut(place) {
                *slot = Some(scope);
            }
        }
        front(&mut all, place);
        if !question {
            front(&mut here, place);
        }
    }
    scopes
}

/// Keeps the first two.
fn front(two: &mut Vec<usize>, place: usize) {
    two.insert(0, place);
    two.truncate(2);
}
