//! A run is cut at every verb of its store, as if its process had been killed there, and another driver goes on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

use plangate_approval::memory::MemoryStore;
use plangate_approval::row::{NewRow, RowId};
use plangate_approval::run::{Holder, Lease, NewRun, StepWrite};
use plangate_approval::sqlite::SqliteStore;
use plangate_approval::storage::{Event, Fault, LeaseAnswer, ParkAnswer, Settlement, Storage};
use plangate_approval::{
    Clock, Decision, Outcome, Person, Row, RowState, Run, RunId, RunState, StepState, StoreError, Time,
};
use plangate_executor::{Ended, Executor, Options, RunError, edit};
use plangate_graph::{Digest, Policy, VerifiedPlan};

use crate::changes::editor;
use crate::stage::*;

/// What happens to the verb at which the process dies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cut {
    /// It is not done.
    Before,
    /// It is done, and nobody hears of it.
    After,
}

/// A store that dies at a verb.
struct Dying {
    store: Arc<MemoryStore>,
    left: AtomicUsize,
    cut: Cut,
    dead: AtomicBool,
}

impl Dying {
    fn verb<T>(&self, verb: impl FnOnce(&MemoryStore) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let left = self.left.fetch_update(SeqCst, SeqCst, |n| Some(n.saturating_sub(1))).unwrap();
        let last = left == 1;
        if left == 0 || (last && self.cut == Cut::Before) {
            self.dead.store(true, SeqCst);
            return Err(gone());
        }
        let answer = verb(&self.store);
        if last {
            self.dead.store(true, SeqCst);
            return Err(gone());
        }
        answer
    }

    fn look<T>(&self, look: impl FnOnce(&MemoryStore) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if self.dead.load(SeqCst) { Err(gone()) } else { look(&self.store) }
    }
}

fn gone() -> StoreError {
    StoreError::Unusable { path: "nowhere".into(), fault: Fault::Io, message: "is gone".into() }
}

