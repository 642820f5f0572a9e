//! Several processes on one store, and processes that die.
//!
//! The test binary starts itself again for the other processes. They are told what to do by lines on their input, and
//! say what came of it by lines on their output that begin with `> `.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;

use plangate_approval::row::{RowCall, Settled};
use plangate_approval::storage::{LeaseAnswer, ParkAnswer, Settlement};
use plangate_approval::{
    Approvals, Ask, Decision, Lease, NewRun, Outcome, Person, Row, RowId, RowState, RunId, RunState,
    SqliteStore, StepState, StepWrite, Storage, StoreError, Time, audit,
};
use plangate_graph::policy::Terms;
use plangate_graph::{Digest, Value};

const STORE: &str = "PLANGATE_TEST_STORE";

fn person(name: &str) -> Person {
    Person { issuer: "os".into(), subject: name.into(), roles: Vec::new(), verified: true }
}

fn step(state: StepState) -> StepWrite {
    StepWrite { node: "post".into(), state, detail: b"{}".to_vec() }
}

fn start(store: &SqliteStore) -> Lease {
    let new = NewRun {
        id: RunId::random().unwrap(),
        plan: b"{}".to_vec(),
        catalog: b"{}".to_vec(),
        policy: Vec::new(),
        inputs: b"{}".to_vec(),
        requester: person("ann"),
        author: "person".into(),
        title: "a run".into(),
        hold_siblings: false,
    };
    store.start(&new, &store.holder().unwrap()).unwrap()
}

fn ask() -> Ask {
    Ask {
        node: "post/gate".into(),
        ask: 0,
        call: Some(RowCall {
            node: "post".into(),
            server: "slack".into(),
            origin: None,
            tool: "post".into(),
            definition: Digest::of(b"definition"),
            args: b"{}".to_vec(),
            timeout_ms: 60_000,
        }),
        question: None,
        reason: Vec::new(),
        policy: Digest::of(b""),
        terms: Terms::default(),
    }
}

fn decide(approvals: &Approvals<SqliteStore>, row: &Row, who: &str) -> Result<Row, StoreError> {
    let by = person(who);
    approvals.decide(&Decision { row: row.id.clone(), seen: row.digest, by, yes: true, reason: None })
}

fn settle(approvals: &Approvals<SqliteStore>, row: &Row) -> Result<Row, StoreError> {
    let settled =
        Settled { by: person("carol"), happened: false, value: None, note: None, at: Time::default() };
    approvals.settle(&row.id, &Settlement { claim: row.claim.clone().unwrap(), settled })
}

/// Another process on the store; it is killed when this is dropped.
struct Other {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Other {
    /// Starts this binary again, as the ignored test of that name.
    fn start(role: &str, store: &Path) -> Other {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", role, "--ignored", "--nocapture", "--test-threads=1"])
            .env(STORE, store)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        Other { process, to, from }
    }

    fn tell(&mut self, what: &str) {
        writeln!(self.to, "{what}").unwrap();
    }

    /// The next thing it says.
    fn said(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.from.read_line(&mut line).unwrap(), 0, "the other process ended");
            // The test harness says things of its own, without ending its line.
            if let Some((_, said)) = line.split_once("> ") {
                return said.trim_end().to_owned();
            }
        }
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// In the other process: the store, and the lines it is told. Nothing where no other test started it.
fn as_other() -> Option<(Approvals<SqliteStore>, impl Iterator<Item = String>)> {
    let path = PathBuf::from(std::env::var_os(STORE)?);
    let approvals = Approvals::new(SqliteStore::open(path).unwrap());
    Some((approvals, std::io::stdin().lines().map(Result::unwrap)))
}

fn say(what: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "> {what}").unwrap();
    out.flush().unwrap();
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_claimer() {
    let Some((approvals, mut told)) = as_other() else { return };
    let lease = start(approvals.store());
    let row = approvals.ask(&lease, &ask(), &[]).unwrap();
    let row = decide(&approvals, &row, "bob").unwrap();
    let permit = approvals.claim(&lease, &row, Digest::of(b"definition"), &step(StepState::Running)).unwrap();
    say(&row.id.0);
    told.next(); // never comes: it is killed while it waits, with its permit in hand
    drop(permit);
}

#[test]
fn a_killed_claimer_shows_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let approvals = Approvals::new(SqliteStore::open(&path).unwrap());
    let mut other = Other::start("a_claimer", &path);
    let row = approvals.store().row(&RowId(other.said())).unwrap();
    assert_eq!(row.state, RowState::Claimed);
    let (run, holder) = (row.run.clone(), approvals.store().holder().unwrap());
    assert!(approvals.store().run(&run).unwrap().driven);
    assert!(matches!(approvals.store().lease(&run, &holder), Ok(LeaseAnswer::Busy { .. })));
    assert!(matches!(settle(&approvals, &row), Err(StoreError::InFlight { .. })));

    other.kill();
    let started = approvals.store().now();
    assert_eq!(approvals.store().row(&row.id).unwrap().state, RowState::Uncertain);
    assert_eq!(approvals.store().waiting().unwrap().len(), 1);
    assert!(!approvals.store().run(&run).unwrap().driven);
    assert!(row.claimed_at.unwrap().0 + 30_000 > started.0, "its lease was still running");
    let lease = match approvals.store().lease(&run, &holder).unwrap() {
        LeaseAnswer::Taken(lease) => lease,
        other => panic!("{other:?}"),
    };
    assert_eq!(lease.fence, 2);
    assert_eq!(settle(&approvals, &row).unwrap().state, RowState::DidNot, "a dead process sends nothing");
    let again = approvals.ask(&lease, &Ask { ask: 1, ..ask() }, &[]).unwrap();
    assert_eq!((again.state, again.key), (RowState::Pending, row.key));
    audit::verify(approvals.store(), None).unwrap();
}

