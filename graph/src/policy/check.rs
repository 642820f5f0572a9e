//! A policy held against a catalog: what can never apply, and what nobody could decide.

use std::collections::BTreeSet;

use super::nearest::did_you_mean;
use super::rule::{Kind, Pin, Rule};
use super::{Policy, PolicyError, Terms};
use crate::catalog::{Catalog, Definition};
use crate::value::Value;

/// Everything that is wrong, in the order of the rules.
pub(super) fn check(policy: &Policy, catalog: &Catalog) -> Vec<PolicyError> {
    let mut errors = Vec::new();
    for rule in &policy.rules {
        let tools: Vec<_> = catalog
            .tools()
            .filter(|(server, tool)| rule.server.matches(server) && rule.tool.matches(&tool.name))
            .collect();
        if tools.is_empty() {
            // Lines about people may stand ready for tools to come.
            if rule.kind != Kind::People || rule.server.is_exact() {
                errors.push(names_nothing(rule, catalog));
            }
            continue;
        }
        errors.extend(pinned_elsewhere(rule, &tools));
        errors.extend(unknown_arguments(rule, &tools));
        errors.extend(unheld_roles(policy, rule));
    }
    for (world, pattern) in &policy.worlds {
        if !catalog.servers().any(|(server, _)| pattern.matches(server)) {
            let hint = did_you_mean(pattern.text(), catalog.servers().map(|(server, _)| server));
            let message = format!("[worlds] {world}: no server is called {:?}{hint}", pattern.text());
            errors.push(PolicyError { code: "P0201", message });
        }
    }
    errors.extend(undecidable(policy, catalog));
    errors
}

fn names_nothing(rule: &Rule, catalog: &Catalog) -> PolicyError {
    let servers: Vec<_> = catalog.servers().filter(|(server, _)| rule.server.matches(server)).collect();
    let message = if servers.is_empty() {
        let hint = did_you_mean(rule.server.text(), catalog.servers().map(|(server, _)| server));
        format!("{}: no server is called {:?}{hint}", rule.place(), rule.server.text())
    } else {
        let names = servers.iter().flat_map(|(_, server)| server.tools().map(|tool| tool.name.as_str()));
        let hint = did_you_mean(rule.tool.text(), names);
        format!("{}: no tool is called {:?}{hint}", rule.place(), rule.tool.text())
    };
    PolicyError { code: "P0201", message }
}

fn pinned_elsewhere(rule: &Rule, tools: &[(&str, &Definition)]) -> Option<PolicyError> {
    let Pin::Of(digests) = &rule.pin else { return None };
    if tools.iter().any(|(server, tool)| digests.contains(&tool.digest(server))) {
        return None;
    }
    let is = match tools {
        [(server, tool)] => format!("it is {} now", tool.digest(server)),
        many => format!("none of the {} tools that it names has it now", many.len()),
    };
    let message = format!(
        "{}: the definition has changed since the rule was written: {is}. Look at the tool again and pin it anew, or take the rule out",
        rule.place()
    );
    Some(PolicyError { code: "P0202", message })
}

fn unknown_arguments(rule: &Rule, tools: &[(&str, &Definition)]) -> Vec<PolicyError> {
    let mut errors = Vec::new();
    for predicate in &rule.when {
        let name = predicate.argument();
        let mut known = BTreeSet::new();
        let mut open = false;
        for (_, tool) in tools {
            match tool.input_schema.member("properties") {
                Some(Value::Object(properties)) if !properties.is_empty() => {
                    known.extend(properties.iter().map(|(property, _)| property));
                }
                _ => open = true,
            }
        }
        if !open && !known.contains(name) {
            let hint = did_you_mean(name, known);
            let message = format!(
                "{}: when {:?}: the tool takes no argument {name:?}{hint}",
                rule.place(),
                predicate.to_string()
            );
            errors.push(PolicyError { code: "P0204", message });
        }
    }
    errors
}

fn unheld_roles(policy: &Policy, rule: &Rule) -> Vec<PolicyError> {
    let roster = &policy.document.roles;
    if roster.is_empty() {
        return Vec::new();
    }
    let named = rule.people.roles.iter().chain(&rule.people.may_edit).flatten();
    named
        .filter(|role| roster.get(*role).is_none_or(Vec::is_empty))
        .map(|role| {
            let hint = did_you_mean(role, roster.keys().map(String::as_str));
            let message = format!("{}: nobody holds the role {role:?}{hint}", rule.place());
            PolicyError { code: "P0203", message }
        })
        .collect()
}

/// Gates that nobody could ever decide. Who there is, is known only where the policy has a `roles` table.
fn undecidable(policy: &Policy, catalog: &Catalog) -> Vec<PolicyError> {
    let roster = &policy.document.roles;
    if roster.is_empty() {
        return Vec::new();
    }
    let everybody: BTreeSet<&str> = roster.values().flatten().map(String::as_str).collect();
    let mut seen: Vec<Terms> = Vec::new();
    let mut errors = Vec::new();
    for (server, tool) in catalog.tools() {
        let terms = policy.terms(server, &tool.name);
        if seen.contains(&terms) {
            continue;
        }
        let voters: BTreeSet<&str> = if terms.roles.is_empty() {
            everybody.clone()
        } else {
            let held = terms.roles.iter().filter_map(|role| roster.get(role));
            held.flatten().map(String::as_str).collect()
        };
        let quorum = terms.quorum as usize;
        let starts_outside = voters.len() < everybody.len();
        let enough = voters.len() >= quorum + usize::from(!terms.requester_may_decide && !starts_outside);
        // Without roles anybody may vote, also somebody whom the table does not name.
        if !enough && !terms.roles.is_empty() {
            let ban =
                if terms.requester_may_decide { "" } else { ", and whoever starts the run may not vote" };
            let message = format!(
                "nobody could decide a gate of {server}.{}: it needs {quorum} yes of {}, which {} held by {}{ban}",
                tool.name,
                terms.roles.join(" or "),
                if terms.roles.len() == 1 { "is" } else { "are" },
                match voters.len() {
                    0 => "nobody".to_owned(),
                    1 => "one person".to_owned(),
                    n => format!("{n} people"),
                },
            );
            errors.push(PolicyError { code: "P0203", message });
        }
        seen.push(terms);
    }
    errors
}
