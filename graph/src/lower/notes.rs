//! What is worth saying about a plan that stands: what moved, what races, what guards nothing.

use std::collections::BTreeMap;

use super::derived::Derived;
use super::guards::Guards;
use super::judgements::Marks;
use super::shape::label;
use super::typed::Typed;
use crate::outline::{Block, BlockKind, Body, Item};
use crate::plan::Note;
use crate::problem::Problem;

/// Notes and warnings, in no particular order.
pub(super) fn of(typed: &Typed, marks: &Marks, derived: &Derived, guards: &Guards) -> Vec<Problem> {
    let mut problems = moved(typed, derived);
    problems.extend(side_by_side(typed, marks));
    for place in &guards.idle {
        if let Some(item) = typed.outline.items.get(*place) {
            let message = format!("{} guards nothing", label(item));
            let help = match item.body {
                Body::Question(_) => {
                    "nothing stands below it: the run stops there, records the answer and ends; indent a step \
                     under it to guard that step"
                }
                _ => "nothing stands below it: indent a step under it to guard that step",
            };
            problems.push(Problem::warning("R0509", Some(*place), message).help(help));
        }
    }
    problems
}

/// Steps that start at once although they were typed below others: one note a step of a `then:`, one a `together:`.
fn moved(typed: &Typed, derived: &Derived) -> Vec<Problem> {
    let outline = &typed.outline;
    let moved = outline.moved(derived.starts_at_once());
    if moved.is_empty() {
        return Vec::new();
    }
    // For each block, the last step above it.
    let mut above: Vec<Option<&str>> = Vec::with_capacity(outline.blocks.len());
    let mut last = None;
    for places in typed.members.iter() {
        above.push(last);
        let named = places.iter().rev().find_map(|place| outline.items.get(*place)?.name());
        last = named.or(last);
    }
    let mut problems = Vec::new();
    let mut said = None;
    for place in moved.iter().copied() {
        let Some(item) = outline.items.get(place) else { continue };
        let Some(block) = outline.blocks.get(item.block) else { continue };
        let whole = block.kind == BlockKind::Together
            && typed.members.get(item.block).iter().all(|p| moved.binary_search(p).is_ok());
        if whole && said == Some(item.block) {
            continue;
        }
        said = whole.then_some(item.block);
        let beside = outline
            .fan_above(item.block)
            .and_then(|fan| outline.blocks.get(fan)?.name.as_deref())
            .map_or_else(String::new, |fan| format!(", beside `{fan}`"));
        let problem = Problem::note("R0507", Some(place), sentence(item, block, whole, &beside));
        problems.push(match above.get(item.block).copied().flatten() {
            Some(above) => problem.help(format!("to make it wait, write `after: {above}` below the step")),
            None => problem,
        });
    }
    problems
}

fn sentence(item: &Item, block: &Block, whole: bool, beside: &str) -> String {
    let name = item.name().unwrap_or_default();
    let word = block.word();
    if whole {
        let label =
            block.name.as_ref().map_or_else(|| format!("this `{word}:`"), |l| format!("`{word} {l}:`"));
        return format!(
            "nothing in {label} reads anything from above or changes anything: its steps start at once{beside}"
        );
    }
    let why = match item.body {
        Body::Sentence(_) => "reads nothing from above",
        _ => "reads nothing from above and changes nothing",
    };
    format!("`{name}` stands in a `{word}:` but {why}: it starts at once{beside}")
}

/// Two effects of one `together:` that go to one server.
fn side_by_side(typed: &Typed, marks: &Marks) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut seen: BTreeMap<(usize, &str), &str> = BTreeMap::new();
    for (place, item) in typed.outline.items.iter().enumerate() {
        let Body::Call(call) = &item.body else { continue };
        let together = typed.outline.blocks.get(item.block).is_some_and(|b| b.kind == BlockKind::Together);
        if !together || !marks.changes(place) {
            continue;
        }
        if let Some(first) = seen.insert((item.block, &call.server), &call.name) {
            let message = format!(
                "`{first}` and `{}` change {} at the same time, in whatever order",
                call.name, call.server
            );
            let help = "put the second one into a `then:` if their order matters";
            problems.push(Problem::warning("R0508", Some(place), message).help(help));
        }
    }
    problems
}

/// A problem that is no error, as it stays in the plan.
pub(super) fn keep(problem: &Problem) -> Note {
    Note {
        code: problem.code.to_owned(),
        severity: problem.severity,
        item: problem.item,
        message: problem.message.clone(),
        help: problem.help.clone(),
    }
}
