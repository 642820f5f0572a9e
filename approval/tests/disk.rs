//! A disk that is full, a file that may not grow, and a file system that turned read-only, as the kernel makes them.
//!
//! The test binary starts itself again: in a mount namespace of its own where it may make one, under a limit of file
//! size everywhere. A process that may not do so says that it was skipped.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests fail by panicking"
)]

use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};

use plangate_approval::row::RowCall;
use plangate_approval::{
    Approvals, Ask, Claim, Clock, Decision, Fault, Lease, NewRun, Outcome, Person, Row, RowState, RunId,
    SqliteStore, StepState, StepWrite, Storage, StoreError, Time, audit,
};
use plangate_graph::policy::Terms;
use plangate_graph::{Digest, Value};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

const FOLDER: &str = "PLANGATE_TEST_FOLDER";

/// A clock that stands until it is moved.
#[derive(Debug, Default)]
struct Standing(AtomicI64);

impl Clock for Standing {
    fn now(&self) -> Time {
        Time(1_790_000_000_000 + self.0.load(SeqCst))
    }
    fn steady(&self) -> i64 {
        self.0.load(SeqCst)
    }
}

fn person(name: &str) -> Person {
    Person { issuer: "os".into(), subject: name.into(), roles: Vec::new(), verified: true }
}

fn step(node: &str, state: StepState) -> StepWrite {
    StepWrite { node: node.into(), state, detail: (*b"{}").into() }
}

fn ask(node: &str) -> Ask {
    Ask {
        node: format!("{node}/gate"),
        ask: 0,
        call: Some(RowCall {
            node: node.into(),
            server: "slack".into(),
            origin: None,
            tool: "post".into(),
            definition: Digest::of(b"definition"),
            // Enough that no page has room for it by chance.
            args: format!("{{\"text\":\"{}\"}}", "x".repeat(8_000)).into_bytes(),
            timeout_ms: 60_000,
        }),
        question: None,
        reason: Vec::new(),
        policy: Digest::of(b""),
        terms: Terms::default(),
    }
}

/// A store with a row that is pending, one that is approved, and one whose call is under way.
struct Stage {
    approvals: Approvals<SqliteStore>,
    clock: Arc<Standing>,
    lease: Lease,
    pending: Row,
    approved: Row,
    claim: Claim,
}

impl Stage {
    fn new(path: &Path) -> Stage {
        let clock = Arc::new(Standing::default());
        let approvals = Approvals::new(SqliteStore::open_with_clock(path, clock.clone()).unwrap());
        let store = approvals.store();
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
        let lease = store.start(&new, &store.holder().unwrap()).unwrap();
        let asked = |node: &str| approvals.ask(&lease, &ask(node), &[]).unwrap();
        let yes = |row: &Row| approvals.decide(&yes(row)).unwrap();
        let (pending, approved, claimed) = (asked("a"), yes(&asked("b")), yes(&asked("c")));
        let claim = claim(&approvals, &lease, &claimed, "c").unwrap();
        Stage { approvals, clock, lease, pending, approved, claim }
    }

    fn ask(&self) -> Result<Row, StoreError> {
        self.approvals.ask(&self.lease, &ask("d"), &[step("d", StepState::Pending)])
    }

    fn decide(&self) -> Result<Row, StoreError> {
        self.approvals.decide(&yes(&self.pending))
    }

    fn claim(&self) -> Result<Claim, StoreError> {
        claim(&self.approvals, &self.lease, &self.approved, "b")
    }

    fn outcome(&self) -> Result<Row, StoreError> {
        let text = Outcome::Ok(Value::from("y".repeat(8_000).as_str()));
        self.approvals.outcome(&self.claim, &text, &step("c", StepState::Done))
    }

    /// Each verb is refused with one of these faults, and the queue is what it was.
    fn refused(&self, faults: &[Fault]) {
        let store = self.approvals.store();
        let before = store.waiting().unwrap();
        let steps = || store.steps(&self.lease.run).unwrap();
        let steps_before = steps();
        assert_eq!(before.len(), 3);
        let fault = |answer: Result<(), StoreError>, verb: &str| match answer {
            Err(StoreError::Unusable { fault, path, .. }) => {
                assert!(faults.contains(&fault), "{verb}: {fault:?}");
                assert!(path.ends_with("state.db"), "{path}");
            }
            other => panic!("{verb}: {other:?}"),
        };
        for round in 0..2 {
            fault(self.ask().map(drop), "ask");
            fault(self.decide().map(drop), "decide");
            fault(self.claim().map(drop), "claim");
            fault(self.outcome().map(drop), "outcome");
            assert_eq!(store.waiting().unwrap(), before, "round {round}");
            assert_eq!(steps(), steps_before, "a row and its step, or neither: round {round}");
        }
        // What lapses meanwhile cannot be written down: an error, and no row that is left out.
        self.clock.0.store(3_600_000, SeqCst);
        fault(store.waiting().map(drop), "waiting");
        self.clock.0.store(0, SeqCst);
        assert_eq!(store.waiting().unwrap(), before);
    }

