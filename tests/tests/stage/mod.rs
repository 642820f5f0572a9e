//! One server, tools that answer from functions, and a run that nobody is asked about.
#![allow(dead_code, reason = "each test takes what it needs")]

use std::collections::BTreeMap;
use std::sync::Arc;

use plangate_approval::{MemoryStore, Outcome, Permit, Person};
use plangate_compiler::{Options as Compile, Severity, compile};
use plangate_executor::{
    Cancel, Ended, Executor, Options, ReadError, Record, Sentence, Start, Tools, Writer,
};
use plangate_graph::{Author, Catalog, Digest, Policy, ReadCall, Value, VerifiedPlan};

type Answer = Box<dyn Fn(&Value) -> Result<Value, ReadError> + Send + Sync>;

/// Tools that read are `read`, `one` and `two`; `write` and `drop` change something.
pub(crate) fn catalog() -> Catalog {
    let tools: Vec<String> = ["read", "one", "two", "write", "drop"]
        .map(|name| {
            let reads = !matches!(name, "write" | "drop");
            format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"annotations":{{"readOnlyHint":{reads}}}}}"#)
        })
        .into();
    Catalog::from_json(&format!(r#"{{"servers":{{"fs":{{"tools":[{}]}}}}}}"#, tools.join(","))).unwrap()
}

/// A policy that says which of them only read.
pub(crate) fn policy() -> Policy {
    let catalog = catalog();
    let reads = ["read", "one", "two"].map(|tool| {
        let digest = catalog.digest("fs", tool).unwrap();
        format!(
            "[[reads]]\nserver = \"fs\"\ntool = \"{tool}\"\ndefinition = \"{digest}\"\nreason = \"made up\"\n"
        )
    });
    Policy::from_toml(&reads.concat()).unwrap()
}

/// Compiles and verifies a recipe that is right.
pub(crate) fn verified(recipe: &str) -> VerifiedPlan {
    let (catalog, policy) = (catalog(), policy());
    let compiled = compile(recipe, &Compile::new(&catalog, &policy).author(Author::Person));
    let plan = compiled.plan.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics));
    plan.verify(&catalog, &policy, Author::Person).unwrap()
}

/// The errors of a recipe that is wrong.
pub(crate) fn codes(recipe: &str) -> Vec<&'static str> {
    let (catalog, policy) = (catalog(), policy());
    let compiled = compile(recipe, &Compile::new(&catalog, &policy).author(Author::Person));
    assert!(compiled.plan.is_none(), "{recipe}");
    compiled.diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect()
}

/// Answers of tools by `server.tool`; whoever has none gives `{"of":"server.tool"}`.
pub(crate) struct Stage {
    answers: BTreeMap<String, Answer>,
    workers: Option<usize>,
}

impl Stage {
    pub(crate) fn new() -> Stage {
        Stage { answers: BTreeMap::new(), workers: None }
    }

    pub(crate) fn on(
        mut self,
        tool: &str,
        answer: impl Fn(&Value) -> Result<Value, ReadError> + Send + Sync + 'static,
    ) -> Stage {
        self.answers.insert(tool.to_owned(), Box::new(answer));
        self
    }

    pub(crate) fn workers(mut self, workers: usize) -> Stage {
        self.workers = Some(workers);
        self
    }

    /// Runs a recipe in which nobody is asked.
    pub(crate) fn run(self, recipe: &str) -> Record {
        let options = Options { workers: self.workers, ..Options::default() };
        let tools = Arc::new(Answers { answers: self.answers, catalog: catalog() });
        let store = Arc::new(MemoryStore::new().unwrap());
        let executor = Executor::new(store, tools, Some(Arc::new(Echo)), options);
        let requester =
            Person { issuer: "test".into(), subject: "ann".into(), roles: vec![], verified: true };
        let start = Start { inputs: Value::Null, requester, title: "recipe".into() };
        match executor.run(&verified(recipe), start).unwrap() {
            Ended::Done(record) => record,
            other => panic!("{other:?}"),
        }
    }
}

struct Answers {
    answers: BTreeMap<String, Answer>,
    catalog: Catalog,
}

impl Tools for Answers {
    fn definition(&self, server: &str, tool: &str) -> Option<Digest> {
        self.catalog.digest(server, tool)
    }

    fn read(&self, call: ReadCall<'_>, _: &Cancel) -> Result<Value, ReadError> {
        let name = format!("{}.{}", call.server(), call.tool());
        match self.answers.get(&name) {
            Some(answer) => answer(&Value::parse_bytes(call.args()).unwrap()),
            None => Ok(Value::parse(&format!(r#"{{"of":"{name}"}}"#)).unwrap()),
        }
    }

    fn effect(&self, _: Permit, _: &Cancel) -> Outcome {
        Outcome::NotSent("nobody is asked here".to_owned())
    }
}

/// A writer that says what it was given.
struct Echo;

impl Writer for Echo {
    fn write(&self, sentence: &Sentence<'_>, _: &Cancel) -> Result<Value, ReadError> {
        let inputs: Vec<String> = sentence
            .inputs
            .iter()
            .map(|input| match &input.value {
                Ok(value) => format!("{}={value}", input.name),
                Err(why) => format!("{}: {why}", input.name),
            })
            .collect();
        Ok(Value::Text(inputs.join("; ")))
    }
}
