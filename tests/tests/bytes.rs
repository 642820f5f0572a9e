//! The same recipe, catalog and policy give the same bytes, whatever features the rest of a build switches on.
//!
//! Run with `--features preserve-order` too: the plans are compared with the golden ones that were made without it.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::path::Path;

use plangate_compiler::{Options, compile};
use plangate_graph::{Author, Catalog, Plan, Policy};
use plangate_tests::root;

#[test]
fn plans_are_the_golden_bytes() {
    let read = |path: &Path| {
        let catalog = Catalog::from_json(&std::fs::read_to_string(path).unwrap()).unwrap();
        assert_eq!(Catalog::from_json(&catalog.to_json()).unwrap(), catalog);
        catalog
    };
    let shared = read(&root().join("tests/fixtures/catalog.json"));
    let folder = root().join("compiler/tests/fixtures/good");
    let mut compared = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "recipe") {
            continue;
        }
        let golden = std::fs::read_to_string(path.with_extension("snap")).unwrap();
        let golden = golden.split("== plan\n").nth(1).unwrap().split("\n\n== ").next().unwrap();
        let recipe = std::fs::read_to_string(&path).unwrap();
        // A recipe may have a catalog of its own.
        let own = Some(path.with_extension("catalog.json")).filter(|own| own.exists()).map(|own| read(&own));
        let catalog = own.as_ref().unwrap_or(&shared);
        let policy = Policy::default();
        let options = Options::new(catalog, &policy).author(Author::Person);
        let plan = compile(&recipe, &options).plan.unwrap().to_json();
        assert_eq!(plan.trim_end(), golden.trim_end(), "{}", path.display());
        assert_eq!(compile(&recipe, &options).plan.unwrap().to_json(), plan, "compiled twice");
        assert_eq!(Plan::from_json(&plan).unwrap().to_json(), plan, "read back");
        compared += 1;
    }
    assert!(compared >= 10, "only {compared} plans");
    let ordered = serde_json::to_string(&serde_json::json!({"b": 1, "a": 2})).unwrap();
    let kept = ordered.starts_with(r#"{"b""#);
    assert_eq!(kept, cfg!(feature = "preserve-order"), "the feature does what this test is about");
}
