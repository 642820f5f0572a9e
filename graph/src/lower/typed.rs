//! What follows from an outline alone, whatever the tools and the policy are.
//!
//! An outline never changes once it is here, so this is found once: a plan that is compiled and then verified, or read,
//! verified and held against the documents of now, shares it. Nothing of it comes from a file.

use std::collections::HashMap;

use super::guards::{Scope, scopes};
use super::kinds::Calls;
use super::lists::Lists;
use super::shape::{Names, check, counted};
use crate::outline::{BlockKind, Body, Outline};
use crate::problem::Problem;

/// An outline, and what follows from it.
#[derive(Debug)]
pub(crate) struct Typed {
    /// What the author typed.
    pub(crate) outline: Outline,
    /// What is wrong with it. Where this is not empty, the rest may be, and nothing can be derived.
    pub(super) faults: Vec<Problem>,
    /// For each item, the places of the steps that it reads, in the order of the text.
    pub(super) reads: Lists,
    /// For each item, the places of the steps that it says `after:` of.
    pub(super) after: Lists,
    /// For each block, the places of its items.
    pub(super) members: Lists,
    /// For each block with a `need`, the places of the steps that it counts, sorted.
    pub(super) counted: Lists,
    /// For each block, which of its kind it is, from 1.
    pub(super) numbers: Vec<usize>,
    /// For each item that is a question or check, what it guards.
    pub(super) scopes: Vec<Option<Scope>>,
    /// The calls, by tool and kind.
    pub(super) calls: Calls,
    /// For each item that is a call, the index of its tool.
    tool_of: Vec<Option<u32>>,
}

impl Typed {
    /// Checks an outline and works out what follows from it. Linear.
    pub(crate) fn of(outline: Outline) -> Typed {
        let members = members(&outline);
        let (names, faults) = check(&outline, &members);
        let mut made = Typed {
            // Borrowed by the names until all is found.
            outline: Outline::empty(outline.recipe),
            numbers: numbers(&outline),
            members,
            faults,
            reads: Lists::default(),
            after: Lists::default(),
            counted: Lists::default(),
            scopes: Vec::new(),
            calls: Calls::default(),
            tool_of: Vec::new(),
        };
        if made.faults.is_empty() {
            made.resolve(&outline, &names);
            made.calls = Calls::of(&outline);
            made.tool_of = made.calls.tool_of(outline.items.len());
            made.scopes = scopes(&outline);
        }
        Typed { outline, ..made }
    }

    fn resolve(&mut self, outline: &Outline, names: &Names<'_>) {
        for item in &outline.items {
            item.each_ref(&mut |r| {
                if let Some(at) = r.step().and_then(|name| names.step(name)) {
                    self.reads.push(at);
                }
            });
            self.reads.end();
            let after = item.settings().into_iter().flat_map(|s| &s.after);
            after.filter_map(|name| names.step(name)).for_each(|at| self.after.push(at));
            self.after.end();
        }
        for (at, block) in outline.blocks.iter().enumerate() {
            if block.need.is_some() {
                let reads = self.members.get(at).iter().flat_map(|place| self.reads.get(*place)).copied();
                for place in counted(outline, at, reads) {
                    self.counted.push(place);
                }
            }
            self.counted.end();
        }
    }

    /// Server and tool of every tool that is called, by index.
    pub(crate) fn tools_called(&self) -> impl Iterator<Item = (&str, &str)> {
        self.calls.tools.iter().filter_map(|place| match &self.outline.items.get(*place)?.body {
            Body::Call(call) => Some((call.server.as_str(), call.tool.as_str())),
            _ => None,
        })
    }

    /// The index of the tool that an item calls.
    pub(crate) fn tool_of(&self, item: usize) -> Option<usize> {
        self.tool_of.get(item).copied().flatten().map(|tool| tool as usize)
    }

    /// The places of all calls in typed order, each with the index of its tool.
    pub(super) fn places_of_calls(&self) -> impl Iterator<Item = (usize, usize)> {
        let tool = |kind: u32| self.calls.kinds.get(kind as usize).map(|kind| kind.tool as usize);
        self.calls.placed.iter().filter_map(move |call| Some((call.place as usize, tool(call.kind)?)))
    }
}

/// Places of the items of each block, which stand in the order of the blocks; items that do not are a fault, and left out.
fn members(outline: &Outline) -> Lists {
    let mut members = Lists::default();
    let mut items = outline.items.iter().enumerate().peekable();
    for block in 0..outline.blocks.len() {
        while let Some((place, _)) = items.next_if(|(_, item)| item.block == block) {
            members.push(place);
        }
        members.end();
    }
    members
}

/// Which of its kind each block is, from 1.
fn numbers(outline: &Outline) -> Vec<usize> {
    let mut seen: HashMap<BlockKind, usize> = HashMap::new();
    let number = |kind| {
        let number = seen.entry(kind).or_default();
        *number += 1;
        *number
    };
    outline.blocks.iter().map(|block| block.kind).map(number).collect()
}
