//! What the `SQLite` store makes of files: its own, others', damaged and edited ones.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Barrier};
use std::thread;

use plangate_approval::row::RowCall;
use plangate_approval::storage::{LeaseAnswer, ParkAnswer};
use plangate_approval::{
    Approvals, Ask, Decision, Fault, Holder, Lease, NewRun, Person, Row, RowState, RunId, SqliteStore,
    StepState, StepWrite, Storage, StoreError, audit,
};
use plangate_graph::Digest;
use plangate_graph::policy::Terms;
use tempfile::TempDir;

const PAGE: usize = 4096;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    (folder, path)
}

fn ann() -> Person {
    Person { issuer: "os".into(), subject: "ann".into(), roles: Vec::new(), verified: true }
}

fn start(store: &SqliteStore) -> Lease {
    let new = NewRun {
        id: RunId::random().unwrap(),
        plan: b"{}".to_vec().into(),
        catalog: b"{}".to_vec().into(),
        policy: b"".to_vec().into(),
        inputs: b"{}".to_vec(),
        requester: ann(),
        author: "person".into(),
        title: "a run".into(),
        hold_siblings: false,
    };
    store.start(&new, &store.holder().unwrap()).unwrap()
}

fn call(node: &str) -> Ask {
    Ask {
        node: format!("{node}/gate"),
        ask: 0,
        call: Some(RowCall {
            node: node.into(),
            server: "slack".into(),
            origin: None,
            tool: "post".into(),
            definition: Digest::of(b"definition"),
            args: b"{\"text\":\"hello\"}".to_vec(),
            timeout_ms: 60_000,
        }),
        question: None,
        reason: Vec::new(),
        policy: Digest::of(b""),
        terms: Terms::default(),
    }
}

fn running(node: &str) -> StepWrite {
    StepWrite { node: node.into(), state: StepState::Running, detail: (*b"{}").into() }
}

fn yes(row: &Row) -> Decision {
    Decision { row: row.id.clone(), seen: row.digest, by: ann(), yes: true, reason: None }
}

/// A store with three rows that wait, closed.
fn three_waiting(path: &Path) -> Vec<Row> {
    let approvals = Approvals::new(SqliteStore::open(path).unwrap());
    let lease = start(approvals.store());
    ["a", "b", "c"].map(|node| approvals.ask(&lease, &call(node), &[]).unwrap()).to_vec()
}

/// An approved row in an open store.
fn approved(path: &Path) -> (Approvals<SqliteStore>, Lease, Row) {
    let approvals = Approvals::new(SqliteStore::open(path).unwrap());
    let lease = start(approvals.store());
    let row = approvals.ask(&lease, &call("post"), &[]).unwrap();
    let row = approvals.decide(&yes(&row)).unwrap();
    (approvals, lease, row)
}

/// Edits the file as somebody with a database shell would.
fn edit(path: &Path, sql: &str) {
    let db = rusqlite::Connection::open(path).unwrap();
    db.execute_batch("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF;").unwrap();
    db.execute_batch(sql).unwrap();
}

