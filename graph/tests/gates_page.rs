//! `docs/gates.md` names every reason code and every policy code, and its examples are policies.
#![allow(clippy::unwrap_used, reason = "tests")]

use plangate_graph::policy::Policy;

const PAGE: &str = include_str!("../../docs/gates.md");

/// Where codes are written down in the code.
const SOURCES: [&str; 6] = [
    include_str!("../src/effect/arguments.rs"),
    include_str!("../src/effect/annotations.rs"),
    include_str!("../src/effect/default.rs"),
    include_str!("../src/policy/asking.rs"),
    include_str!("../src/policy/mod.rs"),
    include_str!("../src/policy/rule.rs"),
];

#[test]
fn every_reason_code_is_on_the_page() {
    let kinds = ["argument-", "hint-", "policy-", "without-", "asked-"];
    let literals = SOURCES.iter().flat_map(|source| source.split('"').skip(1).step_by(2));
    let codes: Vec<&str> = literals
        .filter(|text| kinds.iter().any(|kind| text.starts_with(kind)) && !text.contains([' ', '{']))
        .collect();
    assert!(codes.len() >= 15, "{codes:?}");
    for code in codes {
        assert!(PAGE.contains(&format!("`{code}`")), "{code}");
    }
}

#[test]
fn every_example_is_a_policy() {
    let examples: Vec<&str> =
        PAGE.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(examples.len() >= 4);
    for example in examples {
        Policy::from_toml(example).map_err(|e| format!("{e}\n{example}")).unwrap();
    }
}