#[test]
fn a_stopped_claimer_is_not_dead() {
    use rustix::process::{Pid, Signal, kill_process};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let approvals = Approvals::new(SqliteStore::open(&path).unwrap());
    let mut other = Other::start("a_claimer", &path);
    let row = RowId(other.said());
    let pid = Pid::from_child(&other.process);
    kill_process(pid, Signal::STOP).unwrap();
    assert_eq!(approvals.store().row(&row).unwrap().state, RowState::Claimed);
    other.kill();
    assert_eq!(approvals.store().row(&row).unwrap().state, RowState::Uncertain);
}

/// The locks of dead processes go away, but not while the store tells of what they claimed.
#[test]
fn locks_of_the_dead_are_swept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let locks = || fs::read_dir(folder.path().join("state.db.holders")).unwrap().count();
    let mut first = Other::start("a_claimer", &path);
    let row = RowId(first.said());
    first.kill();
    assert_eq!(locks(), 1);

    // A second process sweeps when it begins to drive, and leaves what the claim needs.
    let mut second = Other::start("a_claimer", &path);
    second.said();
    assert_eq!(locks(), 2);
    let approvals = Approvals::new(SqliteStore::open(&path).unwrap());
    let row = approvals.store().row(&row).unwrap();
    assert_eq!(row.state, RowState::Uncertain);
    settle(&approvals, &row).unwrap();
    let run = approvals.store().cancel(&row.run, &person("carol"), None).unwrap();
    assert_eq!(run.state, RunState::Cancelled);

    let mut third = Other::start("a_claimer", &path);
    third.said();
    assert_eq!(locks(), 2, "the first is gone, the second and third live");
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_racer() {
    let Some((approvals, mut told)) = as_other() else { return };
    let effects = told.next().unwrap();
    say("ready");
    let me = told.next().unwrap();
    let rows = approvals.store().rows(None).unwrap();
    let approvals = &approvals;
    let (decided, called) = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|i| {
                let (rows, me, effects) = (&rows, &me, &effects);
                scope.spawn(move || {
                    let mut count = (0, 0);
                    for row in rows {
                        match decide(approvals, row, &format!("{me}-{i}")) {
                            Ok(_) => count.0 += 1,
                            Err(StoreError::Decided { .. }) => {}
                            Err(other) => panic!("{other:?}"),
                        }
                        count.1 += usize::from(drive(approvals, row, effects));
                    }
                    count
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    });
    say(&format!("{decided} {called}"));
}

/// Takes the row's run, makes its call if it is approved, and ends it. Whether the call was made here.
fn drive(approvals: &Approvals<SqliteStore>, row: &Row, effects: &str) -> bool {
    let store = approvals.store();
    let lease = match store.lease(&row.run, &store.holder().unwrap()).unwrap() {
        LeaseAnswer::Taken(lease) => lease,
        LeaseAnswer::Busy { .. } | LeaseAnswer::Ended(_) => return false,
    };
    let permit = approvals.claim(&lease, row, Digest::of(b"definition"), &step(StepState::Running)).unwrap();
    let claim = permit.claim().clone();
    let call = permit.spend().unwrap();
    let mut file = OpenOptions::new().append(true).open(effects).unwrap();
    file.write_all(format!("{}\n", call.key()).as_bytes()).unwrap();
    approvals.outcome(&claim, &Outcome::Ok(Value::Null), &step(StepState::Done)).unwrap();
    assert_eq!(store.end(&lease, RunState::Done, None).unwrap(), ParkAnswer::Released);
    true
}

/// Four processes of eight threads race to approve and make the same calls: each is made once.
#[test]
fn each_call_is_made_once() {
    const CALLS: usize = 40;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let effects = folder.path().join("effects");
    fs::write(&effects, "").unwrap();
    let approvals = Approvals::new(SqliteStore::open(&path).unwrap());
    for _ in 0..CALLS {
        let lease = start(approvals.store());
        approvals.ask(&lease, &ask(), &[]).unwrap();
        assert_eq!(approvals.store().park(&lease).unwrap(), ParkAnswer::Released);
    }
    let mut others: Vec<Other> = (0..4).map(|_| Other::start("a_racer", &path)).collect();
    for other in &mut others {
        other.tell(effects.to_str().unwrap());
        assert_eq!(other.said(), "ready");
    }
    for (i, other) in others.iter_mut().enumerate() {
        other.tell(&format!("p{i}"));
    }
    let (mut decided, mut called) = (0, 0);
    for other in &mut others {
        let said = other.said();
        let (d, c) = said.split_once(' ').unwrap();
        decided += d.parse::<usize>().unwrap();
        called += c.parse::<usize>().unwrap();
    }
    assert_eq!((decided, called), (CALLS, CALLS));
    let written = fs::read_to_string(&effects).unwrap();
    let mut keys: Vec<&str> = written.lines().collect();
    assert_eq!(keys.len(), CALLS);
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), CALLS, "no key twice");
    assert!(approvals.store().runs().unwrap().iter().all(|run| run.state == RunState::Done));
    audit::verify(approvals.store(), None).unwrap();
}
