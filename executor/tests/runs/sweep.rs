//! A run is cut at every verb of its store, by its driver and by people, and whoever comes next goes on from what is
//! stored: nothing is made twice, nothing is lost, and what is unknown is called uncertain.
//!
//! Once with processes that are played, which die twice, at every verb; and once with real ones on the embedded store,
//! which end by a signal that cannot be caught: at every verb with `PLANGATE_FULL`. The test binary starts itself again for
//! these.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, LazyLock};

use plangate_approval::memory::MemoryStore;
use plangate_approval::sqlite::SqliteStore;
use plangate_approval::storage::Storage;
use plangate_approval::{Decision, Outcome, Permit, Row, RowState, RunState, StepState, StoreError, audit};
use plangate_executor::{
    Cancel, EditError, Ended, Executor, Options, Present, ReadError, RunError, Tools, edit,
};
use plangate_graph::{Catalog, Digest, Policy, ReadCall, Value, VerifiedPlan};

use crate::changes::editor;
use crate::dying::{Cut, Death, Dying};
use crate::stage::{Echo, Standing, catalog, json, person, plan_with, settle, start};

/// Reads, a join, a sentence, a check, questions, gates: one refused, one edited, one for two people, one call that is
/// let through until policy becomes stricter, two whose outcome is lost.
pub const RECIPE: &str = r#"
together:
  a: gmail.list {}
  b: cal.list {}
  c: slack.create_channel {"n":1}
  w: fs.write_file {}
then:
  need: 2 of 3
  note: tell of {a, b, c}
check:
  - {a} is not empty
    filed: jira.create {"a":"{a}"}
ask me:
  - go on?
    p: slack.post {"note":"{note}"}
    q: gmail.send {"to":"x"}
then:
  tests: ci.run_tests {"p":"{p}"}
  commit: git.commit {}
  deploy: prod.deploy {}
ask me:
  - and drop?
    no: db.drop {}
    r: fs.read_file {}
"#;

const ALLOWED: &str =
    "[[allow]]\nserver = \"fs\"\ntool = \"write_file\"\ndefinition = \"any\"\nreason = \"test\"\n";
const PEOPLE: &str = "[[people]]\nserver = \"gmail\"\ntool = \"send\"\nmay_edit = [\"editor\"]\n\
    [[people]]\nserver = \"prod\"\ntool = \"deploy\"\nquorum = 2\n";

static PLAN: LazyLock<VerifiedPlan> = LazyLock::new(|| {
    plan_with(RECIPE, &catalog(), &Policy::from_toml(&format!("{ALLOWED}{PEOPLE}")).unwrap())
});

/// What people do with the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plot {
    /// They answer whatever waits until it ends.
    Answered,
    /// They cancel it when its second gate comes.
    Cancelled,
}

/// What lies outside the store: the calls that were made, each a line, which people can look up.
struct World {
    effects: PathBuf,
    plot: Plot,
}

impl World {
    fn new(folder: &Path, plot: Plot) -> World {
        World { effects: folder.join("effects"), plot }
    }

    fn lines(&self) -> Vec<String> {
        fs::read_to_string(&self.effects).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// Whether a call with this key did something.
    fn made(&self, key: &str) -> bool {
        self.lines().iter().any(|line| line.starts_with("made ") && line.contains(key))
    }
}

/// The tools of all processes: what they do is a line in a file.
struct Hands {
    world: World,
    catalog: Catalog,
}

impl Tools for Hands {
    fn definition(&self, server: &str, tool: &str) -> Option<Digest> {
        self.catalog.digest(server, tool)
    }

    fn read(&self, call: ReadCall<'_>, _: &Cancel) -> Result<Value, ReadError> {
        Ok(answer_of(&format!("{}.{}", call.server(), call.tool())))
    }

