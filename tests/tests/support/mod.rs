//! What the stories share: the binary, people, a writer.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "each story uses its part, and may fail"
)]

use std::path::PathBuf;

use plangate_approval::{Approvals, Decision, Person, Row, Storage, StoreError};
use plangate_executor::{Cancel, ReadError, Sentence, Writer};
use plangate_graph::Value;

/// The `plangate` binary of this build, which `cargo test --workspace` makes beside the test binaries.
pub fn plangate() -> PathBuf {
    let deps = std::env::current_exe().unwrap();
    let binary = deps.parent().unwrap().parent().unwrap().join("plangate");
    assert!(
        binary.exists(),
        "{} is not built: run the tests with `cargo test --workspace`",
        binary.display()
    );
    binary
}

pub fn person(name: &str) -> Person {
    Person { issuer: "test".into(), subject: name.into(), roles: vec![], verified: true }
}

/// A yes of one person to what is stored.
pub fn approve<S: Storage>(store: S, row: &Row, by: &str) -> Result<Row, StoreError> {
    let decision =
        Decision { row: row.id.clone(), seen: row.digest, by: person(by), yes: true, reason: None };
    Approvals::new(store).decide(&decision)
}

/// A writer that lays out the names of what it was given.
pub struct Lines;

impl Writer for Lines {
    fn write(&self, sentence: &Sentence<'_>, _: &Cancel) -> Result<Value, ReadError> {
        let names: Vec<&str> = sentence.inputs.iter().map(|i| i.name.as_str()).collect();
        Ok(Value::Text(format!("from {}", names.join(" and "))))
    }
}
