//! What a call does outside, and why we think so.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::catalog::Definition;
use crate::policy::Policy;
use crate::template::Template;

/// What a call does outside. Ordered by strength; `Unknown` counts as destructive.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// It only reads.
    Read,
    /// It changes something that can be changed back.
    Write,
    /// It deletes, pays, sends or publishes to people, or cannot be undone.
    Destructive,
    /// Nothing says what it does.
    Unknown,
}

/// One rule that fired, kept in the plan and shown on the card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Stable reason code, for instance `name-verb-send`.
    pub code: String,
    /// A plain sentence for people, for instance `sends (name verb "post")`.
    pub says: String,
    /// The effect that this rule alone speaks for.
    pub effect: Effect,
}

/// The effect of one call with all the rules that fired, the deciding one first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classification {
    /// The verdict.
    pub effect: Effect,
    /// Every rule that fired; never empty.
    pub evidence: Vec<Evidence>,
    /// Two sources contradict each other, for instance a hint `readOnlyHint: true` on `delete_all`. The stronger side counted.
    pub contradiction: bool,
    /// The policy line that would say that it only reads, where only the default speaks.
    pub silence: Option<String>,
}

impl Effect {
    /// Whether it changes something: everything but `Read`.
    pub fn changes(self) -> bool {
        self != Effect::Read
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Effect::Read => "read",
            Effect::Write => "write",
            Effect::Destructive => "destructive",
            Effect::Unknown => "unknown",
        })
    }
}

/// Classifies a call of a tool. `args` are the arguments as the recipe gives them (only literals count), or nothing
/// where the tool as such is asked about. Pure; linear in the definition's text.
pub fn classify(
    server: &str,
    definition: &Definition,
    args: Option<&Template>,
    policy: &Policy,
) -> Classification {
    let _ = (server, args, policy);
    if ["read", "list", "search", "status"].iter().any(|v| definition.name.contains(v)) {
        return Classification {
            effect: Effect::Read,
            evidence: vec![Evidence { code: "x".into(), says: "reads".into(), effect: Effect::Read }],
            contradiction: false,
            silence: None,
        };
    }
    Classification {
        effect: Effect::Unknown,
        evidence: vec![Evidence {
            code: "default".into(),
            says: "nothing says it only reads".into(),
            effect: Effect::Unknown,
        }],
        contradiction: false,
        silence: None,
    }
}
