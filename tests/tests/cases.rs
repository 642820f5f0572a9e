//! The worked cases: recipe, scripted tools, what people do; compiled, shown, written, read back, run and resumed.
//!
//! Each file under `fixtures/cases` is one case; its snapshot beside it is all that can be seen of it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::format_push_string, reason = "a test may fail")]

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use plangate_approval::row::Settled;
use plangate_approval::storage::Settlement;
use plangate_approval::{
    Approvals, Decision, MemoryStore, Outcome, Permit, Person, Row, RowState, StepState, Storage, Time,
};
use plangate_compiler::{Colour, Options as Compile, compile, render};
use plangate_executor::{Cancel, Ended, Executor, Options, ReadError, Sentence, Start, Tools, Writer};
use plangate_graph::card::Card;
use plangate_graph::{Author, Catalog, Digest, Plan, Policy, ReadCall, Value, VerifiedPlan};
use plangate_tests::root;

/// A case file, cut into its parts.
struct Case {
    about: String,
    parts: BTreeMap<String, String>,
}

impl Case {
    fn read(text: &str) -> Case {
        let mut parts = text.split("\n--- ");
        let about = parts.next().unwrap().trim().to_owned();
        let parts = parts
            .map(|part| {
                let (name, body) = part.split_once('\n').unwrap();
                (name.trim().to_owned(), body.trim_end().to_owned() + "\n")
            })
            .collect();
        Case { about, parts }
    }

    fn part(&self, name: &str) -> &str {
        self.parts.get(name).map_or("", String::as_str)
    }
}

/// What a tool answers, in words: `ok JSON`, `failed WHY`, `not-sent WHY`, `unknown WHY`.
fn outcome(words: &str) -> Outcome {
    let (kind, rest) = words.split_once(' ').unwrap_or((words, ""));
    match kind {
        "ok" => Outcome::Ok(Value::parse(rest).unwrap()),
        "failed" => Outcome::Failed(rest.to_owned()),
        "not-sent" => Outcome::NotSent(rest.to_owned()),
        "unknown" => Outcome::Unknown(rest.to_owned()),
        other => panic!("{other:?} is nothing that a tool answers"),
    }
}

/// Tools that answer from a script, and write down every call that changes something, byte for byte.
struct Scripted {
    catalog: Catalog,
    script: Mutex<BTreeMap<String, VecDeque<Outcome>>>,
    effects: Mutex<Vec<String>>,
}

impl Scripted {
    fn of(catalog: &Catalog, text: &str) -> Scripted {
        let mut script: BTreeMap<String, VecDeque<Outcome>> = BTreeMap::new();
        for line in text.lines() {
            let (tool, words) = line.split_once(": ").unwrap();
            script.entry(tool.to_owned()).or_default().push_back(outcome(words));
        }
        Scripted { catalog: catalog.clone(), script: Mutex::new(script), effects: Mutex::default() }
    }

    /// The next answer of a tool; the last one stays.
    fn next(&self, server: &str, tool: &str) -> Outcome {
        let name = format!("{server}.{tool}");
        let mut script = self.script.lock().unwrap();
        let Some(answers) = script.get_mut(&name) else {
            return Outcome::Ok(Value::parse(&format!(r#"{{"from":"{name}"}}"#)).unwrap());
        };
        if answers.len() > 1 { answers.pop_front().unwrap() } else { answers.front().unwrap().clone() }
    }
}

impl Tools for Scripted {
    fn definition(&self, server: &str, tool: &str) -> Option<Digest> {
        self.catalog.digest(server, tool)
    }

    fn read(&self, call: ReadCall<'_>, _: &Cancel) -> Result<Value, ReadError> {
        match self.next(call.server(), call.tool()) {
            Outcome::Ok(value) => Ok(value),
            Outcome::Failed(why) => Err(ReadError::Failed(why)),
            Outcome::NotSent(why) | Outcome::Unknown(why) => Err(ReadError::Transport(why)),
        }
    }

    fn effect(&self, permit: Permit, _: &Cancel) -> Outcome {
        let call = permit.spend().unwrap();
        let args = std::str::from_utf8(call.args()).unwrap();
        self.effects.lock().unwrap().push(format!("{}.{} {args}", call.server(), call.tool()));
        self.next(call.server(), call.tool())
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
                Err(why) => format!("{} missing: {why}", input.name),
            })
            .collect();
        Ok(Value::Text(format!("[{}]", inputs.join("; "))))
    }
}

fn ann() -> Person {
    Person { issuer: "test".into(), subject: "ann".into(), roles: vec![], verified: true }
}

struct Play<'a> {
    verified: &'a VerifiedPlan,
    executor: Executor<MemoryStore>,
    store: Arc<MemoryStore>,
    run: Option<plangate_approval::RunId>,
    out: String,
}

