//! What a call does outside, and why we think so.
//!
//! One file a layer: `arguments`, `annotations`, `name`, `description`, `default`.
//! Each gives signals; what raises wins over what clears, and where nothing clears, silence changes. The words that the
//! layers know are lists in `words/`, which read like tables.

mod annotations;
mod arguments;
mod calls;
mod default;
mod description;
mod grammar;
mod name;
mod properties;
mod tokens;
mod unit;
mod words;

pub(crate) use calls::Calls;
pub(crate) use tokens::split;

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::catalog::Definition;
use crate::policy::Policy;
use crate::template::Template;

use arguments::Answered;

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
    pub evidence: Arc<[Evidence]>,
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

/// One rule of a layer that fired.
#[derive(Clone, Debug)]
struct Signal {
    evidence: Evidence,
    /// It says that the call changes something.
    raises: bool,
    /// It says that the call only reads, and is believed where nothing raises.
    clears: bool,
    /// The name or the arguments say so, not the server in other words.
    of_call: bool,
}

/// Classifies a call of a tool. `args` are the arguments as the recipe gives them (only literals count), or nothing
/// where the tool as such is asked about. Pure; linear in the definition's text.
pub fn classify(
    server: &str,
    definition: &Definition,
    args: Option<&Template>,
    policy: &Policy,
) -> Classification {
    let host = policy.reads(server, definition, args);
    weigh(server, definition, host, signals(server, definition, args, policy))
}

/// What all layers but the policy's own word say.
fn signals(server: &str, definition: &Definition, args: Option<&Template>, policy: &Policy) -> Vec<Signal> {
    let arguments = arguments::of_call(definition, args);
    let mut name = name::of_tool(server, &definition.name, arguments.takes);
    if arguments.answered != Answered::No {
        // A name that says what is done counts whatever the arguments say.
        name.changes.retain(name::Found::is_certain);
    }
    let mut signals = arguments.signals;
    signals.extend(name::signals(name));
    for signal in &mut signals {
        signal.of_call = true;
    }
    let trusted = policy.trusts(server, &definition.name);
    let changes = signals.iter().any(|signal| signal.raises);
    let of_the_whole = description::of_definition(definition, changes)
        .into_iter()
        .chain(annotations::of_definition(definition, trusted));
    let by_literal = arguments.answered == Answered::ByLiteral;
    signals.extend(of_the_whole.filter(|signal| !(by_literal && signal.raises)));
    signals
}

/// The strongest signal wins; the policy's own word stands above all of them.
fn weigh(
    server: &str,
    definition: &Definition,
    host: Option<Evidence>,
    mut signals: Vec<Signal>,
) -> Classification {
    let raised = signals.iter().filter(|s| s.raises).map(|s| s.evidence.effect).max();
    let cleared = signals.iter().any(|s| s.clears);
    let of_call = signals.iter().any(|s| s.of_call);
    let contradiction = raised.is_some() && signals.iter().any(|s| s.evidence.effect == Effect::Read);
    let mut silence = None;
    let effect = match (&host, raised) {
        (Some(_), _) => Effect::Read,
        (None, None) if cleared => Effect::Read,
        (None, Some(raised)) if of_call || raised >= Effect::Destructive => raised,
        // Neither name nor arguments say what it does. What the server says of it besides may make that worse, never
        // better.
        (None, raised) => {
            signals.insert(0, default::signal());
            silence = raised.is_none().then(|| default::silence(server, definition));
            Effect::Unknown
        }
    };
    // Deciding ones first, otherwise in the order of the layers.
    signals.sort_by_key(|signal| signal.evidence.effect != effect);
    let evidence = host.into_iter().chain(signals.into_iter().map(|signal| signal.evidence)).collect();
    Classification { effect, evidence, contradiction, silence }
}

impl Signal {
    fn raises(code: impl Into<String>, says: impl Into<String>, effect: Effect) -> Signal {
        Signal { raises: true, ..Signal::mentions(code, says, effect) }
    }

    fn clears(code: impl Into<String>, says: impl Into<String>) -> Signal {
        Signal { clears: true, ..Signal::mentions(code, says, Effect::Read) }
    }

    fn mentions(code: impl Into<String>, says: impl Into<String>, effect: Effect) -> Signal {
        Signal {
            evidence: Evidence { code: code.into(), says: says.into(), effect },
            raises: false,
            clears: false,
            of_call: false,
        }
    }
}
