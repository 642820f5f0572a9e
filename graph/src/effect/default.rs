//! Layer 5, the default: silence changes.

use super::{Effect, Signal};
use crate::catalog::Definition;
use crate::policy::pinned_reads;

/// What is said where nothing else speaks.
pub(super) fn signal() -> Signal {
    Signal::mentions("default", "nothing says it only reads", Effect::Unknown)
}

/// The policy line that would say that it only reads.
pub(super) fn silence(server: &str, definition: &Definition) -> String {
    pinned_reads(server, definition)
}
