//! What needs a hand on the connection: full disks, locks, and which index is used.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests fail by panicking")]

use std::time::Duration;

use super::*;
use crate::audit;
use crate::run::StepState;
use crate::storage::Fault;

fn started(path: &Path) -> (SqliteStore, Lease) {
    let store = SqliteStore::open(path).unwrap();
    let new = NewRun {
        id: RunId::random().unwrap(),
        plan: b"{}".to_vec().into(),
        catalog: b"{}".to_vec().into(),
        policy: b"".to_vec().into(),
        inputs: b"{}".to_vec(),
        requester: Person { issuer: "os".into(), subject: "ann".into(), roles: Vec::new(), verified: true },
        author: "person".into(),
        title: "a run".into(),
        hold_siblings: false,
    };
    let lease = store.start(&new, &store.holder().unwrap()).unwrap();
    (store, lease)
}

fn step(node: &str, bytes: usize) -> StepWrite {
    StepWrite { node: node.into(), state: StepState::Done, detail: vec![b' '; bytes].into() }
}

fn pragma(store: &SqliteStore, sql: &str) {
    store.writer.lock().unwrap().execute_batch(sql).unwrap();
}

#[test]
fn a_full_disk_writes_all_or_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (store, lease) = started(&folder.path().join("state.db"));
    let head = audit::verify(&store, None).unwrap();
    pragma(&store, "PRAGMA max_page_count = 40");
    let steps = [step("small", 10), step("large", 1_000_000)];
    let refused = store.record(&lease, &steps);
    assert!(matches!(refused, Err(StoreError::Unusable { fault: Fault::Full, .. })), "{refused:?}");
    assert_eq!(store.steps(&lease.run).unwrap(), [], "not even the small one");
    pragma(&store, "PRAGMA max_page_count = 100000");
    store.record(&lease, &steps).unwrap();
    assert_eq!(store.steps(&lease.run).unwrap().len(), 2);
    assert_eq!(audit::verify(&store, None).unwrap(), head);
}

#[test]
fn a_lock_that_is_kept_too_long_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let (store, lease) = started(&path);
    store.writer.lock().unwrap().busy_timeout(Duration::ZERO).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = store.renew(&lease);
    assert!(matches!(refused, Err(StoreError::Unusable { fault: Fault::Locked, .. })), "{refused:?}");
    assert!(store.waiting().is_ok(), "reading goes on");
    other.execute_batch("ROLLBACK").unwrap();
    store.renew(&lease).unwrap();
}

#[test]
fn every_connection_writes_through_to_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = started(&folder.path().join("state.db"));
    let db = store.writer.lock().unwrap();
    let number =
        |name: &str| -> i64 { db.query_row(&format!("PRAGMA {name}"), [], |row| row.get(0)).unwrap() };
    assert_eq!((number("synchronous"), number("foreign_keys")), (2, 1));
}

/// The queue costs what waits, not what ever happened.
#[test]
fn the_queue_is_read_by_its_index() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = started(&folder.path().join("state.db"));
    let db = store.writer.lock().unwrap();
    for which in rows::QUEUES {
        let mut explain = db.prepare(&format!("EXPLAIN QUERY PLAN {} {which}", rows::SELECT)).unwrap();
        let given = vec!["run"; explain.parameter_count()];
        let plan = explain.query_map(rusqlite::params_from_iter(given), |row| row.get::<_, String>(3));
        let plan: Vec<String> = plan.unwrap().map(Result::unwrap).collect();
        assert!(plan[0].contains("open_approval"), "{which}: {plan:?}");
    }
}

#[test]
fn a_verb_that_fails_leaves_no_transaction_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (store, lease) = started(&folder.path().join("state.db"));
    let failed: Result<(), _> = store.write(|t| {
        t.write_step(&lease.run, &step("half", 1))?;
        Err(fault::unusable(&store.path, Fault::Io, "a fault in the middle"))
    });
    assert!(failed.is_err());
    assert_eq!(store.steps(&lease.run).unwrap(), []);
    store.renew(&lease).unwrap();
}
