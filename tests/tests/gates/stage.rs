//! A host whose tools count, a store, and recipes compiled for them.

use std::sync::{Arc, Mutex};

use plangate_approval::{
    Approvals, Decision, MemoryStore, Outcome, Permit, Person, Row, Storage, StoreError,
};
use plangate_compiler::{Colour, Options as Compile, compile, render};
use plangate_executor::{
    Cancel, Ended, Executor, Options, Present, ReadError, Sentence, Start, Tools, Writer,
};
use plangate_graph::{Author, Catalog, Digest, Plan, Policy, ReadCall, Value, VerifiedPlan};
use plangate_tests::root;

/// The tools of the catalog that only read. `kv.kv` reads with the literal actions `list` and `get`.
const READERS: &[&str] = &[
    "fs.read_file",
    "git.status",
    "gmail.list",
    "gmail.messages_list",
    "cal.list",
    "slack.search",
    "slack.slack_search_messages",
    "google-calendar.list-events",
];

pub fn catalog() -> Catalog {
    let text = std::fs::read_to_string(root().join("tests/fixtures/catalog.json")).unwrap();
    Catalog::from_json(&text).unwrap()
}

/// A policy, with `DIGEST server.tool` standing for the digest of that definition.
pub fn policy(text: &str) -> Policy {
    let mut text = text.to_owned();
    for (server, definition) in catalog().tools() {
        let place = format!("DIGEST {server}.{}\"", definition.name);
        text = text.replace(&place, &format!("{}\"", definition.digest(server)));
    }
    Policy::from_toml(&text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The plan of a recipe; it must compile.
pub fn plan(recipe: &str, policy: &Policy, author: Author) -> Plan {
    let catalog = catalog();
    let compiled = compile(recipe, &Compile::new(&catalog, policy).author(author));
    compiled.plan.unwrap_or_else(|| {
        panic!("{}", render(&compiled.diagnostics, recipe, "test.recipe", Colour::Plain));
    })
}

pub fn verified(recipe: &str, policy: &Policy) -> VerifiedPlan {
    plan(recipe, policy, Author::Person)
        .verify(&catalog(), policy, Author::Person)
        .unwrap_or_else(|p| panic!("{p:#?}"))
}

pub fn person(name: &str) -> Person {
    Person { issuer: "test".into(), subject: name.into(), roles: vec![], verified: true }
}

pub fn start(inputs: &str) -> Start {
    Start { inputs: Value::parse(inputs).unwrap(), requester: person("ann"), title: "a test".into() }
}

/// A call that reached a tool: its name, and its argument bytes.
pub type Sent = (String, String);

/// Tools that answer with a value of many shapes, and write down what reached them by which door.
pub struct Counting {
    catalog: Catalog,
    pub read: Mutex<Vec<Sent>>,
    pub effects: Mutex<Vec<Sent>>,
}

impl Counting {
    pub fn new() -> Counting {
        Counting { catalog: catalog(), read: Mutex::default(), effects: Mutex::default() }
    }

    /// Calls that changed something.
    pub fn effects(&self) -> Vec<Sent> {
        self.effects.lock().unwrap().clone()
    }

    /// Nothing came through the door of the reads but what only reads.
    #[track_caller]
    pub fn assert_reads_only(&self, context: &str) {
        for call in self.read.lock().unwrap().iter() {
            assert!(only_reads(call), "{call:?} was called as a read\n{context}");
        }
    }
}

/// Whether a call changes nothing, by the table and not by the classifier.
pub fn only_reads((tool, args): &Sent) -> bool {
    let args = Value::parse(args).unwrap();
    let action = args.member("action").and_then(Value::text);
    READERS.contains(&tool.as_str()) || tool == "kv.kv" && matches!(action, Some("list" | "get"))
}

impl Tools for Counting {
    fn definition(&self, server: &str, tool: &str) -> Option<Digest> {
        self.catalog.digest(server, tool)
    }

    fn read(&self, call: ReadCall<'_>, _: &Cancel) -> Result<Value, ReadError> {
        let args = String::from_utf8(call.args().to_vec()).unwrap();
        self.read.lock().unwrap().push((format!("{}.{}", call.server(), call.tool()), args));
        Ok(Value::parse(r#"{"messages":[{"from":"a@b"}],"n":7,"action":"list"}"#).unwrap())
    }

    fn effect(&self, permit: Permit, _: &Cancel) -> Outcome {
        let call = permit.spend().unwrap();
        let args = String::from_utf8(call.args().to_vec()).unwrap();
        self.effects.lock().unwrap().push((format!("{}.{}", call.server(), call.tool()), args));
        Outcome::Ok(Value::Text("it was done".into()))
    }
}

/// A writer that says what it was asked.
struct Echo;

impl Writer for Echo {
    fn write(&self, sentence: &Sentence<'_>, _: &Cancel) -> Result<Value, ReadError> {
        Ok(Value::Text(sentence.instruction.to_owned()))
    }
}

/// A host: tools that count, and a store.
pub struct Stage<S = MemoryStore> {
    pub tools: Arc<Counting>,
    pub store: Arc<S>,
}

impl Stage {
    pub fn new() -> Stage {
        Stage::over(MemoryStore::new().unwrap())
    }
}

impl<S: Storage + 'static> Stage<S> {
    pub fn over(store: S) -> Stage<S> {
        Stage { tools: Arc::new(Counting::new()), store: Arc::new(store) }
    }

    /// As another process would be: it has the store and nothing else.
    pub fn executor(&self) -> Executor<S> {
        let options = Options { workers: Some(2), ..Options::default() };
        Executor::new(Arc::clone(&self.store), self.tools.clone(), Some(Arc::new(Echo)), options)
    }

    pub fn run(&self, plan: &VerifiedPlan) -> Ended {
        self.executor().run(plan, start("{}")).unwrap()
    }

    pub fn resume(&self, ended: &Ended, present: Option<Present>) -> Ended {
        self.executor().resume(&ended.record().run, present).unwrap()
    }

    pub fn vote(&self, row: &Row, yes: bool) -> Result<Row, StoreError> {
        let decision =
            Decision { row: row.id.clone(), seen: row.digest, by: person("bob"), yes, reason: None };
        Approvals::new(Arc::clone(&self.store)).decide(&decision)
    }

    /// Says yes to all that waits and goes on, until nothing waits. Every row that was asked, and the end.
    pub fn approve_all(&self, mut ended: Ended) -> (Vec<Row>, Ended) {
        let mut asked = Vec::new();
        while let Ended::Parked { waiting, .. } = &ended {
            for row in waiting {
                self.vote(row, true).unwrap();
            }
            asked.extend(waiting.iter().cloned());
            ended = self.resume(&ended, None);
        }
        (asked, ended)
    }
}

/// What waits, by node.
pub fn waiting(ended: &Ended) -> Vec<Row> {
    match ended {
        Ended::Parked { waiting, .. } => waiting.clone(),
        other => panic!("not parked: {other:#?}"),
    }
}

pub fn only(ended: &Ended) -> Row {
    match waiting(ended).as_slice() {
        [row] => row.clone(),
        rows => panic!("{} rows wait", rows.len()),
    }
}

/// `id state` of every node.
pub fn states(ended: &Ended) -> String {
    let steps = ended.record().steps.iter().map(|s| format!("{} {:?}", s.id, s.state).to_lowercase());
    steps.collect::<Vec<_>>().join(", ")
}

pub fn sent(tool: &str, args: &str) -> Sent {
    (tool.to_owned(), args.to_owned())
}
