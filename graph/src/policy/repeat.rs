//! Whether the very same call may be made again: the same server, tool and arguments.

use serde::{Deserialize, Serialize};

use super::file::RuleLines;
use super::people::{span, written};

/// For how long the very same call is refused once it was made. Frozen in the row when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeat {
    /// How long, in milliseconds from the moment by which the call had ended.
    pub within_ms: i64,
    /// It is also refused that long after somebody said no to it.
    pub rejected: bool,
}

impl Repeat {
    /// What holds where both of these do: the longer time, and a no counts if it does for one of them.
    #[must_use]
    pub fn and(self, other: Repeat) -> Repeat {
        Repeat { within_ms: self.within_ms.max(other.within_ms), rejected: self.rejected || other.rejected }
    }

    /// What it does, in words for a card.
    pub fn words(self) -> String {
        let rejected = if self.rejected { " or rejected" } else { "" };
        format!("refused if the very same call was made{rejected} within {} before", written(self.within_ms))
    }
}

/// What the lines of a rule say, put into normal form. `within = "0s"` excepts what the rule is about from wider ones.
pub(super) fn of(lines: &mut RuleLines) -> Result<Option<Repeat>, String> {
    let Some(text) = &lines.within else {
        return Err("says no time; write for instance within = \"24h\"".into());
    };
    let rejected = lines.rejected.unwrap_or(false);
    if matches!(text.as_str(), "0s" | "0m" | "0h" | "0d") {
        if rejected {
            return Err("rejected = true within no time refuses nothing".into());
        }
        lines.within = Some("0s".into());
        return Ok(None);
    }
    let within_ms = span(text).ok_or_else(|| {
        format!(
            "within {text:?}: expected a time like \"30m\", \"24h\" or \"7d\", from one second to 366 days"
        )
    })?;
    lines.within = Some(written(within_ms));
    Ok(Some(Repeat { within_ms, rejected }))
}