    /// Once there is room, each verb does what it was asked for.
    fn goes_on(&self) {
        assert_eq!(self.outcome().unwrap().state, RowState::Succeeded);
        assert_eq!(self.ask().unwrap().state, RowState::Pending);
        assert_eq!(self.decide().unwrap().state, RowState::Approved);
        let claim = self.claim().unwrap();
        let row = self.approvals.store().row(&self.approved.id).unwrap();
        assert_eq!((row.state, row.claim), (RowState::Claimed, Some(claim.nonce)));
        let kinds: Vec<String> =
            self.approvals.store().events(0).unwrap().into_iter().map(|e| e.what).collect();
        let claimed = kinds.iter().filter(|what| what.contains("\"kind\":\"claimed\"")).count();
        assert_eq!(claimed, 2, "one claim each");
        audit::verify(self.approvals.store(), None).unwrap();
    }
}

fn yes(row: &Row) -> Decision {
    Decision { row: row.id.clone(), seen: row.digest, by: person("bob"), yes: true, reason: None }
}

fn claim(
    approvals: &Approvals<SqliteStore>,
    lease: &Lease,
    row: &Row,
    node: &str,
) -> Result<Claim, StoreError> {
    let running = step(node, StepState::Running);
    approvals.claim(lease, row, Digest::of(b"definition"), &running).map(|permit| permit.claim().clone())
}

/// In the other process: its folder. Nothing where no other test started it.
fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// Runs a test of this binary as another process, by this shell and after these words of it.
fn other(role: &str, shell: &[&str], before: &str, folder: &Path) -> Output {
    let (program, args) = shell.split_first().unwrap();
    Command::new(program)
        .args(args)
        .args(["-c", &format!("{before} exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", role, "--ignored", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .output()
        .unwrap()
}

fn passed(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{complained}");
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_process_with_a_limit() {
    let Some(folder) = folder() else { return };
    let path = folder.join("state.db");
    let stage = Stage::new(&path);
    let whole = getrlimit(Resource::Fsize);
    let log = fs::metadata(folder.join("state.db-wal")).unwrap().len();
    setrlimit(Resource::Fsize, Rlimit { current: Some(log), maximum: whole.maximum }).unwrap();
    stage.refused(&[Fault::Io, Fault::Full]);
    setrlimit(Resource::Fsize, whole).unwrap();
    stage.goes_on();
}

#[test]
fn a_file_that_may_not_grow() {
    let folder = tempfile::tempdir().unwrap();
    // The signal that comes with the limit is ignored, as programs do that want the error.
    passed(&other("a_process_with_a_limit", &["sh"], "trap '' XFSZ;", folder.path()));
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_process_on_a_small_disk() {
    let Some(folder) = folder() else { return };
    let stage = Stage::new(&folder.join("state.db"));
    let ballast = folder.join("ballast");
    let mut file = OpenOptions::new().create(true).append(true).open(&ballast).unwrap();
    for size in [65_536, 4_096, 512, 1] {
        let full = loop {
            if let Err(e) = file.write_all(&vec![0; size]) {
                break e;
            }
        };
        assert_eq!(full.kind(), ErrorKind::StorageFull);
    }
    stage.refused(&[Fault::Full]);
    fs::remove_file(ballast).unwrap();
    drop(file);
    stage.goes_on();
}

/// Runs a test as another process, on a small file system of its own in a namespace that ends with it.
fn on_a_small_disk(role: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o size=1m plangate '{}'", folder.path().display());
    let shell = ["unshare", "-m", "sh"];
    let may = Command::new(shell[0]).args(&shell[1..]).args(["-c", &mount]).output();
    if !may.is_ok_and(|done| done.status.success()) {
        println!("skipped: this process may not mount a file system");
        return;
    }
    passed(&other(role, &shell, &format!("{mount} &&"), folder.path()));
}

#[test]
fn a_disk_that_is_full() {
    on_a_small_disk("a_process_on_a_small_disk");
}

#[test]
#[ignore = "run by other tests, in a process of its own"]
fn a_process_on_a_read_only_disk() {
    let Some(folder) = folder() else { return };
    let stage = Stage::new(&folder.join("state.db"));
    // The same files by a second way, which is read-only.
    let ro = folder.join("ro");
    fs::create_dir(&ro).unwrap();
    let mount = |args: &[&str]| Command::new("mount").args(args).arg(&ro).status().unwrap().success();
    assert!(mount(&["--bind", folder.to_str().unwrap()]) && mount(&["-o", "remount,bind,ro"]));
    let look = || SqliteStore::open(ro.join("state.db")).map(drop);
    let read_only = |answer| match answer {
        Err(StoreError::Unusable { fault, .. }) => assert_eq!(fault, Fault::ReadOnly),
        other => panic!("{other:?}"),
    };
    read_only(look());
    drop(stage);
    read_only(look());
    assert_eq!(SqliteStore::open(folder.join("state.db")).unwrap().rows(None).unwrap().len(), 3);
}

#[test]
fn a_file_system_that_is_read_only() {
    on_a_small_disk("a_process_on_a_read_only_disk");
}