impl Storage for Dying {
    fn id(&self) -> Result<String, StoreError> {
        self.store.id()
    }
    fn now(&self) -> Time {
        self.store.now()
    }
    fn clock(&self) -> Arc<dyn Clock> {
        self.store.clock()
    }
    fn grace_ms(&self) -> i64 {
        self.store.grace_ms()
    }
    fn holder(&self) -> Result<Holder, StoreError> {
        self.store.holder()
    }
    fn start(&self, run: &NewRun, holder: &Holder) -> Result<Lease, StoreError> {
        self.verb(|s| s.start(run, holder))
    }
    fn lease(&self, run: &RunId, holder: &Holder) -> Result<LeaseAnswer, StoreError> {
        self.verb(|s| s.lease(run, holder))
    }
    fn renew(&self, lease: &Lease) -> Result<Lease, StoreError> {
        self.verb(|s| s.renew(lease))
    }
    fn record(&self, lease: &Lease, steps: &[StepWrite]) -> Result<Lease, StoreError> {
        self.verb(|s| s.record(lease, steps))
    }
    fn park(&self, lease: &Lease) -> Result<ParkAnswer, StoreError> {
        self.verb(|s| s.park(lease))
    }
    fn end(&self, lease: &Lease, state: RunState, reason: Option<&str>) -> Result<ParkAnswer, StoreError> {
        self.verb(|s| s.end(lease, state, reason))
    }
    fn cancel(&self, run: &RunId, by: &Person, reason: Option<&str>) -> Result<Run, StoreError> {
        self.verb(|s| s.cancel(run, by, reason))
    }
    fn ask(&self, lease: &Lease, row: &NewRow, step: &[StepWrite]) -> Result<Row, StoreError> {
        self.verb(|s| s.ask(lease, row, step))
    }
    fn decide(&self, decision: &Decision) -> Result<Row, StoreError> {
        self.verb(|s| s.decide(decision))
    }
    fn edit(&self, edit: &plangate_approval::Edit, key: &str) -> Result<Row, StoreError> {
        self.verb(|s| s.edit(edit, key))
    }
    fn shown(&self, row: &RowId, digest: Digest, to: &Person, surface: &str) -> Result<Row, StoreError> {
        self.verb(|s| s.shown(row, digest, to, surface))
    }
    fn claim(
        &self,
        lease: &Lease,
        row: &RowId,
        nonce: &str,
        digest: Digest,
        definition: Digest,
        step: &StepWrite,
    ) -> Result<Row, StoreError> {
        self.verb(|s| s.claim(lease, row, nonce, digest, definition, step))
    }
    fn claim_unasked(
        &self,
        lease: &Lease,
        row: &NewRow,
        rule: &str,
        nonce: &str,
        step: &StepWrite,
    ) -> Result<Row, StoreError> {
        self.verb(|s| s.claim_unasked(lease, row, rule, nonce, step))
    }
    fn outcome(
        &self,
        row: &RowId,
        nonce: &str,
        outcome: &Outcome,
        step: &StepWrite,
    ) -> Result<Row, StoreError> {
        self.verb(|s| s.outcome(row, nonce, outcome, step))
    }
    fn settle(&self, row: &RowId, settled: &Settlement) -> Result<Row, StoreError> {
        self.verb(|s| s.settle(row, settled))
    }
    fn reconcile(
        &self,
        lease: &Lease,
        row: &RowId,
        claim: &str,
        answer: &plangate_approval::Reconciled,
    ) -> Result<Row, StoreError> {
        self.verb(|s| s.reconcile(lease, row, claim, answer))
    }
    fn accept(
        &self,
        lease: &Lease,
        by: &Person,
        accepted: &plangate_approval::Accepted,
    ) -> Result<Lease, StoreError> {
        self.verb(|s| s.accept(lease, by, accepted))
    }
    fn run(&self, run: &RunId) -> Result<Run, StoreError> {
        self.look(|s| s.run(run))
    }
    fn runs(&self) -> Result<Vec<Run>, StoreError> {
        self.look(Storage::runs)
    }
    fn steps(&self, run: &RunId) -> Result<Vec<StepWrite>, StoreError> {
        self.look(|s| s.steps(run))
    }
    fn row(&self, row: &RowId) -> Result<Row, StoreError> {
        self.look(|s| s.row(row))
    }
    fn rows(&self, of: Option<&RunId>) -> Result<Vec<Row>, StoreError> {
        self.look(|s| s.rows(of))
    }
    fn document(&self, digest: &Digest) -> Result<Vec<u8>, StoreError> {
        self.look(|s| s.document(digest))
    }
    fn events(&self, after: u64) -> Result<Vec<Event>, StoreError> {
        self.look(|s| s.events(after))
    }
}

/// Reads, a join, a sentence, a check, a question, gates: one refused, one at the end of a chain, two side by side.
const RECIPE: &str = r#"
together:
  a: gmail.list {}
  b: cal.list {}
  c: slack.create_channel {"n":1}
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
  last: s3.put {"p":"{p}"}
ask me:
  - and drop?
    no: db.drop {}
    r: fs.read_file {}
"#;

/// Decides whatever waits: yes to all but the drop; what is uncertain is settled by what the host saw.
fn decide_all(stage: &Stage, rows: &[Row]) {
    for row in rows {
        match row.state {
            RowState::Pending if row.node == "q/gate" && row.edits.is_empty() => {
                let to = plangate_graph::Value::parse(r#"{"to":"y"}"#).unwrap();
                let row = edit(&*stage.store, &row.id, row.digest, &editor(), &to, None, None).unwrap();
                stage.approve(&row);
            }
            RowState::Pending if row.node == "no/gate" => drop(stage.reject(row, "never")),
            RowState::Pending => drop(stage.approve(row)),
            RowState::Uncertain => {
                let call = row.call.as_ref().unwrap();
                let tool = format!("{}.{}", call.server, call.tool);
                let happened = stage.host.calls(&tool) > 0;
                stage.settle(row, happened, happened.then_some("\"settled\""));
            }
            other => panic!("{other:?}"),
        }
    }
}

fn go_on<S: Storage + 'static>(
    executor: &Executor<S>,
    stage: &Stage,
    ended: Ended,
) -> Result<Ended, RunError> {
    let mut ended = ended;
    while let Ended::Parked { run, waiting, .. } = &ended {
        assert!(!waiting.is_empty(), "parked with nothing to decide: {}", states(&ended));
        decide_all(stage, waiting);
        ended = executor.resume(run, None)?;
    }
    Ok(ended)
}

