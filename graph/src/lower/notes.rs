//! What is worth saying about a plan that stands: what moved, what races, what guards nothing.

use std::collections::BTreeMap;

use super::guards::Guards;
use super::shape::label;
use crate::outline::{BlockKind, Body};
use crate::plan::{NodeKind, Note, Plan};
use crate::problem::Problem;

/// Notes and warnings, in no particular order.
pub(super) fn of(plan: &Plan, guards: &Guards) -> Vec<Problem> {
    let mut problems = Vec::new();
    moved(plan, &mut problems);
    side_by_side(plan, &mut problems);
    for place in &guards.idle {
        if let Some(item) = plan.outline().items.get(*place) {
            let message = format!("{} guards nothing", label(item));
            let help = match item.body {
                Body::Question(_) => {
                    "nothing stands below it: the run stops there, records the answer and ends; indent a step under it to guard that step"
                }
                _ => "nothing stands below it: indent a step under it to guard that step",
            };
            problems.push(Problem::warning("R0509", Some(*place), message).help(help));
        }
    }
    problems
}

/// Steps that start at once although they were typed after others.
fn moved(plan: &Plan, problems: &mut Vec<Problem>) {
    for place in plan.moved_items() {
        let Some(item) = plan.outline().items.get(place) else { continue };
        let Some(name) = item.name() else { continue };
        let Some(block) = plan.outline().blocks.get(item.block) else { continue };
        let what = match item.body {
            Body::Sentence(_) => "reads nothing from above",
            _ => "reads nothing from above and changes nothing",
        };
        let beside = plan
            .fan_above(item.block)
            .and_then(|fan| plan.outline().blocks.get(fan))
            .and_then(|fan| fan.name.clone())
            .map_or_else(String::new, |fan| format!(", beside `{fan}`"));
        let message =
            format!("`{name}` stands in a `{}:` but {what}: it starts at once{beside}", block.word());
        let above = plan
            .outline()
            .items
            .iter()
            .take(place)
            .filter(|i| i.block < item.block)
            .filter_map(|i| i.name())
            .last();
        let problem = Problem::note("R0507", Some(place), message);
        problems.push(match above {
            Some(above) => problem.help(format!("to make it wait, write `after: {above}` below it")),
            None => problem,
        });
    }
}

/// Two effects of one `together:` that go to one server.
fn side_by_side(plan: &Plan, problems: &mut Vec<Problem>) {
    let mut seen: BTreeMap<(usize, &str), &str> = BTreeMap::new();
    for (_, node) in plan.nodes() {
        let NodeKind::Call { item: place, judged } = &node.kind else { continue };
        let Some(item) = plan.outline().items.get(*place) else { continue };
        let Body::Call(call) = &item.body else { continue };
        let together = plan.outline().blocks.get(item.block).is_some_and(|b| b.kind == BlockKind::Together);
        if !together || !judged.effect.changes() {
            continue;
        }
        if let Some(first) = seen.insert((item.block, &call.server), &call.name) {
            let message = format!(
                "`{first}` and `{}` change {} at the same time, in whatever order",
                call.name, call.server
            );
            let help = "put the second one into a `then:` if their order matters";
            problems.push(Problem::warning("R0508", Some(*place), message).help(help));
        }
    }
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
