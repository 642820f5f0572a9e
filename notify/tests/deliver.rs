//! Webhooks against a receiver on this machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    missing_docs,
    missing_debug_implementations,
    reason = "tests fail by panicking; a test binary has no public interface"
)]

mod receiver;

use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plangate_approval::event::Kind;
use plangate_approval::{MemoryStore, NewRun, Person, RunId, RunState, Storage, Time};
use plangate_notify::line::standing;
use plangate_notify::sign::{ID, SIGNATURE, TIMESTAMP};
use plangate_notify::{Courier, Line, Secret, Turn, Webhook, verify};
use receiver::{Receiver, Seen};
use tempfile::TempDir;

const SECRET: &str = "a secret of two sides";
const NOW: Time = Time(1_790_000_000_000);

fn ok() -> String {
    "200 OK".to_owned()
}

fn hook(url: &str, events: &[Kind]) -> Webhook {
    Webhook::new(url.parse().unwrap(), Secret::new(SECRET).unwrap(), events.to_vec())
}

fn after(ms: i64) -> Time {
    Time(NOW.0 + ms)
}

/// A run that begins and ends: `started`, `ended`.
fn a_run(store: &MemoryStore) {
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
    store.end(&lease, RunState::Done, None).unwrap();
}

fn place() -> (TempDir, MemoryStore) {
    (tempfile::tempdir().unwrap(), MemoryStore::new().unwrap())
}

fn line(store: &MemoryStore, url: &str, folder: &Path) -> Line {
    Line::open(store, hook(url, &[Kind::Started, Kind::Ended]), folder).unwrap()
}

#[test]
fn what_happens_is_told_in_order_and_signed() {
    let (folder, store) = place();
    let receiver = Receiver::new(|_, _| ok());
    a_run(&store);
    let mut started = Line::open(&store, hook(&receiver.url(), &[Kind::Started]), folder.path()).unwrap();
    assert_eq!(started.turn(&store, NOW, 0), Ok(Turn::Idle), "what was before it was met is not told");
    for _ in 0..3 {
        a_run(&store);
    }
    let mut turns = Vec::new();
    while let Turn::Took(seq) = started.turn(&store, NOW, 0).unwrap() {
        turns.push(seq);
    }
    assert_eq!(turns, [3, 5, 7], "only what it asked for");
    let seen = receiver.seen();
    assert_eq!(seen.iter().map(Seen::seq).collect::<Vec<_>>(), turns);
    let now = NOW.0 / 1000;
    let secret = Secret::new(SECRET).unwrap();
    let mut ids = Vec::new();
    for one in &seen {
        assert_eq!((one.kind().as_str(), one.header("content-type")), ("started", "application/json"));
        let check = |secret: &Secret, body: &[u8]| {
            verify(secret, one.header(ID), one.header(TIMESTAMP), one.header(SIGNATURE), body, now)
        };
        assert_eq!(check(&secret, &one.body), Ok(()));
        assert!(check(&secret, b"{}").is_err());
        assert!(check(&Secret::new("the secret of others").unwrap(), &one.body).is_err());
        assert!(one.body.len() < 1_000 && !ids.contains(&one.header(ID)));
        ids.push(one.header(ID));
    }
    let progress = standing(folder.path(), started.webhook().address()).unwrap().unwrap();
    assert_eq!((progress.told, progress.delivered, progress.last), (8, 3, Some(NOW)));
}

