//! Layer 2, the annotations: what the server says of its tool. They raise; they clear only for a trusted server.

use super::{Effect, Signal};
use crate::catalog::Definition;
use crate::value::Value;

/// Reads the hints. `trusted`: policy trusts the read hints of this server.
pub(super) fn of_definition(definition: &Definition, trusted: bool) -> Vec<Signal> {
    let hint = |name: &str| match definition.annotations.member(name) {
        Some(Value::Bool(hint)) => Some(*hint),
        _ => None,
    };
    let mut signals = Vec::new();
    match hint("readOnlyHint") {
        Some(true) if trusted => signals.push(Signal::clears(
            "hint-read-only",
            "says of itself that it only reads, and its server is trusted (readOnlyHint)",
        )),
        Some(true) => signals.push(Signal::mentions(
            "hint-read-only-untrusted",
            "says of itself that it only reads; its server is not trusted (readOnlyHint)",
            Effect::Read,
        )),
        Some(false) => signals.push(Signal::raises(
            "hint-not-read-only",
            "says of itself that it does not only read (readOnlyHint)",
            Effect::Write,
        )),
        None => {}
    }
    if hint("destructiveHint") == Some(true) {
        signals.push(Signal::raises(
            "hint-destructive",
            "says of itself that it may destroy something (destructiveHint)",
            Effect::Destructive,
        ));
    }
    signals
}
