//! The example in Rust, and a snapshot of a compiled plan as one would keep it in one's own project.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests fail by panicking")]

#[path = "../../examples/rust/embed.rs"]
mod embed;

use plangate_approval::RunState;
use plangate_compiler::{Options, compile};
use plangate_graph::card::mermaid;
use plangate_graph::{Author, Catalog, Policy};

#[test]
fn embedded_in_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let (card, record, paid) = embed::embedded(&folder.path().join("pay.db")).unwrap();
    assert!(card.contains("this will stop and ask before running it"), "{card}");
    assert_eq!(record.state, RunState::Done);
    assert_eq!(paid.len(), 1);
    assert!(paid[0].ends_with(r#" {"amount":12.50,"to":"DE02120300000000202051"}"#), "{paid:?}");
}

/// What a change of the recipe, of a tool's definition or of the policy does to the plan shows up in review.
#[test]
fn the_plan_of_a_recipe_is_reviewed() {
    let catalog = Catalog::from_json(
        r#"{"servers": {"slack": {"tools": [{"name": "post_message", "inputSchema": {"type": "object"}}]}}}"#,
    )
    .unwrap();
    let policy = Policy::default();
    let recipe = "then:\n  post: slack.post_message {\"text\":\"hello\"}\n";
    let compiled = compile(recipe, &Options::new(&catalog, &policy));
    let plan = compiled.plan.unwrap().verify(&catalog, &policy, Author::Model).unwrap();
    insta::assert_snapshot!(mermaid(&plan));
}
