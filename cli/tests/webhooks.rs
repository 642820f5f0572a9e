//! Webhooks of the real binary, against a receiver on this machine.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "tests fail by panicking"
)]

#[path = "../../notify/tests/receiver/mod.rs"]
mod receiver;
mod support;

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::channel;

use plangate_graph::Value;
use plangate_notify::sign::{ID, SIGNATURE, TIMESTAMP};
use plangate_notify::{Secret, verify};
use receiver::{Receiver, Seen};
use support::{Place, Ran, kill_9, member, text, until};

const RECIPE: &str = "then:\n  a: notes.post_note {\"text\":\"do not tell this\",\"amount\":1.10}\n";
const SECRET: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";

fn ok() -> String {
    "204 No Content".to_owned()
}

/// A folder whose settings tell this URL about these events.
fn place(url: &str, events: &str) -> Place {
    let place = Place::new();
    place.write("x.recipe", RECIPE);
    place.write(
        "plangate.toml",
        &format!("[[webhook]]\nurl = \"{url}\"\nsecret_env = \"HOOK_SECRET\"\nevents = [{events}]\n"),
    );
    place
}

fn command(place: &Place, args: &[&str]) -> Command {
    let mut command = place.command(args);
    command.env("HOOK_SECRET", SECRET);
    command
}

fn run(place: &Place, args: &[&str]) -> Ran {
    let ran = command(place, args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: ran.status.code().unwrap_or(-1), out: text(ran.stdout), err: text(ran.stderr) }
}

/// The one webhook that `webhooks` lists.
fn listed(place: &Place) -> Value {
    let listed = run(place, &["webhooks", "--json"]).ended(0).json();
    match member(&listed, "webhooks") {
        Value::List(one) if one.len() == 1 => one[0].clone(),
        other => panic!("{other}"),
    }
}

#[test]
fn what_a_run_does_is_told_signed_and_without_its_arguments() {
    let receiver = Receiver::new(|_, _| ok());
    let place = place(&receiver.url(), r#""asked", "approved", "outcome", "ended""#);
    run(&place, &["run", "x.recipe"]).ended(3);
    until("the question is told", || receiver.seen().len() == 1);
    let id = text(&place.waiting(), "id").to_owned();
    run(&place, &["approve", &id, "--note", "not to be told"]).ended(0);
    run(&place, &["webhooks", "deliver"]).ended(0);
    let seen = receiver.seen();
    assert_eq!(seen.iter().map(Seen::kind).collect::<Vec<_>>(), ["asked", "approved", "outcome", "ended"]);
    let secret = Secret::new(SECRET).unwrap();
    for one in &seen {
        let (at, body) = (one.header(TIMESTAMP), String::from_utf8(one.body.clone()).unwrap());
        let now = at.parse().unwrap();
        assert_eq!(verify(&secret, one.header(ID), at, one.header(SIGNATURE), &one.body, now), Ok(()));
        assert!(
            !body.contains("tell this") && !body.contains("to be told") && !body.contains("1.10"),
            "{body}"
        );
    }
    let asked = seen[0].json();
    let data = member(&asked, "data");
    assert_eq!(
        (text(data, "row"), text(data, "server"), text(data, "tool")),
        (id.as_str(), "notes", "post_note")
    );
    assert_eq!(
        text(data, "digest"),
        text(member(&run(&place, &["show", &id, "--json"]).json(), "approval"), "digest")
    );
    let listed = listed(&place);
    assert_eq!(member(&listed, "delivered").to_string(), "4");
    assert_eq!(
        (member(&listed, "waiting").to_string().as_str(), member(&listed, "failing")),
        ("0", &Value::Null)
    );
}

/// Killed while the receiver has the message and has not answered: it is told again, under the same id.
#[test]
fn killed_in_the_middle_it_is_told_again_under_the_same_id() {
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let receiver = Receiver::new(move |n, _| {
        if n == 0 {
            released.lock().unwrap().recv().unwrap();
        }
        ok()
    });
    let place = place(&receiver.url(), r#""started", "asked""#);
    let mut first =
        command(&place, &["run", "x.recipe"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("the receiver has the first message", || receiver.seen().len() == 1);
    kill_9(&mut first);
    release.send(()).unwrap();
    run(&place, &["webhooks", "deliver"]).ended(0);
    let seen = receiver.seen();
    assert_eq!((seen[0].header(ID), seen[0].kind().as_str()), (seen[1].header(ID), "started"));
    assert_eq!(seen[0].body, seen[1].body);
}

#[test]
fn a_receiver_that_is_not_there_is_said_and_told_later() {
    let at = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let place = place(&format!("http://{at}/hook?token=hidden"), r#""asked""#);
    let parked = run(&place, &["run", "x.recipe"]).ended(3);
    assert!(parked.err.contains("not told since event") && parked.err.contains("webhooks"), "{}", parked.err);
    assert!(!parked.err.contains("hidden") && !parked.err.contains("whsec"), "{}", parked.err);
    let before = run(&place, &["webhooks"]).ended(0);
    assert!(before.out.contains("waits       1 event since"), "{}", before.out);
    let listed_before = listed(&place);
    let failing = member(&listed_before, "failing");
    assert!(
        !text(failing, "error").is_empty() && !text(&listed_before, "url").contains("hidden"),
        "{listed_before}"
    );
    run(&place, &["webhooks", "deliver"]).ended(69);
    let receiver = Receiver::on(at, |_, _| ok());
    let after = run(&place, &["webhooks", "deliver"]).ended(0);
    assert!(after.out.contains("told        1 event, the last"), "{}", after.out);
    assert_eq!(receiver.seen().len(), 1);
}

#[test]
fn without_its_secret_nothing_is_done() {
    let receiver = Receiver::new(|_, _| ok());
    let place = place(&receiver.url(), r#""asked""#);
    let refused = place.run(&["run", "x.recipe"]).ended(78);
    assert!(refused.err.contains("HOOK_SECRET"), "{}", refused.err);
    assert_eq!((place.waiting_count(), receiver.seen().len()), (0, 0));
}
