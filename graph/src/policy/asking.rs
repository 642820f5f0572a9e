//! Whether a call is put to a person: rules first, then what the recipe wishes, then the default.

use serde::{Deserialize, Serialize};

use super::Policy;
use super::file::Waivers;
use super::place::Arguments;
use super::rule::{Kind, Rule};
use super::when::Truth;
use crate::catalog::Definition;
use crate::effect::{Classification, Effect, Evidence};
use crate::template::Template;
use crate::value::Value;

/// Who wrote a recipe. Said by the host, never by a recipe or plan; unsaid means a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Author {
    /// A model.
    #[default]
    Model,
    /// A person.
    Person,
}

/// Whether a call is put to a person, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asking {
    /// It is asked: it gets a gate.
    Ask(Evidence),
    /// It is let through without asking; it keeps its edges, its row and its permit.
    Through(Evidence),
    /// It may not be called at all.
    Deny(Evidence),
}

/// The call that policy is asked about.
#[derive(Clone, Copy, Debug)]
pub struct AskingOf<'a> {
    /// Its server.
    pub server: &'a str,
    /// Its tool's definition.
    pub definition: &'a Definition,
    /// Its effect.
    pub classification: &'a Classification,
    /// Its arguments as the recipe gives them.
    pub args: Option<&'a Template>,
    /// Its arguments when they are final.
    pub final_args: Option<&'a Value>,
    /// The recipe says `without asking`.
    pub without_asking: bool,
}

impl Policy {
    /// Whether this call is asked.
    ///
    /// A matching `deny` wins wherever it stands; otherwise the most exact of `ask` and `allow`, and `ask` among equals.
    /// A condition over arguments that are not known is not fulfilled for what loosens, and is for what tightens: the
    /// gate stays, and the rule decides there with the final arguments.
    pub fn asking(&self, call: &AskingOf<'_>, author: Author) -> Asking {
        let effect = call.classification.effect;
        let evidence = |code: &str, says: String| Evidence { code: code.into(), says, effect };
        let args = match (call.final_args, call.args) {
            (Some(value), _) => Arguments::Final(value),
            (None, Some(template)) => Arguments::Given(template),
            (None, None) => Arguments::Unknown,
        };
        let (server, tool) = (call.server, call.definition.name.as_str());
        let mut unclear = None;
        for rule in self.matching(Kind::Deny, server, tool) {
            match rule.holds(args) {
                Truth::Yes => return Asking::Deny(evidence("policy-deny", said(rule, "denies it"))),
                Truth::Unclear => unclear = Some(rule),
                Truth::No => {}
            }
        }
        if let Some(rule) = unclear {
            return Asking::Ask(evidence(
                "policy-deny-unclear",
                said(rule, "may deny it, once its arguments are known"),
            ));
        }
        let decides = self.rules.iter().filter(|rule| rule.applies(server, tool, self.today)).find(|rule| {
            match rule.kind {
                Kind::Ask => rule.holds(args) != Truth::No,
                Kind::Allow => {
                    rule.holds(args) == Truth::Yes && rule.is_pinned_to(|| call.definition.digest(server))
                }
                _ => false,
            }
        });
        match decides {
            Some(rule) if rule.kind == Kind::Ask => Asking::Ask(evidence("policy-ask", said(rule, "asks"))),
            Some(rule) => Asking::Through(evidence("policy-allow", said(rule, "lets it through"))),
            None => self.without_a_rule(call, args, author),
        }
    }

    /// What holds where no rule of the policy is about the call.
    fn without_a_rule(&self, call: &AskingOf<'_>, args: Arguments<'_>, author: Author) -> Asking {
        let effect = call.classification.effect;
        let evidence = |code: &str, says: &str| Evidence { code: code.into(), says: says.into(), effect };
        if !effect.changes() {
            return Asking::Through(evidence("reads", "only reads"));
        }
        if call.without_asking && self.honours(author, effect) {
            return Asking::Through(evidence(
                "without-asking",
                "the recipe says `without asking`, and the policy honours it",
            ));
        }
        if self.document.allow_reversible_writes && effect == Effect::Write {
            return Asking::Through(evidence(
                "policy-reversible-writes",
                "the policy lets reversible writes through",
            ));
        }
        if let Some(rule) = self.void(call, args) {
            let does = "would not have it asked, and is void: the tool's definition is another than the rule is pinned to";
            return Asking::Ask(Evidence {
                code: "policy-pin-changed".into(),
                says: said(rule, does),
                effect,
            });
        }
        Asking::Ask(match (call.without_asking, author) {
            (false, _) => evidence("asked-by-default", "changes something outside"),
            (true, author) if !self.honours_author(author) => {
                evidence("without-asking-void", "`without asking` is void in a recipe by this author")
            }
            (true, _) => evidence(
                "without-asking-refused",
                "the policy does not honour `without asking` for such a call",
            ),
        })
    }

    /// A rule that would let this call through if it were pinned to the definition of now.
    fn void(&self, call: &AskingOf<'_>, args: Arguments<'_>) -> Option<&Rule> {
        let loosens = |rule: &&Rule| matches!(rule.kind, Kind::Allow | Kind::Reads);
        let applies = |rule: &&Rule| rule.applies(call.server, &call.definition.name, self.today);
        let mut rules = self.rules.iter().filter(loosens).filter(applies);
        rules.find(|rule| {
            rule.holds(args) == Truth::Yes && !rule.is_pinned_to(|| call.definition.digest(call.server))
        })
    }

    fn honours(&self, author: Author, effect: Effect) -> bool {
        self.honours_author(author) && self.waivers().effects.iter().any(|e| *e == effect.to_string())
    }

    fn honours_author(&self, author: Author) -> bool {
        let name = match author {
            Author::Model => "model",
            Author::Person => "person",
        };
        self.waivers().authors.iter().any(|a| a == name)
    }

    fn waivers(&self) -> Waivers {
        self.document.honour_without_asking.clone().unwrap_or_default()
    }
}

/// What a rule does, with its reason.
pub(super) fn said(rule: &Rule, does: &str) -> String {
    let reason = rule.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("the policy rule {} {does}{reason}", rule.about())
}
