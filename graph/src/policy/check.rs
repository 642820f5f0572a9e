//! A policy held against a catalog: what can never apply, and what nobody could decide.
//!
//! What is said depends on what is known. A server stands in the catalog with all its tools, with some, or by name; one
//! that does not stand there may still be somewhere. [`check`] is for whoever knows all servers; [`certain`] says only
//! what holds whatever else there is, and goes with every plan.

use std::collections::BTreeSet;

use super::nearest::did_you_mean;
use super::rule::{Kind, Pin, Rule};
use super::{Policy, Terms, Voters};
use crate::catalog::{Catalog, Definition, Server};
use crate::problem::Problem;
use crate::value::Value;

/// Everything that is wrong, in the order of the rules; the catalog names all servers that there are.
pub(super) fn check(policy: &Policy, catalog: &Catalog) -> Vec<Problem> {
    let mut problems = Vec::new();
    for rule in &policy.rules {
        let about = About::of(rule, catalog);
        if about.servers.is_empty() {
            // Lines about people may stand ready for servers to come.
            if rule.kind != Kind::People || rule.server.is_exact() {
                problems.push(no_server(&rule.place(), rule.server.text(), catalog));
            }
        } else if about.tools.is_empty() {
            if about.whole && (rule.kind != Kind::People || rule.server.is_exact()) {
                problems.push(no_tool(rule, &about));
            }
        } else if about.is_settled(rule) {
            problems.extend(pinned_elsewhere(rule, &about.tools));
            problems.extend(unknown_arguments(rule, &about.tools));
        }
        problems.extend(unheld_roles(policy, rule));
    }
    for (world, pattern) in &policy.worlds {
        if !catalog.servers().any(|(server, _)| pattern.matches(server)) {
            problems.push(no_server(&format!("[worlds] {world}"), pattern.text(), catalog));
        }
    }
    problems.extend(undecidable_tools(policy, catalog));
    problems
}

/// What is wrong whatever servers there are besides those of the catalog: a rule that names one of its servers and none
/// of that server's tools, or no argument of the tool, or a role that nobody holds.
pub(super) fn certain(policy: &Policy, catalog: &Catalog) -> Vec<Problem> {
    let mut problems = Vec::new();
    for rule in &policy.rules {
        problems.extend(unheld_roles(policy, rule));
        if !rule.server.is_exact() {
            continue;
        }
        let about = About::of(rule, catalog);
        if !about.tools.is_empty() && about.is_settled(rule) {
            problems.extend(unknown_arguments(rule, &about.tools));
        } else if about.tools.is_empty() && !about.servers.is_empty() && about.whole {
            problems.push(no_tool(rule, &about));
        }
    }
    problems
}

/// What a rule is about, as far as the catalog knows.
struct About<'a> {
    servers: Vec<&'a Server>,
    tools: Vec<(&'a str, &'a Definition)>,
    /// All tools of these servers are listed.
    whole: bool,
}