fn fault<T: std::fmt::Debug>(answer: Result<T, StoreError>) -> Fault {
    match answer {
        Err(StoreError::Unusable { fault, path, message }) => {
            assert!(path.ends_with("state.db"), "{path} {message}");
            fault
        }
        other => panic!("expected an unusable store, got {other:?}"),
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn files_are_for_their_owner_alone() {
    let (folder, _) = folder();
    let path = folder.path().join("new/.plangate/state.db");
    let store = SqliteStore::open(&path).unwrap();
    start(&store);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for name in ["state.db", "state.db-wal", "state.db-shm"] {
        assert_eq!(mode(&path.with_file_name(name)), 0o600, "{name}");
    }
    let locks = path.with_file_name("state.db.holders");
    assert_eq!(mode(&locks), 0o700);
    let files: Vec<_> = fs::read_dir(&locks).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(files.iter().map(|f| mode(f)).collect::<Vec<_>>(), [0o600]);

    drop(store);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    SqliteStore::open(&path).unwrap();
    assert_eq!(mode(&path), 0o600, "a copy that lost its mode gets it back");
}

#[test]
fn the_file_says_what_it_is() {
    let (_folder, path) = folder();
    drop(SqliteStore::open(&path).unwrap());
    let db = rusqlite::Connection::open(&path).unwrap();
    let number =
        |pragma: &str| -> i64 { db.query_row(&format!("PRAGMA {pragma}"), [], |r| r.get(0)).unwrap() };
    assert_eq!(
        (number("application_id"), number("user_version")),
        (i64::from(u32::from_be_bytes(*b"plgt")), 2)
    );
    let journal: String = db.query_row("PRAGMA journal_mode", [], |r| r.get(0)).unwrap();
    assert_eq!(journal, "wal");
}

#[test]
fn a_store_opened_again_is_the_same() {
    let (_folder, path) = folder();
    let rows = three_waiting(&path);
    let id = SqliteStore::open(&path).unwrap().id().unwrap();
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(store.id().unwrap(), id);
    assert_eq!(store.waiting().unwrap(), rows);
    audit::verify(&store, None).unwrap();
    // By another way to the same file.
    let link = path.with_file_name("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let linked = SqliteStore::open(&link).unwrap();
    assert_eq!(linked.path(), store.path());
    assert_eq!(linked.waiting().unwrap(), rows);
}

#[test]
fn many_make_one_store() {
    let (_folder, path) = folder();
    let barrier = Barrier::new(16);
    let ids: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    SqliteStore::open(&path).unwrap().id().unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

/// A store is put in its place whole, and is the same as one that was laid out in an empty file.
#[test]
fn a_new_store_is_there_whole() {
    let (folder, path) = folder();
    drop(SqliteStore::open(&path).unwrap());
    let beside: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(beside, [path.file_name().unwrap()], "nothing is left beside it");
    let header = fs::read(&path).unwrap();
    assert_eq!(header[18..20], [2, 2], "it keeps a write-ahead log");
    let db = rusqlite::Connection::open(&path).unwrap();
    let well: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(well, "ok");

    let empty = folder.path().join("empty.db");
    fs::write(&empty, "").unwrap();
    drop(SqliteStore::open(&empty).unwrap());
    assert_eq!(shape(&path), shape(&empty));
}

#[test]
fn what_is_not_a_store_is_left_alone() {
    let (_folder, path) = folder();
    fs::write(&path, "channel,text\n#daily,hello\n".repeat(100)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let before = fs::read(&path).unwrap();
    assert_eq!(fault(SqliteStore::open(&path)), Fault::NotAStore);
    assert_eq!((fs::read(&path).unwrap(), mode(&path)), (before, 0o644));

    fs::remove_file(&path).unwrap();
    edit(&path, "CREATE TABLE contacts (name TEXT); INSERT INTO contacts VALUES ('ann');");
    let before = fs::read(&path).unwrap();
    assert_eq!(fault(SqliteStore::open(&path)), Fault::NotAStore);
    assert_eq!(fs::read(&path).unwrap(), before);

    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert_eq!(fault(SqliteStore::open(&path)), Fault::NotAStore);
}

#[test]
fn other_versions_are_refused() {
    for found in [-1, 0, 3, 77] {
        let (_folder, path) = folder();
        three_waiting(&path);
        edit(&path, &format!("PRAGMA user_version = {found}"));
        let before = fs::read(&path).unwrap();
        assert_eq!(SqliteStore::open(&path).map(drop), Err(StoreError::Version { found, known: 2 }));
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

/// What every table looks like, whatever the order in which its columns came.
fn shape(path: &Path) -> Vec<String> {
    let db = rusqlite::Connection::open(path).unwrap();
    let mut find = db
        .prepare(
            "SELECT s.name, c.name, c.type, c.\"notnull\", ifnull(c.dflt_value, ''), c.pk
             FROM sqlite_schema s, pragma_table_info(s.name) c WHERE s.type = 'table' ORDER BY 1, 2",
        )
        .unwrap();
    let columns = find.query_map([], |row| {
        let (not_null, key): (i64, i64) = (row.get(3)?, row.get(5)?);
        let text = |i| row.get::<_, String>(i);
        Ok(format!("{}.{} {} {not_null} {} {key}", text(0)?, text(1)?, text(2)?, text(4)?))
    });
    let mut shape: Vec<String> = columns.unwrap().map(Result::unwrap).collect();
    let mut find = db.prepare("SELECT name FROM sqlite_schema WHERE type <> 'table' ORDER BY 1").unwrap();
    shape.extend(find.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap));
    shape
}

/// The kept store is of schema 1. It is brought forward once, by whichever of many handles opens it first, and is then
/// what a new store is.
#[test]
fn an_earlier_store_is_brought_forward() {
    let (_folder, path) = folder();
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/state.db"), &path).unwrap();
    let version = |path: &Path| -> i64 {
        let db = rusqlite::Connection::open(path).unwrap();
        db.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(version(&path), 1);
    let start = Barrier::new(8);
    let opened: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    SqliteStore::open(&path).map(|store| store.rows(None).unwrap().len())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(opened.iter().all(|rows| rows.as_ref().is_ok_and(|rows| *rows == 3)), "{opened:?}");
    assert_eq!(version(&path), 2);
    let (_folder, new) = folder();
    SqliteStore::open(&new).unwrap();
    assert_eq!(shape(&path), shape(&new));
    audit::verify(&SqliteStore::open(&path).unwrap(), None).unwrap();
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let (_folder, path) = folder();
    three_waiting(&path);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    assert_eq!(fault(SqliteStore::open(&path)), Fault::ReadOnly);

    let (_folder, path) = folder();
    fs::write(&path, "a file where a folder should be").unwrap();
    let under = path.join("state.db");
    assert_eq!(fault(SqliteStore::open(under)), Fault::NoAccess);
}

/// Any page gone, or all from some page on: an error, or everything. Never a shorter queue.
#[test]
fn damage_is_never_an_empty_queue() {
    let (_folder, path) = folder();
    let rows = three_waiting(&path);
    let whole = fs::read(&path).unwrap();
    let pages = whole.len() / PAGE;
    assert!(pages > 10, "{pages} pages");
    let (mut refused, mut unharmed) = (0, 0);
    let mut look = |bytes: &[u8], what: &str| {
        let (_folder, path) = folder();
        fs::write(&path, bytes).unwrap();
        match SqliteStore::open(&path).and_then(|store| store.waiting()) {
            Ok(seen) => {
                assert_eq!(seen, rows, "{what}");
                unharmed += 1;
            }
            Err(StoreError::Unusable { fault: Fault::Damaged | Fault::NotAStore, .. }) => refused += 1,
            Err(other) => panic!("{what}: {other:?}"),
        }
    };
    for page in 0..pages {
        for fill in [0x00, 0xff] {
            let mut bytes = whole.clone();
            bytes[page * PAGE..(page + 1) * PAGE].fill(fill);
            look(&bytes, &format!("page {page} filled with {fill:#x}"));
        }
        if page > 0 {
            look(&whole[..page * PAGE], &format!("cut before page {page}"));
            look(&whole[..page * PAGE + 100], &format!("cut within page {page}"));
        }
    }
    assert!(refused > pages && unharmed > 0, "{refused} refused, {unharmed} unharmed");
}

#[test]
fn what_no_verb_wrote_fails_closed() {
    let edits = [
        "UPDATE approval SET state = 'aproved' WHERE node = 'b/gate'",
        "UPDATE approval SET state = 'approved' WHERE node = 'b/gate'",
        "UPDATE approval SET state = 'claimed', decided_by = 'x', decided_at = 1 WHERE node = 'b/gate'",
        "UPDATE approval SET roles = 'lead' WHERE node = 'b/gate'",
        "UPDATE approval SET quorum = -1 WHERE node = 'b/gate'",
        "UPDATE approval SET verified_only = 2 WHERE node = 'b/gate'",
        "UPDATE approval SET reason = '' WHERE node = 'b/gate'",
        "UPDATE approval SET digest = x'00' WHERE node = 'b/gate'",
        "UPDATE approval SET definition = NULL WHERE node = 'b/gate'",
        "UPDATE approval SET call_open = 7 WHERE node = 'b/gate'",
        "UPDATE approval SET ask = -1 WHERE node = 'b/gate'",
        "UPDATE approval SET claim_holder = 'x' WHERE node = 'b/gate'",
        "UPDATE approval SET run = 'nowhere' WHERE node = 'b/gate'",
        "DELETE FROM run",
        "UPDATE run SET fence = -1",
        "UPDATE approval SET plan = x'00' WHERE node = 'b/gate'",
    ];
    for sql in edits {
        let (_folder, path) = folder();
        let rows = three_waiting(&path);
        edit(&path, sql);
        let store = SqliteStore::open(&path).unwrap();
        assert_eq!(fault(store.waiting()), Fault::Damaged, "{sql}");
        let b = store.row(&rows[1].id);
        assert_eq!(fault(b), Fault::Damaged, "{sql}");
        assert_eq!(fault(store.decide(&yes(&rows[1]))), Fault::Damaged, "{sql}");
        if !sql.contains("run") {
            assert_eq!(store.row(&rows[0].id).unwrap(), rows[0], "the others are whole: {sql}");
        }
    }
}

/// A step in a state that no verb wrote is an error, and not a run with one step less.
#[test]
fn steps_that_no_verb_wrote_fail_closed() {
    for set in ["state = 'wating'", "state = ''", "state = 'Done'"] {
        let (_folder, path) = folder();
        let store = SqliteStore::open(&path).unwrap();
        let lease = start(&store);
        store.record(&lease, &[running("a"), running("b")]).unwrap();
        edit(&path, &format!("UPDATE step SET {set} WHERE node = 'b'"));
        assert_eq!(fault(store.steps(&lease.run)), Fault::Damaged, "{set}");
    }
}

/// As a table would look that somebody laid out anew, without the constraints.
#[test]
fn wrong_types_and_null_fail_closed() {
    for set in
        ["state = NULL", "created = 'noon'", "key = NULL", "args = 7", "ask = 1.5", "digest = 'sha256:00'"]
    {
        let (_folder, path) = folder();
        let rows = three_waiting(&path);
        let (lax, index) = {
            let db = rusqlite::Connection::open(&path).unwrap();
            let sql = |name: &str| -> String {
                db.query_row("SELECT sql FROM sqlite_schema WHERE name = ?1", [name], |r| r.get(0)).unwrap()
            };
            (
                sql("approval")
                    .replace(" NOT NULL,", ",")
                    .replace(" NOT NULL CHECK", " CHECK")
                    .replace(") STRICT", ")"),
                sql("open_approval"),
            )
        };
        edit(
            &path,
            &format!(
                "PRAGMA legacy_alter_table = ON; ALTER TABLE approval RENAME TO old; DROP INDEX open_approval; {lax};
                 INSERT INTO approval SELECT * FROM old; DROP TABLE old; {index};
                 UPDATE approval SET {set} WHERE node = 'b/gate'"
            ),
        );
        let store = SqliteStore::open(&path).unwrap();
        assert_eq!(fault(store.row(&rows[1].id)), Fault::Damaged, "{set}");
        assert_eq!(fault(store.rows(None)), Fault::Damaged, "{set}");
        assert_eq!(fault(store.waiting()), Fault::Damaged, "{set}: said, not passed over");
        assert_eq!(store.row(&rows[0].id).unwrap(), rows[0]);
    }
}

#[test]
fn arguments_edited_by_hand_are_changed() {
    let (_folder, path) = folder();
    let (approvals, lease, row) = approved(&path);
    edit(&path, "UPDATE approval SET args = CAST('{\"text\":\"goodbye\"}' AS BLOB)");
    let stored = Digest::of(b"{\"text\":\"goodbye\"}");
    let changed = StoreError::Changed { stored, seen: row.digest };
    let claim =
        |row: &Row| approvals.claim(&lease, row, Digest::of(b"definition"), &running("post")).map(drop);
    assert_eq!(claim(&row), Err(changed));
    // With the digest adjusted, too: the driver holds another one to be approved, and so did the voters.
    let hex = stored.to_string().replace("sha256:", "");
    edit(&path, &format!("UPDATE approval SET digest = x'{hex}'"));
    assert_eq!(claim(&row), Err(StoreError::Changed { stored, seen: row.digest }));
    let edited = approvals.store().row(&row.id).unwrap();
    assert_eq!(edited.digest, stored);
    assert!(matches!(claim(&edited), Err(StoreError::NotAllowed(why)) if why.contains("votes")));
}

#[test]
fn an_approval_without_votes_is_no_approval() {
    let (_folder, path) = folder();
    let (approvals, lease, row) = approved(&path);
    edit(&path, "DELETE FROM vote");
    let refused = approvals.claim(&lease, &row, Digest::of(b"definition"), &running("post")).map(drop);
    assert!(matches!(refused, Err(StoreError::NotAllowed(_))), "{refused:?}");
}

#[test]
fn documents_edited_by_hand_are_damage() {
    let (_folder, path) = folder();
    let (approvals, lease, row) = approved(&path);
    let store = approvals.store();
    let plan = store.run(&lease.run).unwrap().plan;
    edit(&path, "UPDATE document SET bytes = CAST('[]' AS BLOB)");
    assert_eq!(fault(store.document(&plan)), Fault::Damaged);
    assert_eq!(store.waiting().unwrap(), [row], "the queue does not need them");
    // A document that is gone: what needs it is an error, and nothing is left out.
    edit(&path, "DELETE FROM document");
    assert!(matches!(store.document(&plan), Err(StoreError::NotFound { what: "document", .. })));
    assert_eq!(store.waiting().unwrap().len(), 1);
    assert_eq!(fault(store.run(&lease.run)), Fault::Damaged, "its inputs are not there");
    assert_eq!(fault(store.runs()), Fault::Damaged, "not a shorter list");
}

#[test]
fn the_log_shows_where_it_was_edited() {
    let (_folder, path) = folder();
    let (approvals, ..) = approved(&path);
    let store = approvals.store();
    let noted = audit::verify(store, None).unwrap();
    assert_eq!(noted.seq, 3);
    let shell = rusqlite::Connection::open(&path).unwrap();
    assert!(shell.execute("UPDATE event SET at = 0 WHERE seq = 2", []).is_err(), "append-only");
    assert!(shell.execute("DELETE FROM event WHERE seq = 2", []).is_err());
    drop(shell);
    edit(
        &path,
        "DROP TRIGGER event_stays; UPDATE event SET what = replace(what, 'slack', 'sms') WHERE seq = 2",
    );
    assert_eq!(audit::verify(store, None), Err(audit::Broken::Changed { seq: 2 }.into()));
    edit(&path, "DROP TRIGGER event_kept; DELETE FROM event WHERE seq = 2");
    let missing = audit::Broken::Missing { expected: 2, found: 3 };
    assert_eq!(audit::verify(store, None), Err(missing.into()));
    edit(&path, "DELETE FROM event WHERE seq > 1");
    assert_eq!(audit::verify(store, None).unwrap().seq, 1, "cut short, it hangs together");
    let shortened = audit::Broken::Shortened { head: 3, last: 1 };
    assert_eq!(audit::verify(store, Some(&noted)), Err(shortened.into()));
}

/// What is not known is not claimed: such a holder is neither alive nor dead, and its lease decides.
#[test]
fn only_a_lock_of_this_kernel_tells_of_a_death() {
    let (folder, path) = folder();
    let store = SqliteStore::open(&path).unwrap();
    let locks = folder.path().join("state.db.holders");
    store.holder().unwrap();
    let new = |name: &str, written: Option<&str>| {
        if let Some(written) = written {
            fs::write(locks.join(name), written).unwrap();
        }
        let lease = start(&store);
        assert_eq!(store.park(&lease).unwrap(), ParkAnswer::Released);
        let holder = Holder(format!("{name}.0"));
        assert!(matches!(store.lease(&lease.run, &holder), Ok(LeaseAnswer::Taken(_))));
        (lease.run, holder)
    };
    let this_boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let (here, _) = new(&"a".repeat(32), Some(&this_boot));
    assert!(!store.run(&here).unwrap().driven, "this one is dead");
    let unknown = [
        new(&"b".repeat(32), Some("a kernel elsewhere")),
        new(&"c".repeat(32), None),
        new("../../state.db", None),
        new("", None),
    ];
    for (run, holder) in unknown {
        assert!(store.run(&run).unwrap().driven, "{holder:?}");
        let other = store.holder().unwrap();
        assert!(matches!(store.lease(&run, &other), Ok(LeaseAnswer::Busy { .. })), "{holder:?}");
    }
}

#[test]
fn reading_does_not_wait_for_a_writer() {
    let (_folder, path) = folder();
    let rows = three_waiting(&path);
    let store = SqliteStore::open(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE; UPDATE approval SET decision_reason = 'not committed'").unwrap();
    assert_eq!(store.waiting().unwrap(), rows);
    other.execute_batch("ROLLBACK").unwrap();
}

#[test]
fn a_handle_is_shared_by_threads() {
    let (_folder, path) = folder();
    let (approvals, lease, _) = approved(&path);
    let approvals = Arc::new(approvals);
    thread::scope(|scope| {
        for i in 0..8 {
            let (approvals, lease) = (Arc::clone(&approvals), lease.clone());
            scope.spawn(move || {
                let row = approvals.ask(&lease, &call(&format!("n{i}")), &[]).unwrap();
                approvals.decide(&yes(&row)).unwrap();
            });
        }
    });
    let rows = approvals.store().rows(Some(&lease.run)).unwrap();
    assert_eq!(rows.iter().filter(|row| row.state == RowState::Approved).count(), 9);
    audit::verify(approvals.store(), None).unwrap();
}