impl Play<'_> {
    /// The open row of a node, by the node's id or the name of the step behind the gate.
    fn row(&self, node: &str) -> Row {
        let rows = self.store.rows(self.run.as_ref()).unwrap();
        let found = rows.into_iter().find(|row| {
            let open = matches!(row.state, RowState::Pending | RowState::Uncertain);
            open && (row.node == node || row.node == format!("{node}/gate"))
        });
        found.unwrap_or_else(|| panic!("nobody is asked about {node}\n{}", self.out))
    }

    fn decide(&mut self, node: &str, yes: bool) {
        let row = self.row(node);
        if let (Some(call), true) = (&row.call, yes) {
            writeln!(self.out, "  {} {}", call.tool, String::from_utf8_lossy(&call.args)).unwrap();
        }
        let seen = row.digest;
        let decision = Decision { row: row.id, seen, by: ann(), yes, reason: None };
        Approvals::new(Arc::clone(&self.store)).decide(&decision).unwrap();
    }

    fn settle(&mut self, node: &str, happened: bool) {
        let row = self.row(node);
        let settled = Settled { by: ann(), happened, value: None, note: None, at: Time(0) };
        let word = Settlement { claim: row.claim.clone().unwrap(), settled };
        Approvals::new(Arc::clone(&self.store)).settle(&row.id, &word).unwrap();
    }

    fn go(&mut self) {
        let ended = match &self.run {
            None => self
                .executor
                .run(self.verified, Start { inputs: Value::Null, requester: ann(), title: "case".into() }),
            Some(run) => self.executor.resume(run, None),
        };
        let ended = ended.unwrap();
        let record = ended.record();
        self.run = Some(record.run.clone());
        assert_eq!(*record, self.executor.record(&record.run).unwrap(), "what is read is what was returned");
        for step in &record.steps {
            write!(self.out, "  {:<16} {:?}", step.id, step.state).unwrap();
            if let Some(error) = &step.error {
                write!(self.out, " — {error}").unwrap();
            }
            if let Some(cause) = &step.cause {
                write!(self.out, " — because {} is {:?}", cause.node, cause.state).unwrap();
            }
            if let (Some(result), StepState::Done) = (&step.result, step.state) {
                write!(self.out, " = {result}").unwrap();
            }
            if !step.late.is_empty() {
                write!(self.out, " (late: {})", step.late.join(", ")).unwrap();
            }
            self.out.push('\n');
        }
        match &ended {
            Ended::Done(_) => writeln!(self.out, "  => {:?}", record.state).unwrap(),
            Ended::Parked { waiting, .. } => {
                let mut nodes: Vec<&str> = waiting.iter().map(|row| row.node.as_str()).collect();
                nodes.sort_unstable();
                writeln!(self.out, "  => parked: {}", nodes.join(", ")).unwrap();
            }
            Ended::Stopped { .. } => writeln!(self.out, "  => stopped").unwrap(),
            Ended::Attention { reason, .. } => writeln!(self.out, "  => needs attention: {reason}").unwrap(),
        }
    }
}

/// All that can be seen of a case.
fn play(case: &Case, catalog: &Catalog) -> String {
    let mut out = format!("{}\n", case.about);
    let mut policy = case.part("policy").to_owned();
    for (server, definition) in catalog.tools() {
        let place = format!("DIGEST {server}.{}\"", definition.name);
        policy = policy.replace(&place, &format!("{}\"", definition.digest(server)));
    }
    let policy = Policy::from_toml(&policy).unwrap();
    let recipe = case.part("recipe");
    let compiled = compile(recipe, &Compile::new(catalog, &policy).author(Author::Person));
    out.push_str(&render(&compiled.diagnostics, recipe, "case.recipe", Colour::Plain));
    let Some(plan) = compiled.plan else { return out };
    let text = plan.to_json();
    let verified = Plan::from_json(&text).unwrap().verify(catalog, &policy, Author::Person).unwrap();
    writeln!(out, "\n== card\n{}\n== edges", Card::of(&verified, None).to_text()).unwrap();
    for line in text.lines().filter(|l| l.contains("\"because\"")) {
        let edge = Value::parse(line.trim().trim_end_matches(',')).unwrap();
        let text = |key: &str| edge.member(key).unwrap().text().unwrap().to_owned();
        let Some(Value::List(because)) = edge.member("because") else { panic!("{line}") };
        let because: Vec<String> = because
            .iter()
            .map(|b| format!("{} asks {}", b.member("reason").unwrap(), b.member("asks").unwrap()))
            .collect();
        writeln!(out, "{} -> {}: {}", text("from"), text("to"), because.join(", ")).unwrap();
    }
    let tools = Arc::new(Scripted::of(catalog, case.part("tools")));
    let store = Arc::new(MemoryStore::new().unwrap());
    let options = Options { workers: Some(1), ..Options::default() };
    let executor = Executor::new(Arc::clone(&store), tools.clone(), Some(Arc::new(Echo)), options);
    let mut play = Play { verified: &verified, executor, store, run: None, out };
    for line in case.part("do").lines() {
        writeln!(play.out, "\n> {line}").unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["run"] => {}
            ["approve", node] => play.decide(node, true),
            ["reject", node] => play.decide(node, false),
            ["settle", node, "happened"] => play.settle(node, true),
            ["settle", node, "did-not"] => play.settle(node, false),
            other => panic!("{other:?} is nothing that people do"),
        }
        play.go();
    }
    let effects = tools.effects.lock().unwrap();
    if !effects.is_empty() {
        writeln!(play.out, "\n== what went out\n{}", effects.join("\n")).unwrap();
    }
    play.out
}

#[test]
fn worked_cases() {
    let folder = root().join("tests/fixtures/cases");
    let catalog = std::fs::read_to_string(root().join("tests/fixtures/catalog.json")).unwrap();
    let catalog = Catalog::from_json(&catalog).unwrap();
    let mut names: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "case"))
        .collect();
    names.sort();
    assert!(names.len() > 20);
    for path in names {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let case = Case::read(&std::fs::read_to_string(&path).unwrap());
        let seen = play(&case, &catalog);
        insta::with_settings!({
            prepend_module_to_snapshot => false,
            snapshot_path => folder.clone(),
            omit_expression => true,
        }, { insta::assert_snapshot!(name, seen) });
    }
}