fn cut_at(plan: &VerifiedPlan, verb: usize, cut: Cut) -> Option<String> {
    let stage = Stage::new();
    let dying = Arc::new(Dying {
        store: stage.store.clone(),
        left: AtomicUsize::new(verb),
        cut,
        dead: AtomicBool::new(false),
    });
    let executor =
        Executor::new(dying.clone(), stage.host.clone(), Some(stage.echo.clone()), Options::default());
    let ended = executor.run(plan, start("{}")).and_then(|ended| go_on(&executor, &stage, ended));
    let ended = match ended {
        Ok(ended) => {
            assert!(!dying.dead.load(SeqCst), "a run went on over a dead store");
            ended
        }
        Err(error) => {
            assert!(dying.dead.load(SeqCst), "{error}");
            let Some(run) = stage.store_runs().into_iter().next() else {
                assert!(stage.host.sent.lock().unwrap().is_empty());
                return Some("never started".to_owned());
            };
            if let Some(holder) = run.holder {
                stage.store.kill(&Holder(holder));
            }
            let ended = stage.executor().resume(&run.id, None).unwrap();
            go_on(&stage.executor(), &stage, ended).unwrap()
        }
    };
    let mut calls: BTreeMap<String, usize> = BTreeMap::new();
    for sent in stage.host.sent.lock().unwrap().iter().filter(|sent| sent.key.is_some()) {
        *calls.entry(sent.tool.clone()).or_default() += 1;
    }
    let once = ["gmail.send", "jira.create", "s3.put", "slack.create_channel", "slack.post"];
    let expected: BTreeMap<String, usize> = once.iter().map(|tool| ((*tool).to_owned(), 1)).collect();
    assert_eq!(calls, expected, "cut {cut:?} verb {verb}");
    assert_eq!(stage.host.sent_to("gmail.send")[0].args, r#"{"to":"y"}"#, "cut {cut:?} verb {verb}");
    assert!(stage.host.calls("gmail.list") <= 2 && stage.host.calls("fs.read_file") <= 2);
    assert_eq!(done(&ended).state, RunState::Failed, "one gate was refused");
    for step in &ended.record().steps {
        let refused = ["no", "no/gate"].contains(&step.id.as_str());
        let blocked = step.id == "r";
        let expected = if refused {
            StepState::Rejected
        } else if blocked {
            StepState::Blocked
        } else {
            StepState::Done
        };
        assert_eq!(step.state, expected, "{} after cut {cut:?} verb {verb}", step.id);
    }
    dying.dead.load(SeqCst).then(|| "went on".to_owned())
}

#[test]
fn cut_at_every_verb_nothing_runs_twice_and_nothing_is_lost() {
    let policy =
        Policy::from_toml("[[people]]\nserver = \"gmail\"\ntool = \"send\"\nmay_edit = [\"editor\"]\n")
            .unwrap();
    let plan = plan_with(RECIPE, &catalog(), &policy);
    for cut in [Cut::Before, Cut::After] {
        let mut verb = 1;
        while cut_at(&plan, verb, cut).is_some() {
            verb += 1;
        }
        assert!(verb > 25, "only {verb} verbs");
    }
}

/// The run of a process that is gone: what was claimed is uncertain at once and is not repeated.
#[test]
fn a_claimed_call_of_a_dead_driver_is_uncertain_and_waits() {
    let stage = Stage::new();
    let parked = stage.run("then:\n  p: slack.post {}\n");
    let row = only(&parked);
    stage.approve(&row);
    // A driver that claims and dies.
    let run = parked.record().run.clone();
    let holder = stage.store.holder().unwrap();
    let LeaseAnswer::Taken(lease) = stage.store.lease(&run, &holder).unwrap() else { panic!("not taken") };
    let step = StepWrite {
        node: "p".into(),
        state: StepState::Running,
        detail: br#"{"drive":2,"began":0,"at":0}"#.to_vec(),
    };
    let definition = row.call.as_ref().unwrap().definition;
    stage.store.claim(&lease, &row.id, "nonce", row.digest, definition, &step).unwrap();
    assert!(matches!(stage.executor().resume(&run, None), Err(RunError::Busy { .. })));
    assert_eq!(stage.executor().record(&run).unwrap().step("p").unwrap().state, StepState::Running);
    stage.store.kill(&holder);
    let ended = stage.executor().resume(&run, None).unwrap();
    assert_eq!(only(&ended).state, RowState::Uncertain);
    assert_eq!(state(&ended, "p"), StepState::Uncertain);
    assert_eq!(stage.host.calls("slack.post"), 0);
}

/// A read that is under way when its driver dies, under this policy; what became of it, and how often it was made.
fn read_in_flight(rules: &str) -> (Ended, usize) {
    let (here, there) = crossbeam::channel::bounded(1);
    let (release, released) = crossbeam::channel::bounded::<()>(0);
    let first = AtomicBool::new(true);
    let stage = Arc::new(Stage::new().on("gmail.list", move |_, _| {
        if first.swap(false, SeqCst) {
            here.send(()).unwrap();
            let _ = released.recv();
        }
        Answer::Ok(plangate_graph::Value::from("1"))
    }));
    let driver = {
        let stage = Arc::clone(&stage);
        let recipe = "together:\n  a: gmail.list {}\n  b: cal.list {}\n";
        let plan = plan_with(recipe, &catalog(), &Policy::from_toml(rules).unwrap());
        std::thread::spawn(move || stage.executor().run(&plan, start("{}")))
    };
    there.recv().unwrap();
    let run = stage.store_runs()[0].clone();
    stage.store.kill(&Holder(run.holder.unwrap()));
    let ended = stage.executor().resume(&run.id, None).unwrap();
    drop(release);
    assert!(matches!(driver.join().unwrap(), Err(RunError::LeaseLost(_))));
    let calls = stage.host.calls("gmail.list");
    assert_eq!(stage.resume(&ended), ended, "it has ended");
    (ended, calls)
}

#[test]
fn a_read_in_flight_runs_again_unless_policy_says_once() {
    let (ended, calls) = read_in_flight("");
    assert_eq!((states(&ended).as_str(), calls), ("a done, b done", 2));
    let (ended, calls) = read_in_flight("[[once]]\nserver = \"gmail\"\ntool = \"l*\"\n");
    assert_eq!((states(&ended).as_str(), calls), ("a failed, b done", 1));
    let error = step(&ended, "a").error.clone().unwrap();
    assert!(error.contains("may have been made; policy says once"), "{error}");
}

#[test]
fn the_embedded_store_carries_a_run_from_one_process_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let stage = Stage::new();
    let open = || Arc::new(SqliteStore::open(&path).unwrap());
    let executor =
        |store| Executor::new(store, stage.host.clone(), Some(stage.echo.clone()), Options::default());
    let parked = executor(open()).run(&plan(RECIPE), start("{}")).unwrap();
    let run = parked.record().run.clone();
    let mut ended = parked;
    while let Ended::Parked { waiting, .. } = &ended {
        let store = open();
        for row in waiting {
            approve(&*store, row).unwrap();
        }
        ended = executor(store).resume(&run, None).unwrap();
    }
    assert_eq!(done(&ended).state, RunState::Done);
    assert_eq!(stage.host.sent.lock().unwrap().iter().filter(|sent| sent.key.is_some()).count(), 6);
    assert_eq!(plangate_executor::Record::read(&*open(), &run).unwrap(), *ended.record());
}
