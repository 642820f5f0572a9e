//! What the host decided about tools, people and deadlines.
//!
//! A policy is a value: it is read from TOML, has one normal form, and answers questions. It knows no clock; a host says
//! which day it is with [`Policy::on`].

mod asking;
mod check;
mod date;
mod file;
mod nearest;
pub(crate) mod number;
mod pattern;
mod people;
mod place;
mod repeat;
mod rule;
mod when;

use crate::catalog::{Catalog, Definition};
use crate::digest::Digest;
use crate::effect::{Effect, Evidence};
use crate::problem::Problem;
use crate::template::Template;
use crate::value::Value;

pub use asking::{Asking, AskingOf, Author};
pub use date::{Date, DateError};
pub use people::Terms;
pub use repeat::Repeat;

pub(crate) use nearest::did_you_mean;

use asking::said;
use file::{Document, Waivers};
use pattern::Pattern;
use place::Arguments;
use rule::{Kind, Rule};
use when::Truth;

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
    voters: Voters,
}

/// Who there is to decide, as the host says it: of people the policy knows no more than its `roles` table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Voters {
    /// The host may know people and roles of its own; where the policy has a `roles` table, that is all of them.
    #[default]
    Anybody,
    /// Roles come from the `roles` table and from nowhere else.
    Listed,
    /// No surface of the host can verify anybody.
    Unverified,
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

    /// The same policy where these may decide. What nobody of them could ever decide is refused when a plan is verified.
    #[must_use]
    pub fn decided_by(self, voters: Voters) -> Policy {
        Policy { voters, ..self }
    }

    /// The normal form, which [`from_toml`](Policy::from_toml) reads back to this policy, as stored with a run. Two
    /// policies that differ only in comments, layout or in how a value is written have the same.
    pub fn to_toml(&self) -> &str {
        &self.source
    }

    /// Digest of the normal form. The day and the voters are no part of it.
    pub fn digest(&self) -> Digest {
        Digest::of(self.source.as_bytes())
    }

    /// Holds the policy against all servers that there are. For a host to call once, where it reads its policy: errors
    /// (`P0201` a rule about a server or tool that is not there, `P0203` a gate that nobody could decide, `P0204` a
    /// condition over no argument of the tool) are what no plan should be made under; a warning (`P0202`, a definition that
    /// is not the pinned one any more) says which rule is void until somebody looks.
    ///
    /// A server that was not asked for its tools stands in the catalog by name ([`Catalog::leave_open`]); what would take
    /// its tools to know is left. Compiling and verifying refuse by themselves what can be known from a catalog of the used
    /// servers alone.
    pub fn check(&self, catalog: &Catalog) -> Vec<Problem> {
        check::check(self, catalog)
    }

    /// The errors of [`check`](Policy::check) that hold whatever other servers there are.
    pub(crate) fn certain_faults(&self, catalog: &Catalog) -> Vec<Problem> {
        check::certain(self, catalog)
    }

    /// Why nobody could ever decide a gate of this tool and what to do about it, if that is so.
    pub(crate) fn undecidable(
        &self,
        server: &str,
        tool: &str,
        final_args: Option<&Value>,
    ) -> Option<(String, &'static str)> {
        check::undecidable(self, &self.terms_of(server, tool, final_args))
    }

    /// What a row of this tool needs to be decided. A condition over arguments counts as fulfilled.
    pub fn terms(&self, server: &str, tool: &str) -> Terms {
        self.terms_of(server, tool, None)
    }

    /// What a row of this tool with these final arguments needs to be decided: for each line the most exact of the
    /// matching `people` and `ask` rules that has it; and what the most exact of the matching `repeat` rules says.
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
        let repeat = self.matching(Kind::Repeat, server, tool).find(|rule| rule.holds(args) != Truth::No);
        Terms { repeat: repeat.and_then(|rule| rule.repeat), ..terms.settled() }
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

    /// Whether a read of this tool that was under way when its process ended is not made again, since nobody knows whether
    /// it was made.
    pub fn once(&self, server: &str, tool: &str) -> bool {
        self.matching(Kind::Once, server, tool).next().is_some()
    }

    /// Whether a rule about a tool has conditions over arguments. Where none has, arguments change no answer of the policy.
    pub(crate) fn has_conditions(&self, server: &str, tool: &str) -> bool {
        self.rules.iter().any(|rule| !rule.when.is_empty() && rule.applies(server, tool, self.today))
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
            (Kind::Once, &mut document.once),
            (Kind::People, &mut document.people),
            (Kind::Repeat, &mut document.repeat),
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
        Ok(Policy { source, document, rules, worlds, today: None, voters: Voters::default() })
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