#[test]
fn what_fails_is_told_again_later_under_the_same_id_and_the_rest_waits() {
    let (folder, store) = place();
    let receiver = Receiver::new(|n, _| if n < 2 { "500 Internal Server Error".into() } else { ok() });
    let mut line = line(&store, &receiver.url(), folder.path());
    a_run(&store);
    assert_eq!(line.turn(&store, NOW, 255), Ok(Turn::Failed(1, after(1_000))));
    assert_eq!(line.turn(&store, after(999), 255), Ok(Turn::Waits(after(1_000))));
    assert_eq!(receiver.seen().len(), 1, "nothing is sent while it waits");
    let progress = standing(folder.path(), line.webhook().address()).unwrap().unwrap();
    let failing = progress.failing.unwrap();
    assert_eq!((failing.seq, failing.attempts, failing.error.as_str()), (1, 1, "answered 500"));
    assert_eq!(line.turn(&store, after(1_000), 255), Ok(Turn::Failed(1, after(3_000))));
    // Said to be well again, it is tried before its time.
    line.hurry();
    assert_eq!(line.turn(&store, after(1_001), 255), Ok(Turn::Took(1)));
    assert_eq!(line.turn(&store, after(1_001), 255), Ok(Turn::Took(2)));
    assert_eq!(line.turn(&store, after(1_001), 255), Ok(Turn::Idle));
    let seen = receiver.seen();
    assert_eq!(seen.iter().map(Seen::seq).collect::<Vec<_>>(), [1, 1, 1, 2]);
    assert_eq!((seen[0].header(ID), &seen[0].body), (seen[2].header(ID), &seen[2].body));
    assert_ne!(seen[0].header(TIMESTAMP), seen[2].header(TIMESTAMP), "each attempt says when it was made");
    assert_ne!(seen[2].header(ID), seen[3].header(ID));
}

#[test]
fn a_receiver_that_is_not_there_is_waited_for() {
    let (folder, store) = place();
    let at = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut line = line(&store, &format!("http://{at}/hook"), folder.path());
    a_run(&store);
    assert_eq!(line.turn(&store, NOW, 255), Ok(Turn::Failed(1, after(1_000))));
    let progress = standing(folder.path(), line.webhook().address()).unwrap().unwrap();
    assert!(!progress.failing.unwrap().error.is_empty());
    let receiver = Receiver::on(at, |_, _| ok());
    assert_eq!(line.turn(&store, after(1_000), 255), Ok(Turn::Took(1)));
    assert_eq!(receiver.seen().len(), 1);
}

#[test]
fn no_redirect_is_followed() {
    let (folder, store) = place();
    let elsewhere = Receiver::new(|_, _| ok());
    let to = elsewhere.url();
    let receiver = Receiver::new(move |n, _| {
        let status = if n == 0 { "302 Found" } else { "307 Temporary Redirect" };
        format!("{status}\r\nlocation: {to}")
    });
    let mut line = line(&store, &receiver.url(), folder.path());
    a_run(&store);
    for at in [NOW, after(10_000)] {
        assert!(matches!(line.turn(&store, at, 0), Ok(Turn::Failed(1, _))));
        let progress = standing(folder.path(), line.webhook().address()).unwrap().unwrap();
        let error = progress.failing.unwrap().error;
        assert!(error.contains("redirects are not followed"), "{error}");
    }
    assert_eq!((receiver.seen().len(), elsewhere.seen().len()), (2, 0));
}

/// A process that dies between the receiver's answer and its own note tells it again, under the same id.
#[test]
fn what_was_not_noted_is_told_again_under_the_same_id() {
    let (folder, store) = place();
    let receiver = Receiver::new(|_, _| ok());
    let url = receiver.url();
    let mut first = line(&store, &url, folder.path());
    a_run(&store);
    let file = folder.path().join(format!("{}.json", first.webhook().address().name()));
    let before = std::fs::read(&file).unwrap();
    assert_eq!(first.turn(&store, NOW, 0), Ok(Turn::Took(1)));
    drop(first);
    // As it is on the disk of a process that died before it wrote.
    std::fs::write(&file, before).unwrap();
    let mut second = line(&store, &url, folder.path());
    assert_eq!(second.turn(&store, after(5_000), 0), Ok(Turn::Took(1)));
    assert_eq!(second.turn(&store, after(5_000), 0), Ok(Turn::Took(2)));
    let seen = receiver.seen();
    assert_eq!((seen[0].header(ID), seen[1].seq()), (seen[1].header(ID), 1));
}

