//! What is wrong with calls for what they count as, whatever else the catalog and the policy say.

use std::collections::HashMap;

use super::judgements::Marks;
use super::shape::label;
use super::typed::Typed;
use crate::outline::Body;
use crate::problem::Problem;
use crate::value::Value;

/// Calls that change something and would be made more than once. In typed order. Linear.
pub(super) fn of(typed: &Typed, marks: &Marks) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut written: HashMap<(usize, &Value), &str> = HashMap::new();
    for (place, tool) in typed.places_of_calls() {
        if !marks.changes(place) {
            continue;
        }
        let Some(item) = typed.outline.items.get(place) else { continue };
        let Body::Call(call) = &item.body else { continue };
        if call.settings.retry > 0 {
            let message = format!("{} changes something outside and is never tried again", label(item));
            let help = "take `retry:` out: what was not done can be asked again, what may have been done must not be repeated";
            problems.push(Problem::error("R0504", Some(place), message).help(help));
        }
        if let Some(literal) = call.args.literal()
            && let Some(first) = written.insert((tool, literal), &call.name)
        {
            let message = format!("{} is the same call with the same arguments as `{first}`", label(item));
            let help = format!(
                "a plan that changes something twice by mistake is refused: take one out, or let `{}` differ",
                call.name
            );
            problems.push(Problem::error("R0506", Some(place), message).help(help));
        }
    }
    problems
}