impl<'a> About<'a> {
    fn of(rule: &Rule, catalog: &'a Catalog) -> About<'a> {
        let mut about = About { servers: Vec::new(), tools: Vec::new(), whole: true };
        for (name, server) in catalog.servers().filter(|(name, _)| rule.server.matches(name)) {
            about.whole &= !server.partial;
            let tools = server.tools().filter(|tool| rule.tool.matches(&tool.name));
            about.tools.extend(tools.map(|tool| (name, tool)));
            about.servers.push(server);
        }
        about
    }

    /// Whether it is about these tools and no others.
    fn is_settled(&self, rule: &Rule) -> bool {
        self.whole || rule.server.is_exact() && rule.tool.is_exact()
    }
}

fn no_server(place: &str, name: &str, catalog: &Catalog) -> Problem {
    let hint = did_you_mean(name, catalog.servers().map(|(server, _)| server));
    let message = format!("{place}: no server is called {name:?}{hint}");
    Problem::error("P0201", None, message)
        .help("name the server as it is configured, or take the line out: it protects nothing")
}

fn no_tool(rule: &Rule, about: &About<'_>) -> Problem {
    let names = about.servers.iter().flat_map(|server| server.tools().map(|tool| tool.name.as_str()));
    let hint = did_you_mean(rule.tool.text(), names);
    let server = if rule.server.is_exact() { format!(" of {}", rule.server.text()) } else { String::new() };
    let message = format!("{}: no tool{server} is called {:?}{hint}", rule.place(), rule.tool.text());
    Problem::error("P0201", None, message)
        .help("`plangate tools` lists the tools; name one of them, or take the rule out: it protects nothing")
}

fn pinned_elsewhere(rule: &Rule, tools: &[(&str, &Definition)]) -> Option<Problem> {
    let Pin::Of(digests) = &rule.pin else { return None };
    if tools.iter().any(|(server, tool)| digests.contains(&tool.digest(server))) {
        return None;
    }
    let is = match tools {
        [(server, tool)] => format!("it is {} now", tool.digest(server)),
        many => format!("none of the {} tools that it names has it now", many.len()),
    };
    let message = format!(
        "{}: the definition has changed since the rule was written, and the rule is void: {is}",
        rule.place()
    );
    let help = "look at the tool again and pin it anew, or take the rule out";
    Some(Problem::warning("P0202", None, message).help(help))
}

fn unknown_arguments(rule: &Rule, tools: &[(&str, &Definition)]) -> Vec<Problem> {
    if rule.when.is_empty() {
        return Vec::new();
    }
    let mut known = BTreeSet::new();
    for (_, tool) in tools {
        match tool.input_schema.member("properties") {
            Some(Value::Object(properties)) if !properties.is_empty() => {
                known.extend(properties.iter().map(|(property, _)| property));
            }
            // It may take anything.
            _ => return Vec::new(),
        }
    }
    let unknown = rule.when.iter().filter(|predicate| !known.contains(predicate.argument()));
    unknown
        .map(|predicate| {
            let name = predicate.argument();
            let hint = did_you_mean(name, known.iter().copied());
            let message = format!(
                "{}: when {:?}: the tool takes no argument {name:?}{hint}",
                rule.place(),
                predicate.to_string()
            );
            Problem::error("P0204", None, message)
                .help("name an argument of the tool, or take the condition out")
        })
        .collect()
}

fn unheld_roles(policy: &Policy, rule: &Rule) -> Vec<Problem> {
    let roster = &policy.document.roles;
    if roster.is_empty() && policy.voters != Voters::Listed {
        return Vec::new();
    }
    let named = rule.people.roles.iter().chain(&rule.people.may_edit).flatten();
    named
        .filter(|role| roster.get(*role).is_none_or(Vec::is_empty))
        .map(|role| {
            let hint = did_you_mean(role, roster.keys().map(String::as_str));
            let message = format!("{}: nobody holds the role {role:?}{hint}", rule.place());
            let help = format!("say who holds it: under [roles], {role} = [\"issuer:subject\"]");
            Problem::error("P0203", None, message).help(help)
        })
        .collect()
}

/// Tools whose gates nobody could ever decide; of several with the same terms the first.
fn undecidable_tools(policy: &Policy, catalog: &Catalog) -> Vec<Problem> {
    let mut seen: Vec<Terms> = Vec::new();
    let mut problems = Vec::new();
    for (server, tool) in catalog.tools() {
        let terms = policy.terms(server, &tool.name);
        if seen.contains(&terms) {
            continue;
        }
        if let Some((why, help)) = undecidable(policy, &terms) {
            let message = format!("nobody could decide a gate of {server}.{}: {why}", tool.name);
            problems.push(Problem::error("P0203", None, message).help(help));
        }
        seen.push(terms);
    }
    problems
}

/// Why nobody could meet these terms and what to do about it, if that is so. Who there is, is known only where the policy has a `roles` table or
/// the host says so.
pub(super) fn undecidable(policy: &Policy, terms: &Terms) -> Option<(String, &'static str)> {
    if terms.verified_only && policy.voters == Voters::Unverified {
        let why = "only verified voters count, and nobody can be verified here".to_owned();
        return Some((why, "decide where people are verified, or take the lines about people out"));
    }
    let roster = &policy.document.roles;
    // Without roles anybody may vote, also somebody whom the table does not name.
    if terms.roles.is_empty() || roster.is_empty() && policy.voters != Voters::Listed {
        return None;
    }
    let everybody: BTreeSet<&str> = roster.values().flatten().map(String::as_str).collect();
    let held = terms.roles.iter().filter_map(|role| roster.get(role));
    let voters: BTreeSet<&str> = held.flatten().map(String::as_str).collect();
    let quorum = terms.quorum as usize;
    let starts_outside = voters.len() < everybody.len();
    if voters.len() >= quorum + usize::from(!terms.requester_may_decide && !starts_outside) {
        return None;
    }
    let ban = if terms.requester_may_decide { "" } else { ", and whoever starts the run may not vote" };
    let help = "name more people under [roles], ask for fewer yes, or say `requester_may_decide = true`";
    let why = format!(
        "it needs {quorum} yes of {}, which {} held by {}{ban}",
        terms.roles.join(" or "),
        if terms.roles.len() == 1 { "is" } else { "are" },
        match voters.len() {
            0 => "nobody".to_owned(),
            1 => "one person".to_owned(),
            n => format!("{n} people"),
        },
    );
    Some((why, help))
}
