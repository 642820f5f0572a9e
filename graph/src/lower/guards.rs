//! Which question or check guards what, and which question is a node of its own.

use super::judgements::Marks;
use super::lists::Lists;
use super::typed::Typed;
use crate::outline::{Body, Outline};

/// The guards of an outline.
#[derive(Default)]
pub(super) struct Guards {
    /// For each item: the questions and checks, by place, whose yes it waits for, nearest only (what guards those guards it too).
    pub(super) of: Lists,
    /// For each item that is a call: the question whose words stand on its gate. Shorter than the items where the rest have none.
    on_gate: Vec<Option<usize>>,
    /// Which items are the questions of `on_gate`.
    is_on_gate: Vec<bool>,
    /// Questions and checks that guard nothing.
    pub(super) idle: Vec<usize>,
}

impl Guards {
    /// Works them out. Linear.
    pub(super) fn of(typed: &Typed, marks: &Marks) -> Guards {
        let (outline, scopes) = (&typed.outline, &typed.scopes);
        if scopes.iter().all(Option::is_none) {
            return Guards::default(); // There is no question and no check.
        }
        let items = outline.items.len();
        let mut guards =
            Guards { on_gate: vec![None; items], is_on_gate: vec![false; items], ..Guards::default() };
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
                if question
                    && marks.is_asked(first)
                    && bare != indented
                    && guards.words_on_gate(first).is_none()
                {
                    guards.put_on_gate(place, first);
                }
            }
        }
        guards.walk(outline, scopes);
        guards
    }

    /// Whether the words of this question stand on a gate.
    pub(super) fn is_on_gate(&self, question: usize) -> bool {
        self.is_on_gate.get(question) == Some(&true)
    }

    /// The question whose words stand on the gate of this call.
    pub(super) fn words_on_gate(&self, call: usize) -> Option<usize> {
        self.on_gate.get(call).copied().flatten()
    }

    fn put_on_gate(&mut self, question: usize, call: usize) {
        if let (Some(on_gate), Some(is_on_gate)) =
            (self.on_gate.get_mut(call), self.is_on_gate.get_mut(question))
        {
            *on_gate = Some(question);
            *is_on_gate = true;
        }
    }

    fn walk(&mut self, outline: &Outline, scopes: &[Option<Scope>]) {
        // Guards of everything below: the bare ones of the last block that had any; those above guard them in turn.
        let mut above: Vec<usize> = Vec::new();
        // Bare ones of the block we are in.
        let mut here: Vec<usize> = Vec::new();
        let mut waits: Vec<usize> = Vec::new();
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
            waits.drain(..).for_each(|guard| self.of.push(guard));
            self.of.end();
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
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope {
    /// Nothing is indented under it.
    bare: bool,
    /// How many items it guards, counted to two.
    count: usize,
    /// The first of them.
    first: usize,
}

/// The scope of each item that is a question or check. One walk from the end.
pub(super) fn scopes(outline: &Outline) -> Vec<Option<Scope>> {
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
            let (near, far) = if question { (&here, later.as_slice()) } else { (&all, [].as_slice()) };
            let scope = match own {
                (0, _) => Scope {
                    bare: true,
                    count: (near.len() + far.len()).min(2),
                    first: near.first().or(far.first()).copied().unwrap_or(0),
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