    fn effect(&self, permit: Permit, _: &Cancel) -> Outcome {
        let call = match permit.spend() {
            Ok(call) => call,
            Err(lapsed) => return Outcome::NotSent(lapsed.to_string()),
        };
        let tool = format!("{}.{}", call.server(), call.tool());
        let before = self.world.lines().iter().filter(|line| line.contains(&tool)).count();
        // The first commit gets lost on its way; the first test run is made, and its answer gets lost.
        let word = if tool == "git.commit" && before == 0 { "lost" } else { "made" };
        let args = String::from_utf8(call.args().to_vec()).unwrap();
        let mut file = OpenOptions::new().create(true).append(true).open(&self.world.effects).unwrap();
        file.write_all(format!("{word} {tool} {} {args}\n", call.key()).as_bytes()).unwrap();
        match (word, tool.as_str()) {
            ("lost", _) | (_, "ci.run_tests") => Outcome::Unknown("connection lost".into()),
            _ => Outcome::Ok(answer_of(&tool)),
        }
    }
}

fn answer_of(tool: &str) -> Value {
    json(&format!(r#"{{"from":"{tool}"}}"#))
}

/// One process: starts the run or goes on with it, and does what people do, until the run has ended or the store is gone.
fn live<S: Storage + 'static>(store: &Arc<Dying<S>>, world: World) -> Result<Ended, RunError> {
    let plot = world.plot;
    let hands = Arc::new(Hands { world, catalog: catalog() });
    let executor =
        Executor::new(store.clone(), hands.clone(), Some(Arc::new(Echo::default())), Options::default());
    // From the second time on the policy is stricter: nothing is let through any more.
    let present = Present { catalog: catalog(), policy: Policy::from_toml(PEOPLE).unwrap() };
    let mut ended = match store.runs()?.pop() {
        Some(run) => executor.resume(&run.id, Some(present.clone()))?,
        None => executor.run(&PLAN, start("{}"))?,
    };
    loop {
        ended = match &ended {
            Ended::Done(_) => return Ok(ended),
            Ended::Stopped { .. } => panic!("nobody stops it: {ended:#?}"),
            Ended::Attention { run, .. } => executor.accept(run, &person("bob"), present.clone())?,
            Ended::Parked { run, waiting, .. } => {
                assert!(!waiting.is_empty(), "parked with nothing to decide");
                if plot == Plot::Cancelled && waiting.iter().any(|row| row.node == "q/gate") {
                    executor.cancel(run, &person("bob"), Some("enough"))?;
                } else {
                    for row in waiting {
                        answer(&**store, &hands.world, row)?;
                    }
                }
                executor.resume(run, Some(present.clone()))?
            }
        }
    }
}

/// Whatever a person does about a row, from what stands in it.
fn answer<S: Storage>(store: &S, world: &World, row: &Row) -> Result<(), RunError> {
    let vote = |row: &Row, who: &str, yes: bool| {
        let reason = (!yes).then(|| "never".to_owned());
        store.decide(&Decision { row: row.id.clone(), seen: row.digest, by: person(who), yes, reason })
    };
    match (row.state, row.node.as_str()) {
        (RowState::Pending, "no/gate") => drop(vote(row, "bob", false)?),
        (RowState::Pending, "q/gate") if row.edits.is_empty() => {
            match edit(store, &row.id, row.digest, &editor(), &json(r#"{"to":"y"}"#), None, None) {
                Ok(edited) => drop(vote(&edited, "bob", true)?),
                Err(EditError::Store(error)) => return Err(error.into()),
                Err(other) => panic!("{other}"),
            }
        }
        (RowState::Pending, _) => {
            let voted = vote(row, "bob", true)?;
            if voted.state == RowState::Pending {
                assert_eq!(voted.terms.quorum, 2);
                vote(&voted, "carol", true)?;
            }
        }
        (RowState::Uncertain, _) => {
            // With the value that the call would have brought, so that what follows is the same.
            let call = row.call.as_ref().unwrap();
            let value = answer_of(&format!("{}.{}", call.server, call.tool));
            let happened = world.made(&row.key);
            settle(store, row, happened, happened.then_some(value))?;
        }
        (other, node) => panic!("{node} is {other}"),
    }
    Ok(())
}

/// What must hold whenever a process is gone.
fn between(store: &impl Storage, world: &World, at: &str) {
    for row in store.rows(None).unwrap() {
        assert_ne!(row.state, RowState::Claimed, "{} after {at}: its claimer is gone", row.node);
        let made = world.lines().iter().any(|line| line.contains(&row.key)) && !row.key.is_empty();
        let known = row.outcome.is_some() || row.settled.is_some();
        if made && row.claim.is_some() && !known {
            assert_eq!(
                row.state,
                RowState::Uncertain,
                "{} after {at}: nobody recorded what came of it",
                row.node
            );
        }
    }
    for run in store.runs().unwrap() {
        // What is shown as waiting for an answer has a row that can be answered.
        let record = plangate_executor::Record::read(store, &run.id).unwrap();
        let rows = store.waiting().unwrap();
        for step in record.steps.iter().filter(|step| step.state == StepState::Pending) {
            let row = rows.iter().find(|row| row.node == step.id);
            assert_eq!(row.map(|row| row.state), Some(RowState::Pending), "{} after {at}", step.id);
        }
    }
    audit::verify(store, None).unwrap_or_else(|e| panic!("after {at}: {e}"));
}

/// How the run ended: its state, its steps, and the calls that were made.
#[derive(Debug, PartialEq, Eq)]
struct End {
    state: RunState,
    steps: BTreeMap<String, StepState>,
    calls: Vec<String>,
}

/// What must hold at the end, and what is compared.
fn end(store: &impl Storage, world: &World, at: &str) -> End {
    between(store, world, at);
    let [run] = store.runs().unwrap().try_into().unwrap();
    assert!(run.state.ended(), "{at}");
    assert_eq!(store.waiting().unwrap(), [], "{at}");
    let rows = store.rows(None).unwrap();
    let events = store.events(0).unwrap();
    for row in &rows {
        let mine: Vec<&str> =
            events.iter().map(|e| e.what.as_str()).filter(|what| what.contains(&row.id.0)).collect();
        let of = |word: &str| {
            let kind = format!("\"kind\":\"{word}\"");
            mine.iter().filter(|what| what.contains(&kind)).count()
        };
        let ends = ["rejected", "expired", "cancelled", "settled"].map(of).iter().sum::<usize>();
        assert!(of("approved") <= 1 && of("claimed") <= 1 && ends <= 1, "{} at {at}: one life", row.node);
    }
    let record = plangate_executor::Record::read(store, &run.id).unwrap();
    let steps = record.steps.iter().map(|step| (step.id.clone(), step.state)).collect();
    // Without the key, which is of this run.
    let mut calls: Vec<String> = world
        .lines()
        .iter()
        .map(|line| {
            line.split(' ').enumerate().filter(|(i, _)| *i != 2).map(|(_, word)| word).collect::<Vec<_>>()
        })
        .map(|words| words.join(" "))
        .collect();
    calls.sort_unstable();
    End { state: run.state, steps, calls }
}

/// The end of a run that nothing cut: what all others must come to.
fn uncut(plot: Plot) -> (End, usize) {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), plot);
    let store = Arc::new(MemoryStore::with_clock(Standing::new()).unwrap());
    let whole = Dying::never(&store);
    live(&whole, World::new(folder.path(), plot)).unwrap();
    (end(&*store, &world, "nothing"), whole.verbs())
}

#[test]
fn a_run_that_nothing_cuts_makes_each_call_once() {
    let (whole, verbs) = uncut(Plot::Answered);
    let made = |tool: &str, args: &str| format!("made {tool} {args}");
    let mut expected = vec![
        "lost git.commit {}".to_owned(),
        made("git.commit", "{}"),
        made("ci.run_tests", r#"{"p":{"from":"slack.post"}}"#),
        made("fs.write_file", "{}"),
        made("gmail.send", r#"{"to":"y"}"#),
        made("jira.create", r#"{"a":{"from":"gmail.list"}}"#),
        made("prod.deploy", "{}"),
        made("slack.create_channel", r#"{"n":1}"#),
    ];
    let post = whole.calls.iter().find(|call| call.contains("slack.post {")).unwrap();
    expected.push(post.clone());
    expected.sort_unstable();
    assert_eq!(whole.calls, expected);
    assert_eq!(whole.state, RunState::Failed, "one gate was refused");
    for (step, state) in &whole.steps {
        let expected = match step.as_str() {
            "no" | "no/gate" => StepState::Rejected,
            "r" => StepState::Blocked,
            _ => StepState::Done,
        };
        assert_eq!(*state, expected, "{step}");
    }
    assert!(verbs > 60, "only {verbs} verbs");

    let (cancelled, _) = uncut(Plot::Cancelled);
    assert_eq!(cancelled.state, RunState::Cancelled);
    assert_eq!(cancelled.steps["q"], StepState::Cancelled);
    assert!(!cancelled.calls.iter().any(|call| call.contains("gmail.send")));
}

/// The verbs at which the first process is killed. All of them with `PLANGATE_FULL`; otherwise every so many, other ones
/// for each cut.
fn verbs_of(all: usize, cut: Cut) -> impl Iterator<Item = usize> {
    let stride = if full() { 1 } else { 9 };
    let offset = if cut == Cut::Before { 0 } else { stride / 2 };
    (1 + offset..=all).step_by(stride)
}

fn full() -> bool {
    std::env::var_os("PLANGATE_FULL").is_some()
}

/// The verbs at which the second process dies.
fn seconds(first: usize, verbs: usize) -> Vec<usize> {
    if full() { vec![1, 2, 3, 1 + (first * 5) % verbs] } else { vec![1 + (first * 5) % verbs] }
}

#[test]
fn cut_at_every_verb_and_once_more_after_it() {
    cut_at_every_verb(Plot::Answered);
}

#[test]
fn cut_at_every_verb_of_a_run_that_is_cancelled() {
    cut_at_every_verb(Plot::Cancelled);
}

#[expect(clippy::print_stdout, reason = "what was cut stands beside the result of the test")]
fn cut_at_every_verb(plot: Plot) {
    let (whole, verbs) = uncut(plot);
    let mut deaths = 0;
    for cut in [Cut::Before, Cut::After] {
        for first in 1..=verbs {
            for second in seconds(first, verbs) {
                let at = format!("{plot:?}, {cut:?} verb {first}, then {second}");
                let folder = tempfile::tempdir().unwrap();
                let world = World::new(folder.path(), plot);
                let store = Arc::new(MemoryStore::with_clock(Standing::new()).unwrap());
                let lives = [first, second].map(|verb| Dying::at(&store, verb, cut, Death::Silence));
                for process in lives.into_iter().chain([Dying::never(&store)]) {
                    let lived = live(&process, World::new(folder.path(), plot));
                    for holder in process.holders() {
                        store.kill(&holder);
                    }
                    between(&*store, &world, &at);
                    match lived {
                        Ok(_) => assert!(!process.dead(), "{at}: a run went on over a dead store"),
                        Err(RunError::Store(StoreError::Unusable { .. }) | RunError::Fault(_)) => {
                            assert!(process.dead(), "{at}");
                            deaths += 1;
                            continue;
                        }
                        Err(other) => panic!("{at}: {other}"),
                    }
                    break;
                }
                assert_eq!(end(&*store, &world, &at), whole, "{at}");
            }
        }
    }
    assert!(deaths > verbs / 3, "{deaths} deaths at {verbs} verbs");
    println!("{plot:?}: {verbs} verbs, {deaths} deaths, 0 double, 0 lost");
}

const FOLDER: &str = "PLANGATE_TEST_SWEEP";
const VERB: &str = "PLANGATE_TEST_VERB";
const CUT: &str = "PLANGATE_TEST_CUT";
const PLOT: &str = "PLANGATE_TEST_PLOT";

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_process() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let is = |name: &str, word: &str| std::env::var(name).unwrap() == word;
    let store = Arc::new(SqliteStore::open(folder.join("state.db")).unwrap());
    let cut = if is(CUT, "before") { Cut::Before } else { Cut::After };
    let plot = if is(PLOT, "cancelled") { Plot::Cancelled } else { Plot::Answered };
    let process = match std::env::var(VERB).unwrap().parse().unwrap() {
        0 => Dying::never(&store),
        verb => Dying::at(&store, verb, cut, Death::Kill),
    };
    live(&process, World::new(&folder, plot)).unwrap();
}

/// Runs one process to its end, or until it is killed at this verb. Whether it was.
fn killed(folder: &Path, plot: Plot, cut: Cut, verb: usize) -> bool {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sweep::a_process", "--ignored", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(VERB, verb.to_string())
        .env(CUT, if cut == Cut::Before { "before" } else { "after" })
        .env(PLOT, if plot == Plot::Cancelled { "cancelled" } else { "answered" })
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&status.stdout);
    match (status.status.success(), status.status.signal()) {
        (true, None) => false,
        (false, Some(9)) => true,
        other => panic!("verb {verb}: {other:?}\n{said}"),
    }
}

#[test]
fn killed_at_every_verb_others_go_on_from_the_file() {
    killed_at_every_verb(Plot::Answered);
}

#[test]
fn killed_at_every_verb_of_a_run_that_is_cancelled() {
    killed_at_every_verb(Plot::Cancelled);
}

#[expect(clippy::print_stdout, reason = "what was cut stands beside the result of the test")]
fn killed_at_every_verb(plot: Plot) {
    let (whole, verbs) = uncut(plot);
    let mut deaths = 0;
    for cut in [Cut::Before, Cut::After] {
        for first in verbs_of(verbs, cut) {
            let folder = tempfile::tempdir().unwrap();
            let world = World::new(folder.path(), plot);
            let open = || SqliteStore::open(folder.path().join("state.db")).unwrap();
            for verb in [first, 1 + (first * 5) % verbs, 0] {
                let at = format!("{plot:?}, {cut:?} verb {first}, then {verb}");
                let dead = killed(folder.path(), plot, cut, verb);
                deaths += usize::from(dead);
                between(&open(), &world, &at);
                if !dead {
                    assert_eq!(end(&open(), &world, &at), whole, "{at}");
                    break;
                }
                assert_ne!(verb, 0);
            }
        }
    }
    println!("{plot:?}: {verbs} verbs, {deaths} processes killed, 0 double, 0 lost");
}
