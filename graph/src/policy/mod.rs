//! What the host decided about tools, people and deadlines.
//!
//! A policy is a value: it is read from TOML, has one normal form, and answers questions. It knows no clock; a host says
//! which day it is with [`Policy::on`].

mod check;
mod date;
mod file;
mod nearest;
pub(crate) mod number;
mod pattern;
mod people;
mod rule;
mod when;

use serde::{Deserialize, Serialize};

use crate::catalog::{Catalog, Definition};
use crate::digest::Digest;
use crate::effect::{Classification, Effect, Evidence};
use crate::template::Template;
use crate::value::Value;

pub use date::{Date, DateError};
use file::{Document, Waivers};
use pattern::Pattern;
pub use people::Terms;
use rule::{Kind, Rule};
use when::{Arguments, Truth};

pub(crate) use nearest::did_you_mean;

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

/// The host's policy. [`Policy::default`] asks about everything that is not read.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Policy {
    /// The normal form.
    source: String,
    document: Document,
    /// Every rule, the most exact first; among equals in the order of [`Kind`], then as written.
    rules: Vec<Rule>,
    /// World and pattern over servers, the most exact first.
    worlds: Vec<(String, Pattern)>,
    today: Option<Date>,
}

/// Why a policy is refused: what stands where, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PolicyError {
    /// Stable code, listed in `docs/gates.md`.
    pub code: &'static str,
    /// What is wrong and what to do, naming the rule.
    pub message: String,
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
    /// The keys of the policy part of `plangate.toml`.
    pub const KEYS: &'static [&'static str] = &file::KEYS;

    /// Reads a policy: the [keys](Policy::KEYS) of `plangate.toml` that are policy, and no others.
    pub fn from_toml(text: &str) -> Result<Policy, PolicyError> {
        Policy::of(Document::read(text, false)?.0)
    }

    /// Reads the policy out of a whole `plangate.toml`. Also gives the top-level keys that it passed over.
    pub fn from_config(text: &str) -> Result<(Policy, Vec<String>), PolicyError> {
        let (document, others) = Document::read(text, true)?;
        Ok((Policy::of(document)?, others))
    }

    /// The same policy on a day. Rules with an end date count the day itself. Where no day is given, a rule that loosens
    /// and has an end date is not in force.
    #[must_use]
    pub fn on(self, today: Date) -> Policy {
        Policy { today: Some(today), ..self }
    }

    /// The normal form, which [`from_toml`](Policy::from_toml) reads back to this policy, as stored with a run. Two
    /// policies that differ only in comments, layout or in how a value is written have the same.
    pub fn to_toml(&self) -> &str {
        &self.source
    }

    /// Digest of the normal form. The day is no part of it.
    pub fn digest(&self) -> Digest {
        Digest::of(self.source.as_bytes())
    }

    /// Holds the policy against a catalog of all servers: a rule that names a tool of no catalog is an error, as is a
    /// definition that is not the pinned one, and a gate that nobody could decide.
    pub fn check(&self, catalog: &Catalog) -> Vec<PolicyError> {
        check::check(self, catalog)
    }

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
            None => self.without_a_rule(call, author),
        }
    }

    /// What holds where no rule of the policy is about the call.
    fn without_a_rule(&self, call: &AskingOf<'_>, author: Author) -> Asking {
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

    /// What a row of this tool needs to be decided. A condition over arguments counts as fulfilled.
    pub fn terms(&self, server: &str, tool: &str) -> Terms {
        self.terms_of(server, tool, None)
    }

    /// What a row of this tool with these final arguments needs to be decided: for each line the most exact of the
    /// matching `people` and `ask` rules that has it.
    pub fn terms_of(&self, server: &str, tool: &str, final_args: Option<&Value>) -> Terms {
        let args = final_args.map_or(Arguments::Unknown, Arguments::Final);
        let rules = self.rules.iter().filter(|rule| {
            matches!(rule.kind, Kind::Ask | Kind::People)
                && rule.applies(server, tool, self.today)
                && rule.holds(args) != Truth::No
        });
        let least_exact_first: Vec<&Rule> = rules.collect();
        let terms =
            least_exact_first.iter().rev().fold(Terms::default(), |terms, rule| rule.people.over(&terms));
        terms.settled()
    }

    /// The world of a server: servers of one world see each other's effects. All servers are in one world unless policy says otherwise.
    pub fn world(&self, server: &str) -> &str {
        self.worlds.iter().find(|(_, pattern)| pattern.matches(server)).map_or("", |(world, _)| world)
    }

    /// The roles of a person, as the policy's `roles` table gives them. `person` is written `issuer:subject`.
    pub fn roles_of(&self, person: &str) -> Vec<&str> {
        let holds = |people: &&Vec<String>| people.iter().any(|holder| holder == person);
        self.document
            .roles
            .iter()
            .filter(|(_, people)| holds(people))
            .map(|(role, _)| role.as_str())
            .collect()
    }

    /// Whether the read hints of a tool's server are believed.
    pub(crate) fn trusts(&self, server: &str, tool: &str) -> bool {
        self.matching(Kind::Trust, server, tool).next().is_some()
    }

    /// The rule that says that a call only reads.
    pub(crate) fn reads(
        &self,
        server: &str,
        definition: &Definition,
        args: Option<&Template>,
    ) -> Option<Evidence> {
        let args = args.map_or(Arguments::Unknown, Arguments::Given);
        let rule = self
            .matching(Kind::Reads, server, &definition.name)
            .find(|rule| rule.holds(args) == Truth::Yes && rule.is_pinned_to(|| definition.digest(server)))?;
        let says = said(rule, "says that it only reads");
        Some(Evidence { code: "policy-reads".into(), says, effect: Effect::Read })
    }

    fn matching(&self, kind: Kind, server: &str, tool: &str) -> impl Iterator<Item = &Rule> {
        let applies = move |rule: &&Rule| rule.kind == kind && rule.applies(server, tool, self.today);
        self.rules.iter().filter(applies)
    }

    /// Checks a document and puts it into normal form.
    fn of(mut document: Document) -> Result<Policy, PolicyError> {
        check_waivers(document.honour_without_asking.as_ref())?;
        let mut rules = Vec::new();
        let lists = [
            (Kind::Deny, &mut document.deny),
            (Kind::Ask, &mut document.ask),
            (Kind::Allow, &mut document.allow),
            (Kind::Reads, &mut document.reads),
            (Kind::Trust, &mut document.trust),
            (Kind::People, &mut document.people),
        ];
        for (kind, list) in lists {
            for lines in list {
                rules.push(Rule::new(kind, lines)?);
            }
        }
        rules.sort_by_key(|rule| (rule.rank(), rule.kind));
        let mut worlds = Vec::new();
        for (world, servers) in &document.worlds {
            for server in servers {
                let wrong =
                    |e| PolicyError { code: "P0104", message: format!("[worlds] {world}: {server:?}: {e}") };
                worlds.push((world.clone(), Pattern::new(server).map_err(wrong)?));
            }
        }
        worlds.sort_by_key(|(_, p)| (std::cmp::Reverse(p.is_exact()), std::cmp::Reverse(p.length())));
        if let Some(pair) = worlds.windows(2).find(|pair| matches!(pair, [a, b] if a.1 == b.1)) {
            let server = pair.first().map_or("", |(_, pattern)| pattern.text());
            return Err(PolicyError {
                code: "P0103",
                message: format!("[worlds]: {server:?} stands in two worlds"),
            });
        }
        let source = toml::to_string(&document)
            .map_err(|e| PolicyError { code: "P0101", message: format!("cannot be written as TOML: {e}") })?;
        Ok(Policy { source, document, rules, worlds, today: None })
    }
}

