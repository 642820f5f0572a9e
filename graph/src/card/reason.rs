//! Why an edge is there, in one word.

use crate::plan::Reason;

/// The word that a drawing puts on an edge.
pub(super) fn word(reason: Reason) -> &'static str {
    match reason {
        Reason::Data => "data",
        Reason::Said => "said",
        Reason::Effect => "effect",
        Reason::Gate => "gate",
        Reason::Counted => "counted",
    }
}
