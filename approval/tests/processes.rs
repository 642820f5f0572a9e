//! Several processes on one store, and processes that die.
//!
//! The test binary starts itself again for the other processes. They are told what to do by lines on their input, and
//! say what came of it by lines on their output that begin with `> `.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking"
)]

use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::thread;

use plangate_approval::row::{RowCall, Settled};
use plangate_approval::storage::{LeaseAnswer, ParkAnswer, Settlement};
use plangate_approval::{
    Approvals, Ask, Clock, Decision, Lease, NewRun, Outcome, Person, Row, RowId, RowState, RunId, RunState,
    SqliteStore, StepState, StepWrite, Storage, StoreError, SystemClock, Time, audit,
};
use plangate_graph::policy::Terms;
use plangate_graph::{Digest, Value};

const STORE: &str = "PLANGATE_TEST_STORE";
/// When the fast clock began, in the milliseconds of the real ones: wall, steady.
const FAST: &str = "PLANGATE_TEST_FAST";

/// How often a race is run: in full where `PLANGATE_FULL` says so.
fn times(few: usize, full: usize) -> usize {
    if std::env::var_os("PLANGATE_FULL").is_some() { full } else { few }
}

/// A clock on which a lease is over within a second: both of the machine's clocks, fifty times as fast since it began.
#[derive(Debug)]
struct Fast {
    wall: i64,
    steady: i64,
}

impl Fast {
    fn now() -> Fast {
        Fast { wall: SystemClock.now().0, steady: SystemClock.steady() }
    }

    fn named(text: &str) -> Fast {
        let (wall, steady) = text.split_once(' ').unwrap();
        Fast { wall: wall.parse().unwrap(), steady: steady.parse().unwrap() }
    }

    fn name(&self) -> String {
        format!("{} {}", self.wall, self.steady)
    }
}

impl Clock for Fast {
    fn now(&self) -> Time {
        // By the steady one: it is the same for both processes, and nobody sets it.
        Time(self.wall + (SystemClock.steady() - self.steady) * 50)
    }

    fn steady(&self) -> i64 {
        self.steady + (SystemClock.steady() - self.steady) * 50
    }
}

fn person(name: &str) -> Person {
    Person { issuer: "os".into(), subject: name.into(), roles: Vec::new(), verified: true }
}

fn step(state: StepState) -> StepWrite {
    StepWrite { node: "post".into(), state, detail: (*b"{}").into() }
}

fn start(store: &SqliteStore) -> Lease {
    let new = NewRun {
        id: RunId::random().unwrap(),
        plan: b"{}".to_vec().into(),
        catalog: b"{}".to_vec().into(),
        policy: b"".to_vec().into(),
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
        Other::on(role, store, "")
    }

    /// The same, on a fast clock where one is named.
    fn on(role: &str, store: &Path, clock: &str) -> Other {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", role, "--ignored", "--nocapture", "--test-threads=1"])
            .env(STORE, store)
            .env(FAST, clock)
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
    let fast = std::env::var(FAST).unwrap_or_default();
    let clock: Arc<dyn Clock> =
        if fast.is_empty() { Arc::new(SystemClock) } else { Arc::new(Fast::named(&fast)) };
    let approvals = Approvals::new(SqliteStore::open_with_clock(path, clock).unwrap());
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
    let calls = times(40, 200);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let effects = folder.path().join("effects");
    fs::write(&effects, "").unwrap();
    let approvals = Approvals::new(SqliteStore::open(&path).unwrap());
    for _ in 0..calls {
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
    assert_eq!((decided, called), (calls, calls));
    let written = fs::read_to_string(&effects).unwrap();
    let mut keys: Vec<&str> = written.lines().collect();
    assert_eq!(keys.len(), calls);
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), calls, "no key twice");
    assert!(approvals.store().runs().unwrap().iter().all(|run| run.state == RunState::Done));
    audit::verify(approvals.store(), None).unwrap();
}

/// Claims, and sends only when it is told to.
#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_sleeper() {
    let Some((approvals, mut told)) = as_other() else { return };
    let lease = start(approvals.store());
    let row = approvals.ask(&lease, &ask(), &[]).unwrap();
    let row = decide(&approvals, &row, "bob").unwrap();
    let permit = approvals.claim(&lease, &row, Digest::of(b"definition"), &step(StepState::Running)).unwrap();
    say(&row.id.0);
    told.next().unwrap();
    let claim = permit.claim().clone();
    let outcome = match permit.spend() {
        Ok(_) => Outcome::Ok(Value::Null),
        Err(lapsed) => Outcome::NotSent(lapsed.to_string()),
    };
    let row = approvals.outcome(&claim, &outcome, &step(StepState::Failed)).unwrap();
    say(&format!("{} {}", outcome.kind(), row.state));
}

/// Stopped past its lease and woken again, a claimer sends nothing, whatever was said meanwhile.
#[test]
fn a_claimer_that_slept_past_its_lease_sends_nothing() {
    use rustix::process::{Pid, Signal, kill_process};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let fast = Fast::now();
    let name = fast.name();
    let approvals = Approvals::new(SqliteStore::open_with_clock(&path, Arc::new(fast)).unwrap());
    let mut other = Other::on("a_sleeper", &path, &name);
    let id = RowId(other.said());
    let pid = Pid::from_child(&other.process);
    kill_process(pid, Signal::STOP).unwrap();
    let store = approvals.store();
    let row = loop {
        let row = store.row(&id).unwrap();
        match row.state {
            RowState::Claimed => thread::yield_now(),
            RowState::Uncertain => break row,
            other => panic!("{other}"),
        }
    };
    let holder = store.holder().unwrap();
    assert!(matches!(store.lease(&row.run, &holder), Ok(LeaseAnswer::Taken(_))), "another drives it");
    loop {
        match settle(&approvals, &row) {
            Err(StoreError::InFlight { .. }) => thread::yield_now(),
            Ok(row) => break assert_eq!(row.state, RowState::DidNot),
            other => panic!("{other:?}"),
        }
    }
    kill_process(pid, Signal::CONT).unwrap();
    other.tell("go on");
    assert_eq!(other.said(), "not_sent did_not");
    audit::verify(store, None).unwrap();
}