fn check_waivers(waivers: Option<&Waivers>) -> Result<(), PolicyError> {
    let Some(waivers) = waivers else { return Ok(()) };
    for (name, given, known) in [
        ("authors", &waivers.authors, &["person", "model"][..]),
        ("effects", &waivers.effects, &["write", "destructive", "unknown"][..]),
    ] {
        if let Some(wrong) = given.iter().find(|g| !known.contains(&g.as_str())) {
            let hint = did_you_mean(wrong, known.iter().copied());
            let message = format!("[honour_without_asking] {name}: unknown {wrong:?}{hint}");
            return Err(PolicyError { code: "P0102", message });
        }
    }
    Ok(())
}

/// What a rule does, with its reason.
fn said(rule: &Rule, does: &str) -> String {
    let reason = rule.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("the policy rule {} {does}{reason}", rule.about())
}

/// The lines that say that a tool, as it is defined now, only reads.
pub(crate) fn pinned_reads(server: &str, definition: &Definition) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    format!(
        "[[reads]]\nserver = {}\ntool = {}\ndefinition = {}\nreason = \"looked at: it only reads\"\n",
        quoted(&escaped(server)),
        quoted(&escaped(&definition.name)),
        quoted(&definition.digest(server).to_string()),
    )
}

/// A name as a pattern that means it and no other.
fn escaped(name: &str) -> String {
    let escape = |c: char| if pattern::WILD.contains(c) { format!("\\{c}") } else { c.to_string() };
    name.chars().map(escape).collect()
}
