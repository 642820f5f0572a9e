//! Who decides: what a rule says about people, and what a row needs in the end.

use serde::{Deserialize, Serialize};

use super::file::RuleLines;
use super::repeat::Repeat;

/// What a row needs to be decided. Frozen in the row when it is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// How long the row may be decided, in milliseconds from its creation. One hour unless policy says otherwise.
    pub deadline_ms: i64,
    /// How many distinct yes it needs; at least 1.
    pub quorum: u32,
    /// Roles of which a voter must have one; empty: anybody.
    pub roles: Vec<String>,
    /// Only voters whom the host has verified count. Always so where a rule is about people.
    pub verified_only: bool,
    /// Whoever started the run may vote.
    pub requester_may_decide: bool,
    /// Roles that may edit the arguments; nothing: nobody may.
    pub may_edit: Option<Vec<String>>,
    /// For how long the very same call is refused once it was made; nothing: it may be repeated.
    #[serde(default)]
    pub repeat: Option<Repeat>,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms {
            deadline_ms: 3_600_000,
            quorum: 1,
            roles: Vec::new(),
            verified_only: false,
            requester_may_decide: true,
            may_edit: None,
            repeat: None,
        }
    }
}

/// What one rule says about people; what it does not say, a less exact rule may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) roles: Option<Vec<String>>,
    quorum: Option<u32>,
    deadline_ms: Option<i64>,
    pub(super) may_edit: Option<Vec<String>>,
    requester_may_decide: Option<bool>,
    verified: Option<bool>,
}

impl Lines {
    /// Checks what a rule says and puts it into normal form. The error says what is wrong with it.
    pub(super) fn new(lines: &mut RuleLines) -> Result<Lines, String> {
        for (name, list) in [("roles", &mut lines.roles), ("may_edit", &mut lines.may_edit)] {
            let Some(list) = list else { continue };
            list.sort();
            list.dedup();
            if list.is_empty() || list.iter().any(String::is_empty) {
                return Err(format!("{name} names no role; leave the line out instead"));
            }
        }
        if lines.quorum == Some(0) {
            return Err("quorum = 0: at least one yes is needed".into());
        }
        let deadline_ms = match &lines.deadline {
            Some(text) => Some(span(text).ok_or_else(|| {
                format!("deadline {text:?}: expected a time like \"30m\", \"8h\" or \"2d\", from one second to 366 days")
            })?),
            None => None,
        };
        lines.deadline = deadline_ms.map(written);
        let said = Lines {
            roles: lines.roles.clone(),
            quorum: lines.quorum,
            deadline_ms,
            may_edit: lines.may_edit.clone(),
            requester_may_decide: lines.requester_may_decide,
            verified: lines.verified,
        };
        if said.verified == Some(false) && is_about_people(&said.over(&Terms::default())) {
            return Err(
                "verified = false: a rule about people is met only by voters whom the host has verified"
                    .into(),
            );
        }
        Ok(said)
    }

    /// These lines over what less exact rules say.
    pub(super) fn over(&self, less: &Terms) -> Terms {
        Terms {
            deadline_ms: self.deadline_ms.unwrap_or(less.deadline_ms),
            quorum: self.quorum.unwrap_or(less.quorum),
            roles: self.roles.clone().unwrap_or_else(|| less.roles.clone()),
            verified_only: self.verified.unwrap_or(less.verified_only),
            requester_may_decide: self.requester_may_decide.unwrap_or(less.requester_may_decide),
            may_edit: self.may_edit.clone().or_else(|| less.may_edit.clone()),
            repeat: less.repeat,
        }
    }
}

impl Terms {
    /// The same, with only verified voters counted where anything is said about people.
    pub(super) fn settled(self) -> Terms {
        Terms { verified_only: self.verified_only || is_about_people(&self), ..self }
    }
}

fn is_about_people(terms: &Terms) -> bool {
    !terms.roles.is_empty() || terms.quorum > 1 || !terms.requester_may_decide || terms.may_edit.is_some()
}

/// Milliseconds of each unit, largest first.
const UNITS: [(&str, i64); 4] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000)];

/// Milliseconds of a time as policy writes it: `90s`, `30m`, `8h`, `2d`; from one second to 366 days.
pub(super) fn span(text: &str) -> Option<i64> {
    let (unit, ms) = UNITS.into_iter().find(|(unit, _)| text.ends_with(unit))?;
    let number = text.strip_suffix(unit)?;
    let count: i64 = number.bytes().all(|b| b.is_ascii_digit()).then(|| number.parse().ok())??;
    let span = count.checked_mul(ms)?;
    (1_000..=366 * 86_400_000).contains(&span).then_some(span)
}

/// The same time, in the largest unit that fits.
pub(super) fn written(ms: i64) -> String {
    let fits = UNITS.into_iter().find(|(_, unit)| ms % unit == 0);
    fits.map_or_else(|| format!("{}s", ms / 1_000), |(name, unit)| format!("{}{name}", ms / unit))
}
