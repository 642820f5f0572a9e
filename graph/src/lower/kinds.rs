//! The calls of an outline by kind: those of one kind are the same to catalog and policy, and need one look.
//!
//! Kinds follow from what was typed alone. That two calls are of one kind says that they are the same; that they are of
//! two says nothing: only a few kinds are looked at for each call, the last ones.

use std::collections::HashMap;

use crate::outline::{Body, Call, Outline};
use crate::schema::{Inputs, alike, same_shape};
use crate::template::Template;

/// The calls of an outline, by tool and kind.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// All calls in typed order.
    pub(super) placed: Vec<Placed>,
    /// All kinds, by index.
    pub(super) kinds: Vec<Kind>,
    /// The tools that are called, each by the place of the first call of it.
    pub(super) tools: Vec<usize>,
    /// How many shapes of arguments there are.
    pub(super) shapes: usize,
}

/// A call, by its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    /// The place of its item.
    pub(super) place: u32,
    /// The index of its kind.
    pub(super) kind: u32,
}

/// Calls of one tool with [alike](alike) arguments, of which all or none say `without asking`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// The index of their tool.
    pub(super) tool: u32,
    /// The shape of their arguments: a number that kinds of one tool and one [shape](same_shape) share.
    pub(super) shape: u32,
    /// They have no references in their arguments, so that these are the same in all of them.
    pub(super) literal: bool,
}

/// For how many shapes of one tool it is remembered that they were there.
const REMEMBERED: usize = 4;

/// A shape of one tool, with the last call that had it.
struct Shape<'a> {
    number: u32,
    args: &'a Template,
    without_asking: bool,
    kind: u32,
}

impl Calls {
    /// Finds them. Linear.
    pub(super) fn of(outline: &Outline) -> Calls {
        let inputs: Inputs<'_> = outline.inputs.iter().map(|i| (i.name.as_str(), i.kind)).collect();
        let mut found = Calls::default();
        let mut known: HashMap<(&str, &str), usize> = HashMap::new();
        // For each tool, the shapes seen last, the last one in front.
        let mut seen: Vec<Vec<Shape<'_>>> = Vec::new();
        // Many calls are of the tool of the call before.
        let mut last: Option<((&str, &str), usize)> = None;
        for (place, item) in outline.items.iter().enumerate() {
            let Body::Call(call) = &item.body else { continue };
            let name = (call.server.as_str(), call.tool.as_str());
            let tool = match last {
                Some((before, tool)) if before == name => tool,
                _ => *known.entry(name).or_insert_with(|| {
                    found.tools.push(place);
                    seen.push(Vec::new());
                    found.tools.len() - 1
                }),
            };
            last = Some((name, tool));
            if let Some(seen) = seen.get_mut(tool) {
                let kind = found.kind(tool, call, seen, &inputs);
                found.placed.push(Placed { place: number(place), kind });
            }
        }
        found
    }

    /// For each of so many items that is a call, the index of its tool.
    pub(super) fn tool_of(&self, items: usize) -> Vec<Option<u32>> {
        let mut tool_of = vec![None; items];
        for call in &self.placed {
            if let Some(slot) = tool_of.get_mut(call.place as usize) {
                *slot = self.kinds.get(call.kind as usize).map(|kind| kind.tool);
            }
        }
        tool_of
    }

    /// The kind of a call of this tool.
    fn kind<'a>(
        &mut self,
        tool: usize,
        call: &'a Call,
        seen: &mut Vec<Shape<'a>>,
        inputs: &Inputs<'_>,
    ) -> u32 {
        let (args, without_asking) = (&call.args, call.without_asking);
        let same = |of: &Shape<'_>| of.without_asking == without_asking && alike(of.args, args, inputs);
        if let Some(last) = seen.first().filter(|last| same(last)) {
            return last.kind;
        }
        let shape = if let Some(at) = seen.iter().position(|shape| same_shape(shape.args, args, inputs)) {
            let before = seen.remove(at);
            if same(&before) {
                let kind = before.kind;
                seen.insert(0, before);
                return kind;
            }
            before.number
        } else {
            seen.truncate(REMEMBERED - 1);
            self.shapes += 1;
            number(self.shapes - 1)
        };
        let kind = number(self.kinds.len());
        seen.insert(0, Shape { number: shape, args, without_asking, kind });
        let literal = args.literal().is_some();
        self.kinds.push(Kind { tool: number(tool), shape, literal });
        kind
    }
}

fn number(of: usize) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}
