//! One rule, checked.

use std::cmp::Reverse;

use super::date::Date;
use super::file::{OneOrMany, RuleLines};
use super::pattern::Pattern;
use super::place::Arguments;
use super::repeat::{self, Repeat};
use super::when::{self, Predicate, Truth};
use super::{PolicyError, people};
use crate::digest::Digest;

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Deny,
    Ask,
    Allow,
    Reads,
    Trust,
    Once,
    People,
    Repeat,
}

/// A rule of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) kind: Kind,
    pub(super) server: Pattern,
    pub(super) tool: Pattern,
    pub(super) pin: Pin,
    pub(super) when: Vec<Predicate>,
    pub(super) until: Option<Date>,
    pub(super) reason: Option<String>,
    pub(super) people: people::Lines,
    /// What it says about the very same call; nothing: it may be repeated.
    pub(super) repeat: Option<Repeat>,
}

/// The definitions that a rule is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pin {
    /// Whatever the server says.
    Any,
    /// Only these.
    Of(Vec<Digest>),
}

/// How exactly a rule names what it is about: exact before glob, longer before shorter.
pub(super) type Rank = (Reverse<bool>, Reverse<usize>);

impl Kind {
    /// The key under which such rules stand.
    pub(super) fn key(self) -> &'static str {
        match self {
            Kind::Deny => "deny",
            Kind::Ask => "ask",
            Kind::Allow => "allow",
            Kind::Reads => "reads",
            Kind::Trust => "trust",
            Kind::Once => "once",
            Kind::People => "people",
            Kind::Repeat => "repeat",
        }
    }
}

impl Rule {
    /// Checks the lines of a rule and puts them into normal form.
    pub(super) fn new(kind: Kind, lines: &mut RuleLines) -> Result<Rule, PolicyError> {
        let place = place(kind, lines);
        let wrong = |code, message: String| PolicyError { code, message: format!("{place}: {message}") };
        let anywhere = matches!(kind, Kind::Trust | Kind::People);
        let pattern = |name: &str, line: &Option<String>, optional: bool| match line {
            Some(text) => Pattern::new(text).map_err(|e| wrong("P0104", format!("{name} {text:?}: {e}"))),
            None if optional => Pattern::new("*").map_err(|e| wrong("P0104", e)),
            None => Err(wrong("P0103", format!("says no {name}; write {name} = \"*\" for every one"))),
        };
        let server = pattern("server", &lines.server, kind == Kind::People)?;
        let tool = pattern("tool", &lines.tool, anywhere)?;
        let mut predicates = Vec::new();
        for text in &mut lines.when {
            let predicate =
                Predicate::parse(text).map_err(|e| wrong("P0105", format!("when {text:?}: {e}")))?;
            *text = predicate.to_string();
            predicates.push(predicate);
        }
        let until = match &lines.until {
            Some(text) => Some(text.parse::<Date>().map_err(|e| wrong("P0106", format!("until: {e}")))?),
            None => None,
        };
        let pinned = matches!(kind, Kind::Allow | Kind::Reads);
        let pin = match &mut lines.definition {
            Some(definition) => pin(definition).map_err(|e| wrong("P0107", e))?,
            None if pinned => return Err(wrong("P0107", NO_PIN.into())),
            None => Pin::Any,
        };
        if pinned && lines.reason.as_deref().is_none_or(|reason| reason.trim().is_empty()) {
            return Err(wrong("P0103", "says no reason; people will read it on the card".into()));
        }
        let people = people::Lines::new(lines).map_err(|e| wrong("P0108", e))?;
        let repeat = match kind {
            Kind::Repeat => repeat::of(lines).map_err(|e| wrong("P0109", e))?,
            _ => None,
        };
        let reason = lines.reason.clone();
        Ok(Rule { kind, server, tool, pin, when: predicates, until, reason, people, repeat })
    }

    /// Whether it is about a tool, and in force today. A rule with an end is not in force where nobody says which day it is.
    pub(super) fn applies(&self, server: &str, tool: &str, today: Option<Date>) -> bool {
        let in_force = match (self.until, today) {
            (None, _) => true,
            (Some(until), Some(today)) => today <= until,
            // What tightens stays; what loosens ends.
            (Some(_), None) => matches!(self.kind, Kind::Deny | Kind::Ask | Kind::Once | Kind::Repeat),
        };
        in_force && self.server.matches(server) && self.tool.matches(tool)
    }

    /// Whether the definition is one that it is about.
    pub(super) fn is_pinned_to(&self, definition: impl Fn() -> Digest) -> bool {
        match &self.pin {
            Pin::Any => true,
            Pin::Of(digests) => digests.contains(&definition()),
        }
    }

    /// Whether its conditions hold.
    pub(super) fn holds(&self, args: Arguments<'_>) -> Truth {
        when::all(&self.when, args)
    }

    /// How exactly it names what it is about; the least is the most exact.
    pub(super) fn rank(&self) -> Rank {
        (
            Reverse(self.server.is_exact() && self.tool.is_exact()),
            Reverse(self.server.length() + self.tool.length()),
        )
    }

    /// What it is about, as in a recipe: `slack.post_*`.
    pub(super) fn about(&self) -> String {
        format!("{}.{}", self.server.text(), self.tool.text())
    }

    /// How a message names it.
    pub(super) fn place(&self) -> String {
        format!("[[{}]] {}", self.kind.key(), self.about())
    }
}

const NO_PIN: &str = "says no definition: a rule that loosens is pinned to the definition that somebody looked at. \
                      `plangate tools --why server.tool` prints the digest; definition = \"any\" takes whatever the server says";

fn place(kind: Kind, lines: &RuleLines) -> String {
    let name = |line: &Option<String>| line.clone().unwrap_or_else(|| "*".into());
    format!("[[{}]] {}.{}", kind.key(), name(&lines.server), name(&lines.tool))
}

fn pin(definition: &mut OneOrMany) -> Result<Pin, String> {
    let mut texts = match definition {
        OneOrMany::One(any) if any == "any" => return Ok(Pin::Any),
        OneOrMany::One(one) => vec![one.clone()],
        OneOrMany::Many(many) => many.clone(),
    };
    texts.sort();
    texts.dedup();
    let digests =
        texts.iter().map(|text| text.parse().map_err(|e: crate::digest::DigestError| e.to_string()));
    let digests: Vec<Digest> = digests.collect::<Result<_, _>>()?;
    *definition = match texts.as_slice() {
        [] => return Err("definition = [] is pinned to nothing".into()),
        [one] => OneOrMany::One(one.clone()),
        _ => OneOrMany::Many(texts),
    };
    Ok(Pin::Of(digests))
}