/// Two processes load each parked run, approve it, and take it up.
#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_rival() {
    let Some((approvals, mut told)) = as_other() else { return };
    let (effects, me) = (told.next().unwrap(), told.next().unwrap());
    say("ready");
    for run in told {
        let row = approvals.store().rows(Some(&RunId(run))).unwrap().remove(0);
        let decided = match decide(&approvals, &row, &me) {
            Ok(_) => "won",
            Err(StoreError::Decided { state, by, at: Some(_) }) => {
                assert!(state != RowState::Rejected && by.starts_with("os:"), "{state} {by}");
                "told"
            }
            Err(other) => panic!("{other:?}"),
        };
        say(&format!("{decided} {}", drive(&approvals, &row, &effects)));
    }
}

#[test]
fn two_processes_approve_the_same_parked_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let effects = folder.path().join("effects");
    fs::write(&effects, "").unwrap();
    let approvals = Approvals::new(SqliteStore::open(&path).unwrap());
    let mut rivals: Vec<Other> = (0..2).map(|_| Other::start("a_rival", &path)).collect();
    for (i, rival) in rivals.iter_mut().enumerate() {
        rival.tell(effects.to_str().unwrap());
        rival.tell(&format!("p{i}"));
        assert_eq!(rival.said(), "ready");
    }
    let races = times(60, 1_000);
    for _ in 0..races {
        let lease = start(approvals.store());
        approvals.ask(&lease, &ask(), &[]).unwrap();
        assert_eq!(approvals.store().park(&lease).unwrap(), ParkAnswer::Released);
        for rival in &mut rivals {
            rival.tell(&lease.run.0);
        }
        let said: Vec<String> = rivals.iter_mut().map(Other::said).collect();
        let count = |word: &str| said.iter().filter(|said| said.contains(word)).count();
        assert_eq!((count("won"), count("told"), count("true")), (1, 1, 1), "{said:?}");
        assert_eq!(approvals.store().run(&lease.run).unwrap().state, RunState::Done);
    }
    let written = fs::read_to_string(&effects).unwrap();
    let keys: std::collections::BTreeSet<&str> = written.lines().collect();
    assert_eq!((written.lines().count(), keys.len()), (races, races), "none twice, none lost");
    println!("{races} races: {} effects, 0 double, 0 lost", keys.len());
}

/// Goes as far as it is told, and waits there to be killed.
#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_victim() {
    let Some((approvals, mut told)) = as_other() else { return };
    let (effects, point) = (told.next().unwrap(), told.next().unwrap());
    let lease = start(approvals.store());
    let row = approvals.ask(&lease, &ask(), &[]).unwrap();
    let row = decide(&approvals, &row, "bob").unwrap();
    let mut reached = |name: &str| {
        if point == name {
            say(&row.id.0);
            told.next(); // never comes
        }
    };
    reached("before the claim");
    let permit = approvals.claim(&lease, &row, Digest::of(b"definition"), &step(StepState::Running)).unwrap();
    reached("after the claim");
    let claim = permit.claim().clone();
    let call = permit.spend().unwrap();
    let mut file = OpenOptions::new().append(true).open(effects).unwrap();
    writeln!(file, "{}", call.key()).unwrap();
    reached("after the effect");
    approvals.outcome(&claim, &Outcome::Ok(Value::Null), &step(StepState::Done)).unwrap();
    reached("after the record");
}

#[test]
fn killed_around_the_claim_nothing_is_sent_twice() {
    use RowState::{Approved, Succeeded, Uncertain};
    let points = [
        ("before the claim", Approved, 0),
        ("after the claim", Uncertain, 0),
        ("after the effect", Uncertain, 1),
        ("after the record", Succeeded, 1),
    ];
    for (point, state, sent) in points {
        let folder = tempfile::tempdir().unwrap();
        let (path, effects) = (folder.path().join("state.db"), folder.path().join("effects"));
        fs::write(&effects, "").unwrap();
        let approvals = Approvals::new(SqliteStore::open(&path).unwrap());
        let mut other = Other::start("a_victim", &path);
        other.tell(effects.to_str().unwrap());
        other.tell(point);
        let row = RowId(other.said());
        other.kill();
        let row = approvals.store().row(&row).unwrap();
        assert_eq!(row.state, state, "{point}");
        let lines = || fs::read_to_string(&effects).unwrap().lines().count();
        assert_eq!(lines(), sent, "{point}");
        let holder = approvals.store().holder().unwrap();
        let LeaseAnswer::Taken(lease) = approvals.store().lease(&row.run, &holder).unwrap() else {
            panic!("{point}: the run of a dead process is free at once")
        };
        let claimed = approvals.claim(&lease, &row, Digest::of(b"definition"), &step(StepState::Running));
        match (state, claimed) {
            (Approved, Ok(permit)) => drop(permit.spend().unwrap()),
            (_, Err(StoreError::NotNow(seen))) => assert_eq!(seen, state, "{point}"),
            (_, other) => panic!("{point}: {other:?}"),
        }
        assert_eq!(lines(), sent, "{point}");
        audit::verify(approvals.store(), None).unwrap();
    }
}