#[test]
fn one_tells_and_the_next_goes_on_where_it_stopped() {
    let (folder, store) = place();
    let receiver = Receiver::new(|_, _| ok());
    let url = receiver.url();
    let mut first = line(&store, &url, folder.path());
    let mut second = line(&store, &url, folder.path());
    a_run(&store);
    assert_eq!(first.turn(&store, NOW, 0), Ok(Turn::Took(1)));
    assert_eq!(second.turn(&store, NOW, 0), Ok(Turn::Elsewhere));
    drop(first);
    assert_eq!(second.turn(&store, NOW, 0), Ok(Turn::Took(2)));
    assert_eq!(receiver.seen().len(), 2);
}

#[test]
fn a_file_that_says_nothing_is_an_error_and_not_a_beginning() {
    let (folder, store) = place();
    let receiver = Receiver::new(|_, _| ok());
    let url = receiver.url();
    let name = line(&store, &url, folder.path()).webhook().address().name();
    std::fs::write(folder.path().join(format!("{name}.json")), "{").unwrap();
    let refused = Line::open(&store, hook(&url, &[Kind::Started]), folder.path()).unwrap_err();
    assert!(refused.to_string().contains(&name), "{refused}");
}

/// The receiver answers only once the run has returned; nothing of the run waits for it.
#[test]
fn a_slow_receiver_holds_nothing_up() {
    let (folder, store) = place();
    let store = Arc::new(store);
    let ((entered, inside), (release, released)) = (channel::<()>(), channel::<()>());
    let (entered, released) = (Mutex::new(entered), Mutex::new(released));
    let receiver = Receiver::new(move |n, _| {
        if n == 0 {
            entered.lock().unwrap().send(()).unwrap();
            released.lock().unwrap().recv().unwrap();
        }
        ok()
    });
    let webhook = hook(&receiver.url(), &[Kind::Started, Kind::Ended]);
    let address = webhook.address().clone();
    let courier = Courier::start(&store, vec![webhook], folder.path()).unwrap();
    a_run(&store);
    inside.recv().unwrap();
    // The receiver holds the first event; a second run goes through, and the end waits no longer than it is told to.
    a_run(&store);
    assert_eq!(courier.finish(Duration::ZERO), []);
    assert_eq!(store.runs().unwrap().len(), 2);
    assert_eq!(receiver.seen().len(), 1, "it has not answered yet");
    release.send(()).unwrap();
    // What is left is told by whoever comes next.
    let mut line = loop {
        let mut line =
            Line::open(&*store, hook(&receiver.url(), &[Kind::Started, Kind::Ended]), folder.path()).unwrap();
        if line.turn(&*store, store.now(), 0).unwrap() != Turn::Elsewhere {
            break line;
        }
        std::thread::yield_now();
    };
    while let Turn::Took(_) = line.turn(&*store, store.now(), 0).unwrap() {}
    let mut told: Vec<u64> = receiver.seen().iter().map(Seen::seq).collect();
    told.dedup();
    assert_eq!(told, [1, 2, 3, 4]);
    assert_eq!(standing(folder.path(), &address).unwrap().unwrap().told, 4);
}

#[test]
fn a_courier_tells_what_there_is_before_it_ends() {
    let (folder, store) = place();
    let store = Arc::new(store);
    let (one, two) = (Receiver::new(|_, _| ok()), Receiver::new(|_, _| ok()));
    let hooks = vec![hook(&one.url(), &[Kind::Started]), hook(&two.url(), &[Kind::Ended])];
    let courier = Courier::start(&store, hooks, folder.path()).unwrap();
    for _ in 0..5 {
        a_run(&store);
    }
    assert_eq!(courier.finish(Duration::from_secs(60)), []);
    assert_eq!(one.seen().iter().map(Seen::seq).collect::<Vec<_>>(), [1, 3, 5, 7, 9]);
    assert_eq!(two.seen().iter().map(Seen::seq).collect::<Vec<_>>(), [2, 4, 6, 8, 10]);
}
