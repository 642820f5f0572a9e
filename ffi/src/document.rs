//! Documents that several functions take.

use plangate_approval::Person;
use plangate_graph::policy::Date;
use plangate_graph::problem::{Problem, Severity};
use plangate_graph::{Catalog, Policy};

use crate::failure::Failure;

/// A catalog. The empty document has no servers.
pub(crate) fn catalog(json: &str) -> Result<Catalog, Failure> {
    if json.trim().is_empty() {
        return Ok(Catalog::new());
    }
    Catalog::from_json(json).map_err(|e| Failure::refused("the catalog cannot be read", &e))
}

/// A policy on the day of today (UTC), held against all servers that there are: one that is not listed with its tools
/// stands in the catalog as `{"tools": [], "partial": true}`.
pub(crate) fn policy(toml: &str, catalog: &Catalog) -> Result<Policy, Failure> {
    let policy = policy_alone(toml)?;
    let errors: Vec<Problem> =
        policy.check(catalog).into_iter().filter(|problem| problem.severity == Severity::Error).collect();
    match errors.as_slice() {
        [] => Ok(policy),
        _ => Err(Failure::problems("the policy does not fit the catalog", errors)),
    }
}

/// A policy on the day of today (UTC), where the servers at hand are not all that there are.
pub(crate) fn policy_alone(toml: &str) -> Result<Policy, Failure> {
    let policy = Policy::from_toml(toml).map_err(|e| Failure::refused("the policy cannot be read", &e))?;
    Ok(match today() {
        Some(today) => policy.on(today),
        None => policy,
    })
}

fn today() -> Option<Date> {
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    Date::new(today.year().try_into().ok()?, today.month().try_into().ok()?, today.day().try_into().ok()?)
}

/// Somebody, as the host names them.
pub(crate) fn person(what: &str, json: &str) -> Result<Person, Failure> {
    let person: Person = serde_json::from_str(json).map_err(|e| {
        Failure::argument(format!("`{what}` is no person: {e}"))
            .help(r#"for instance {"issuer":"sso","subject":"ann","roles":["ops"],"verified":true}"#)
    })?;
    if person.issuer.trim().is_empty() || person.subject.trim().is_empty() {
        return Err(Failure::argument(format!("`{what}` names nobody: issuer and subject may not be empty")));
    }
    Ok(person)
}

/// The host itself, where it does not say on whose behalf it acts.
pub(crate) fn the_host() -> Person {
    Person { issuer: "host".to_owned(), subject: "program".to_owned(), roles: Vec::new(), verified: false }
}
