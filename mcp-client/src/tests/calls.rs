//! Calls: what leaves, what comes back, and what it means when something goes wrong.

use std::time::{Duration, Instant};

use plangate_approval::Outcome;
use plangate_executor::{Cancel, ReadError, Tools as _};
use plangate_graph::Value;

use super::{Servers, call, no_python, spend, telling, timed, value_of, within};
use crate::call::{End, outcome, value};

fn text(value: &str) -> Value {
    value.into()
}

#[test]
fn the_approved_bytes_and_the_key_reach_the_tool_as_they_are() {
    if no_python() {
        return;
    }
    let tools = Servers::faulty(&[]).ready();
    for args in [
        r#"{"a":1.10,"b":1e2,"c":12345678901234567890123,"d":[-0,1.0,1E+2]}"#,
        r#"{"z":"\u0001\"\\å🙂","a":null}"#,
        "{}",
    ] {
        let answer = Value::parse(&value_of(call(&tools, "echo", args))).unwrap();
        let line = answer.member("line").and_then(Value::text).unwrap();
        let end = format!(r#""name":"echo","arguments":{args}}}}}"#) + "\n";
        assert!(line.ends_with(&end), "{line}");
        assert!(line.contains(r#""plangate/idempotency-key":"key-1""#), "{line}");
    }
}

#[test]
fn results_keep_their_numbers() {
    if no_python() {
        return;
    }
    let tools = Servers::faulty(&[]).ready();
    let structured = r#"{"before":"{\"id\":","after":",\"result\":{\"structuredContent\":{\"n\":1.10,\"m\":18446744073709551616}}}"}"#;
    assert_eq!(value_of(call(&tools, "raw", structured)), r#"{"m":18446744073709551616,"n":1.10}"#);
    let in_text = r#"{"before":"{\"id\":","after":",\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"n\\\":1e2}\"}]}}"}"#;
    assert_eq!(value_of(call(&tools, "raw", in_text)), r#"{"n":1e2}"#);
}

#[test]
fn noise_is_heard_through() {
    if no_python() {
        return;
    }
    let tools = Servers::faulty(&[]).ready();
    assert_eq!(value_of(call(&tools, "noisy", "{}")), "\"heard through\"");
}

#[test]
fn calls_to_one_server_overlap() {
    if no_python() {
        return;
    }
    let tools = Servers::faulty(&[]).ready();
    // The server answers none before it has all.
    std::thread::scope(|scope| {
        let calls: Vec<_> =
            (0..8).map(|_| scope.spawn(|| value_of(call(&tools, "barrier", r#"{"of":8}"#)))).collect();
        for call in calls {
            assert_eq!(call.join().unwrap(), "\"8\"");
        }
    });
}

#[test]
fn what_the_tool_says_decides() {
    if no_python() {
        return;
    }
    let tools = Servers::faulty(&[]).ready();
    assert_eq!(outcome(call(&tools, "t", "{}")), Outcome::Ok(text("ok")));
    let failed = Outcome::Failed("no such account (it may have done part)".into());
    assert_eq!(outcome(call(&tools, "fail", "{}")), failed);
    assert_eq!(value(call(&tools, "fail", "{}")), Err(ReadError::Failed("no such account".into())));
    for (code, is_failed) in [
        (-32700, true),
        (-32600, true),
        (-32601, true),
        (-32602, true),
        (-32603, false),
        (-32000, false),
        (-32599, false),
        (7, false),
    ] {
        let args = format!(r#"{{"code":{code}}}"#);
        let said = format!("the server answered with error {code}: as you wish");
        let wanted = if is_failed { Outcome::Failed(said.clone()) } else { Outcome::Unknown(said.clone()) };
        assert_eq!(outcome(call(&tools, "code", &args)), wanted);
        assert_eq!(value(call(&tools, "code", &args)), Err(ReadError::Failed(said)));
    }
    // Who cannot read a request cannot name it; there is one that it can be about.
    let nameless = call(&tools, "code", r#"{"code":-32700,"anonymous":true}"#);
    assert!(matches!(outcome(nameless), Outcome::Failed(_)));
}

#[test]
fn a_death_in_the_middle_is_a_lost_connection() {
    if no_python() {
        return;
    }
    for args in ["{}", r#"{"heir":true}"#, r#"{"half":true}"#] {
        let servers = Servers::faulty(&[]);
        let tools = servers.ready();
        let (end, took) = timed(|| call(&tools, "die", args));
        assert!(took < Duration::from_secs(5), "{args} {took:?}");
        let Outcome::Unknown(reason) = outcome(end) else { panic!("unknown") };
        assert!(reason.starts_with("server \"s\" ended (exit status 3)"), "{reason}");
        assert!(reason.ends_with("about to die"), "{reason}");
        let Err(ReadError::Transport(reason)) = value(call(&tools, "t", "{}")) else { panic!("transport") };
        assert!(reason.starts_with("server \"s\" ended (exit status 3)"), "{reason}");
        assert!(matches!(outcome(call(&tools, "t", "{}")), Outcome::NotSent(_)));
        drop(tools);
        servers.assert_gone();
    }
}

#[test]
fn a_dead_server_is_started_again_when_it_is_looked_at() {
    if no_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let servers = Servers::faulty(&["--mark", mark.to_str().unwrap()]);
    let tools = servers.ready();
    let before = tools.definition("s", "t");
    assert!(before.is_some());
    assert!(matches!(call(&tools, "die", "{}"), End::Lost(_)));
    tools.connect("s", &within(Duration::from_secs(20))).unwrap();
    assert_eq!(value_of(call(&tools, "t", "{}")), "\"ok\"");
    // It is another one now, and says so.
    let after = tools.definition("s", "t");
    assert!(after.is_some() && after != before);
    assert_eq!(after, tools.catalog().digest("s", "t"));
    assert_eq!(servers.groups().len(), 2);
    drop(tools);
    servers.assert_gone();
}

#[test]
fn a_change_of_the_tools_is_seen_before_the_next_call() {
    if no_python() {
        return;
    }
    let tools = Servers::faulty(&[]).ready();
    let before = tools.definition("s", "t");
    // The notice stands before the answer on the wire.
    assert_eq!(value_of(call(&tools, "change", "{}")), "\"changed\"");
    let deadline = Instant::now() + Duration::from_secs(10);
    while tools.definition("s", "t") == before {
        assert!(Instant::now() < deadline, "the change is never seen");
        std::thread::yield_now();
    }
    assert_eq!(tools.definition("s", "t"), tools.catalog().digest("s", "t"));
}

#[test]
fn a_deadline_ends_the_call_and_the_server_hears_of_it() {
    if no_python() {
        return;
    }
    let tools = Servers::faulty(&[]).ready();
    let limit = Duration::from_millis(300);
    let (end, took) = timed(|| tools.call("s", spend("never", "{}"), &within(limit)));
    assert!(took >= Duration::from_millis(290) && took < Duration::from_secs(5), "{took:?}");
    let End::TimedOut { sent: true, .. } = &end else { panic!("{end:?}") };
    let Outcome::Unknown(reason) = outcome(end) else { panic!("unknown") };
    assert!(reason.starts_with("no answer within 0."), "{reason}");
    // The server answers this once it was told.
    assert_eq!(value_of(call(&tools, "heard", "{}")), r#"["the deadline passed"]"#);
    let timed_out = value(tools.call("s", spend("never", "{}"), &within(limit)));
    assert!(matches!(timed_out, Err(ReadError::TimedOut(1..=300))), "{timed_out:?}");
    // What came late, or never, is nobody else's answer.
    assert_eq!(value_of(call(&tools, "t", "{}")), "\"ok\"");
}

#[test]
fn a_cancel_ends_the_call_and_the_server_hears_of_it() {
    if no_python() {
        return;
    }
    let tools = Servers::faulty(&[]).ready();
    let cancel = Cancel::new(None);
    let (told, spent) = std::sync::mpsc::channel();
    let end = std::thread::scope(|scope| {
        let call = scope.spawn(|| tools.call("s", telling(spend("never", "{}"), told), &cancel));
        spent.recv().unwrap();
        cancel.cancel();
        call.join().unwrap()
    });
    assert!(matches!(end, End::Cancelled { sent: true }), "{end:?}");
    assert_eq!(value_of(call(&tools, "heard", "{}")), r#"["the run was cancelled or stopped"]"#);
    assert_eq!(value(end), Err(ReadError::Cancelled));
}

/// The executor asks a call to stop at its deadline by the same mark, and may be quicker than the deadline is here.
#[test]
fn a_server_hears_why_nobody_waits_any_more() {
    if no_python() {
        return;
    }
    let reason = |deadline: Duration, give_up: fn(&Cancel)| {
        let tools = Servers::faulty(&[]).ready();
        let cancel = within(deadline);
        let (told, spent) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let call = scope.spawn(|| tools.call("s", telling(spend("never", "{}"), told), &cancel));
            spent.recv().unwrap();
            give_up(&cancel);
            call.join().unwrap()
        });
        value_of(call(&tools, "heard", "{}"))
    };
    let at_its_deadline = |cancel: &Cancel| {
        while !cancel.is_past() {
            std::thread::yield_now();
        }
        cancel.leave();
    };
    assert_eq!(reason(Duration::from_millis(300), at_its_deadline), r#"["the deadline passed"]"#);
    assert_eq!(reason(Duration::from_secs(30), Cancel::leave), r#"["the run goes on without this call"]"#);
}

#[test]
fn a_call_that_nobody_waits_for_is_not_sent() {
    if no_python() {
        return;
    }
    let tools = Servers::faulty(&[]).ready();
    let cancel = Cancel::new(None);
    cancel.cancel();
    let never = || -> crate::transport::calls::Spend { Box::new(|| panic!("must not be spent")) };
    assert!(matches!(tools.call("s", never(), &cancel), End::Cancelled { sent: false }));
    assert!(matches!(outcome(tools.call("s", never(), &cancel)), Outcome::NotSent(_)));
    let late = Cancel::new(Some(Instant::now()));
    assert!(matches!(outcome(tools.call("s", never(), &late)), Outcome::NotSent(_)));
    let nowhere = outcome(tools.call("nobody", never(), &Cancel::new(None)));
    assert_eq!(nowhere, Outcome::NotSent("server \"nobody\" was not started: it was not asked for".into()));
}

#[test]
fn a_permit_that_ended_sends_nothing() {
    if no_python() {
        return;
    }
    let tools = Servers::faulty(&[]).ready();
    let lapsed =
        tools.call("s", Box::new(|| Err("the permit had ended".into())), &within(Duration::from_secs(5)));
    assert_eq!(outcome(lapsed), Outcome::NotSent("the permit had ended".into()));
    let broken = tools.call("s", spend("t", "{\n}"), &within(Duration::from_secs(5)));
    assert_eq!(outcome(broken), Outcome::NotSent("the arguments hold a line break outside of a text".into()));
    assert_eq!(value_of(call(&tools, "t", "{}")), "\"ok\"");
}

#[test]
fn an_answer_over_the_limit_ends_its_call_and_no_other() {
    if no_python() {
        return;
    }
    let mut servers = Servers::faulty(&[]);
    servers.options.line_limit = 100 * 1024;
    let tools = servers.ready();
    assert_eq!(value_of(call(&tools, "oversize", r#"{"kilobytes":99}"#)).len(), 99 * 1024 + 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| value_of(call(&tools, "barrier", r#"{"of":2}"#)));
        let Outcome::Unknown(reason) = outcome(call(&tools, "oversize", r#"{"kilobytes":1000}"#)) else {
            panic!("unknown")
        };
        assert!(reason.starts_with("server \"s\" gave an answer of more than 102400 bytes"), "{reason}");
        assert_eq!(value_of(call(&tools, "barrier", r#"{"of":2}"#)), "\"2\"");
        assert_eq!(other.join().unwrap(), "\"2\"");
    });
}

#[test]
fn an_answer_that_cannot_be_read_is_no_failure_of_the_tool() {
    if no_python() {
        return;
    }
    let tools = Servers::faulty(&[]).ready();
    let raw = r#"{"before":"{\"id\":","after":",\"result\":{]}"}"#;
    let Outcome::Unknown(reason) = outcome(call(&tools, "raw", raw)) else { panic!("unknown") };
    assert!(reason.starts_with("server \"s\" gave an answer that cannot be read: "), "{reason}");
    assert!(matches!(value(call(&tools, "raw", raw)), Err(ReadError::Failed(_))));
    let deep = format!(
        r#"{{"before":"{{\"id\":","after":",\"result\":{{\"structuredContent\":{}{}}}}}"}}"#,
        "[".repeat(5000),
        "]".repeat(5000)
    );
    let Outcome::Unknown(reason) = outcome(call(&tools, "raw", &deep)) else { panic!("unknown") };
    assert!(reason.contains("nested deeper than 128 levels"), "{reason}");
}

#[test]
fn a_server_that_reads_no_more_blocks_nobody() {
    if no_python() {
        return;
    }
    let servers = Servers::faulty(&[]);
    let tools = servers.ready();
    assert_eq!(value_of(call(&tools, "stop-reading", "{}")), "\"ok\"");
    let big = format!(r#"{{"text":"{}"}}"#, "x".repeat(1_000_000));
    let limit = Duration::from_millis(400);
    let (ends, took) = timed(|| {
        // The first fills the pipe and stands half written; the others never leave.
        let first = tools.call("s", spend("t", &big), &within(limit));
        let second = tools.call("s", spend("t", "{}"), &within(limit));
        (first, second)
    });
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(matches!(ends.0, End::TimedOut { sent: true, .. }), "{ends:?}");
    assert!(matches!(outcome(ends.1), Outcome::NotSent(_)));
    let ((), took) = timed(|| drop(tools));
    assert!(took < Duration::from_secs(5), "{took:?}");
    servers.assert_gone();
}
