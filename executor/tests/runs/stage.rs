//! A host with scripted tools, a store on a clock that tests set, and recipes compiled for it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use plangate_approval::memory::MemoryStore;
use plangate_approval::row::Settled;
use plangate_approval::storage::{Settlement, Storage};
use plangate_approval::{
    Clock, Decision, Outcome, Permit, Person, Reconciled, Row, RowState, StepState, StoreError, SystemClock,
    Time,
};
use plangate_compiler::{Colour, compile, render};
use plangate_executor::record::Step;
use plangate_executor::{
    Cancel, Change, Ended, Executor, Observer, Options, ReadError, Record, Sentence, Start, Tools, Uncertain,
    Writer,
};
use plangate_graph::policy::Author;
use plangate_graph::{Catalog, Definition, Digest, Policy, ReadCall, Value, VerifiedPlan};

pub const TOOLS: &[&str] = &[
    "fs.read_file",
    "fs.write_file",
    "git.get_status",
    "git.commit",
    "gmail.list",
    "gmail.send",
    "cal.list",
    "slack.search",
    "slack.create_channel",
    "slack.post",
    "ci.run_tests",
    "prod.deploy",
    "s3.put",
    "db.drop",
    "jira.create",
];

/// What a scripted tool answers.
#[derive(Clone, Debug)]
pub enum Answer {
    Ok(Value),
    Failed(&'static str),
    Transport(&'static str),
    Unknown(&'static str),
}

type Script = Arc<dyn Fn(&Value, &Cancel) -> Answer + Send + Sync>;

type Knows = Arc<dyn Fn(&Cancel) -> Reconciled + Send + Sync>;

/// A call as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub tool: String,
    pub args: String,
    /// Of a call with a permit.
    pub key: Option<String>,
}

#[derive(Default)]
pub struct Host {
    scripts: Mutex<HashMap<String, Script>>,
    pub sent: Mutex<Vec<Sent>>,
    definitions: Mutex<HashMap<String, Option<Digest>>>,
    connects: Mutex<HashMap<String, Script>>,
    /// What the host says of uncertain calls; nothing: it cannot look them up.
    knows: Mutex<Option<Knows>>,
    /// Keys of the calls that it was asked about.
    pub looked_up: Mutex<Vec<String>>,
}

impl Host {
    fn answer(&self, server: &str, tool: &str, args: &[u8], key: Option<&str>, cancel: &Cancel) -> Answer {
        let tool = format!("{server}.{tool}");
        let args = String::from_utf8(args.to_vec()).unwrap();
        let value = Value::parse(&args).unwrap();
        let sent = Sent { tool: tool.clone(), args, key: key.map(str::to_owned) };
        self.sent.lock().unwrap().push(sent);
        let script = self.scripts.lock().unwrap().get(&tool).cloned();
        match script {
            Some(script) => script(&value, cancel),
            None => Answer::Ok(json(&format!(r#"{{"from":"{tool}"}}"#))),
        }
    }

    /// How often a tool was called.
    pub fn calls(&self, tool: &str) -> usize {
        self.sent.lock().unwrap().iter().filter(|sent| sent.tool == tool).count()
    }

    pub fn sent_to(&self, tool: &str) -> Vec<Sent> {
        self.sent.lock().unwrap().iter().filter(|sent| sent.tool == tool).cloned().collect()
    }

    /// Sets the definition that a tool has from now on; nothing: it is gone.
    pub fn redefine(&self, tool: &str, digest: Option<Digest>) {
        self.definitions.lock().unwrap().insert(tool.to_owned(), digest);
    }

    /// From now on the host looks uncertain calls up.
    pub fn knows(&self, word: impl Fn(&Cancel) -> Reconciled + Send + Sync + 'static) {
        *self.knows.lock().unwrap() = Some(Arc::new(word));
    }

    pub fn on_connect(
        &self,
        server: &str,
        script: impl Fn(&Value, &Cancel) -> Answer + Send + Sync + 'static,
    ) {
        self.connects.lock().unwrap().insert(server.to_owned(), Arc::new(script));
    }
}

impl Tools for Host {
    fn definition(&self, server: &str, tool: &str) -> Option<Digest> {
        match self.definitions.lock().unwrap().get(&format!("{server}.{tool}")) {
            Some(set) => *set,
            None => KNOWN.digest(server, tool),
        }
    }

    fn read(&self, call: ReadCall<'_>, cancel: &Cancel) -> Result<Value, ReadError> {
        match self.answer(call.server(), call.tool(), call.args(), None, cancel) {
            Answer::Ok(value) => Ok(value),
            Answer::Failed(why) => Err(ReadError::Failed(why.to_owned())),
            Answer::Transport(why) | Answer::Unknown(why) => Err(ReadError::Transport(why.to_owned())),
        }
    }

    fn effect(&self, permit: Permit, cancel: &Cancel) -> Outcome {
        let call = match permit.spend() {
            Ok(call) => call,
            Err(lapsed) => return Outcome::NotSent(lapsed.to_string()),
        };
        match self.answer(call.server(), call.tool(), call.args(), Some(call.key()), cancel) {
            Answer::Ok(value) => Outcome::Ok(value),
            Answer::Failed(why) => Outcome::Failed(why.to_owned()),
            Answer::Transport(why) | Answer::Unknown(why) => Outcome::Unknown(why.to_owned()),
        }
    }

    fn reconcile(&self, call: &Uncertain<'_>, cancel: &Cancel) -> Option<Reconciled> {
        let knows = self.knows.lock().unwrap().clone()?;
        self.looked_up.lock().unwrap().push(call.key.to_owned());
        Some(knows(cancel))
    }

    fn connect(&self, server: &str, cancel: &Cancel) -> Result<(), ReadError> {
        let script = self.connects.lock().unwrap().get(server).cloned();
        match script.map(|script| script(&Value::Null, cancel)) {
            None | Some(Answer::Ok(_)) => Ok(()),
            Some(Answer::Failed(why) | Answer::Transport(why) | Answer::Unknown(why)) => {
                Err(ReadError::Transport(why.to_owned()))
            }
        }
    }
}

/// A writer that says what it was given, as one line a input.
#[derive(Default)]
pub struct Echo {
    pub instructions: Mutex<Vec<String>>,
}

impl Writer for Echo {
    fn write(&self, sentence: &Sentence<'_>, _: &Cancel) -> Result<Value, ReadError> {
        self.instructions.lock().unwrap().push(sentence.instruction.to_owned());
        let lines: Vec<String> = sentence
            .inputs
            .iter()
            .map(|input| match &input.value {
                Ok(value) => format!("{}={value}", input.name),
                Err(why) => format!("{}: {why}", input.name),
            })
            .collect();
        Ok(Value::Text(lines.join("\n")))
    }
}

/// A clock that stands until it is moved.
#[derive(Debug)]
pub struct Standing {
    ahead: AtomicI64,
}

impl Standing {
    pub fn new() -> Arc<Standing> {
        Arc::new(Standing { ahead: AtomicI64::new(0) })
    }
    pub fn advance_ms(&self, ms: i64) {
        self.ahead.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for Standing {
    fn now(&self) -> Time {
        Time(1_700_000_000_000 + self.ahead.load(Ordering::SeqCst))
    }
    fn steady(&self) -> i64 {
        SystemClock.steady() + self.ahead.load(Ordering::SeqCst)
    }
}

static KNOWN: std::sync::LazyLock<Catalog> = std::sync::LazyLock::new(catalog);

pub fn json(text: &str) -> Value {
    Value::parse(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

pub fn catalog() -> Catalog {
    catalog_of(TOOLS)
}

pub fn catalog_of(tools: &[&str]) -> Catalog {
    let mut catalog = Catalog::new();
    for tool in tools {
        let (server, name) = tool.split_once('.').unwrap();
        let definition = Definition {
            name: name.to_owned(),
            description: String::new(),
            input_schema: json(r#"{"type":"object"}"#),
            annotations: Value::Null,
        };
        catalog.insert(server, definition).unwrap();
    }
    catalog
}

pub fn plan_with(recipe: &str, catalog: &Catalog, policy: &Policy) -> VerifiedPlan {
    let options = plangate_compiler::Options::new(catalog, policy).author(Author::Person);
    let compiled = compile(recipe, &options);
    let Some(plan) = compiled.plan else {
        panic!("{}", render(&compiled.diagnostics, recipe, "test.recipe", Colour::Plain));
    };
    plan.verify(catalog, policy, Author::Person).unwrap_or_else(|p| panic!("{p:#?}"))
}

pub fn plan(recipe: &str) -> VerifiedPlan {
    plan_with(recipe, &catalog(), &Policy::default())
}

pub fn person(name: &str) -> Person {
    Person { issuer: "test".to_owned(), subject: name.to_owned(), roles: Vec::new(), verified: true }
}

pub fn start(inputs: &str) -> Start {
    Start { inputs: json(inputs), requester: person("ann"), title: "a test".to_owned() }
}

/// Everything a run needs.
pub struct Stage {
    pub host: Arc<Host>,
    pub echo: Arc<Echo>,
    pub clock: Arc<Standing>,
    pub store: Arc<MemoryStore>,
    pub options: Options,
}

impl Stage {
    pub fn new() -> Stage {
        let clock = Standing::new();
        let store = Arc::new(MemoryStore::with_clock(clock.clone()).unwrap());
        Stage { host: Arc::default(), echo: Arc::default(), clock, store, options: Options::default() }
    }

    pub fn on(self, tool: &str, script: impl Fn(&Value, &Cancel) -> Answer + Send + Sync + 'static) -> Stage {
        assert!(TOOLS.contains(&tool), "{tool}");
        self.host.scripts.lock().unwrap().insert(tool.to_owned(), Arc::new(script));
        self
    }

    pub fn answers(self, tool: &str, value: &str) -> Stage {
        let value = json(value);
        self.on(tool, move |_, _| Answer::Ok(value.clone()))
    }

    pub fn fails(self, tool: &str, why: &'static str) -> Stage {
        self.on(tool, move |_, _| Answer::Failed(why))
    }

    pub fn executor(&self) -> Executor<MemoryStore> {
        Executor::new(self.store.clone(), self.host.clone(), Some(self.echo.clone()), self.options.clone())
    }

    pub fn run(&self, recipe: &str) -> Ended {
        self.run_with(recipe, "{}")
    }

    pub fn run_with(&self, recipe: &str, inputs: &str) -> Ended {
        self.executor().run(&plan(recipe), start(inputs)).unwrap()
    }

    pub fn resume(&self, ended: &Ended) -> Ended {
        self.executor().resume(&ended.record().run, None).unwrap()
    }

    pub fn approve(&self, row: &Row) -> Row {
        approve(&*self.store, row).unwrap()
    }

    pub fn reject(&self, row: &Row, why: &str) -> Row {
        let decision = Decision {
            row: row.id.clone(),
            seen: row.digest,
            by: person("bob"),
            yes: false,
            reason: Some(why.to_owned()),
        };
        self.store.decide(&decision).unwrap()
    }

    pub fn settle(&self, row: &Row, happened: bool, value: Option<&str>) -> Row {
        settle(&*self.store, row, happened, value.map(json)).unwrap()
    }
}

pub fn approve<S: Storage>(store: &S, row: &Row) -> Result<Row, StoreError> {
    let decision =
        Decision { row: row.id.clone(), seen: row.digest, by: person("bob"), yes: true, reason: None };
    store.decide(&decision)
}

pub fn settle<S: Storage>(
    store: &S,
    row: &Row,
    happened: bool,
    value: Option<Value>,
) -> Result<Row, StoreError> {
    let settled =
        Settled { by: person("bob"), happened, value, note: Some("looked".to_owned()), at: Time::default() };
    store.settle(&row.id, &Settlement { claim: row.claim.clone().unwrap(), settled })
}

/// The only row that waits.
pub fn only(ended: &Ended) -> Row {
    match waiting(ended).as_slice() {
        [row] => row.clone(),
        rows => panic!("{} rows wait", rows.len()),
    }
}

pub fn waiting(ended: &Ended) -> Vec<Row> {
    match ended {
        Ended::Parked { waiting, .. } => waiting.clone(),
        other => panic!("not parked: {other:#?}"),
    }
}

pub fn done(ended: &Ended) -> &Record {
    match ended {
        Ended::Done(record) => record,
        other => panic!("not done: {other:#?}"),
    }
}

pub fn step<'a>(ended: &'a Ended, id: &str) -> &'a Step {
    ended.record().step(id).unwrap_or_else(|| panic!("no step {id}"))
}

pub fn state(ended: &Ended, id: &str) -> StepState {
    step(ended, id).state
}

/// `id state`, of all nodes, joined by commas.
pub fn states(ended: &Ended) -> String {
    let word = |s: StepState| serde_json::to_string(&s).unwrap().replace('"', "");
    let steps = ended.record().steps.iter().map(|s| format!("{} {}", s.id, word(s.state)));
    steps.collect::<Vec<_>>().join(", ")
}

pub fn row_state(store: &MemoryStore, row: &Row) -> RowState {
    store.row(&row.id).unwrap().state
}

/// Keeps every change, as `id state`.
#[derive(Default)]
pub struct Seen(pub Mutex<Vec<(String, StepState)>>);

impl Observer for Seen {
    fn changed(&self, change: &Change<'_>) {
        self.0.lock().unwrap().push((change.node.to_owned(), change.state));
    }
}

impl Stage {
    pub fn store_row(&self, row: &Row) -> Row {
        self.store.row(&row.id).unwrap()
    }

    pub fn store_runs(&self) -> Vec<plangate_approval::Run> {
        self.store.runs().unwrap()
    }
}
