//! From a claimed row to the tool and back, through nothing but what is public.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, reason = "tests fail by panicking")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use plangate_approval::row::RowCall;
use plangate_approval::{
    Approvals, Ask, Clock, Lease, MemoryStore, NewRun, Outcome, Permit, Person, RunId, StepState, StepWrite,
    Storage as _, Time,
};
use plangate_executor::{Cancel, Tools as _};
use plangate_graph::policy::Terms;
use plangate_graph::{Digest, Value};
use plangate_mcp_client::{Config, McpTools, Options, Variables};

/// A clock that stands still unless it is moved.
#[derive(Debug)]
struct StandingClock(AtomicI64);

impl Clock for StandingClock {
    fn now(&self) -> Time {
        Time(self.steady())
    }

    fn steady(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// A driven run, and the tools of a server `s`.
struct World {
    clock: Arc<StandingClock>,
    approvals: Approvals<MemoryStore>,
    lease: Lease,
    tools: McpTools,
}

fn world() -> Option<World> {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped: python3 is not installed");
        return None;
    }
    let clock = Arc::new(StandingClock(AtomicI64::new(1_000_000)));
    let approvals = Approvals::new(MemoryStore::with_clock(Arc::<StandingClock>::clone(&clock)).unwrap());
    let run = NewRun {
        id: RunId::random().unwrap(),
        plan: b"{}".to_vec().into(),
        catalog: b"{}".to_vec().into(),
        policy: b"".to_vec().into(),
        inputs: b"{}".to_vec(),
        requester: Person { issuer: "os".into(), subject: "tester".into(), roles: vec![], verified: true },
        author: "person".into(),
        title: "a test".into(),
        hold_siblings: false,
    };
    let lease = approvals.store().start(&run, &approvals.store().holder().unwrap()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers/faulty.py");
    let text = format!(r#"{{"mcpServers":{{"s":{{"command":"python3","args":["{}"]}}}}}}"#, script.display());
    let config = Config::parse(&text, Path::new(".mcp.json"), Variables::none()).unwrap();
    let started = McpTools::start(&config, ["s"], Options::default()).unwrap();
    assert!(started.failed.is_empty(), "{:?}", started.failed);
    Some(World { clock, approvals, lease, tools: started.tools })
}

impl World {
    fn permit(&self, node: &str, tool: &str, args: &str) -> Permit {
        // Not looked up: that would start a dead server again.
        let definition = Digest::of(tool.as_bytes());
        let call = RowCall {
            node: node.into(),
            server: "s".into(),
            origin: None,
            tool: tool.into(),
            definition,
            args: args.into(),
            timeout_ms: 60_000,
        };
        let ask = Ask {
            node: node.into(),
            ask: 0,
            call: Some(call),
            question: None,
            reason: vec![],
            policy: Digest::of(b""),
            terms: Terms::default(),
        };
        let step = StepWrite { node: node.into(), state: StepState::Running, detail: (*b"{}").into() };
        self.approvals.claim_unasked(&self.lease, &ask, "a rule", &step).unwrap()
    }

    fn effect(&self, permit: Permit) -> Outcome {
        self.tools.effect(permit, &Cancel::new(Some(Instant::now() + Duration::from_secs(30))))
    }
}

#[test]
fn the_row_reaches_the_tool_byte_for_byte_with_its_key() {
    let Some(world) = world() else { return };
    let args = r##"{"channel":"#daily","n":1.10,"o":1e2,"p":12345678901234567890123}"##;
    let permit = world.permit("post", "echo", args);
    let key = world.approvals.store().row(permit.row()).unwrap().key;
    let Outcome::Ok(value) = world.effect(permit) else { panic!("ok") };
    let line = value.member("line").and_then(Value::text).unwrap();
    assert!(line.ends_with(&format!(r#""name":"echo","arguments":{args}}}}}{}"#, "\n")), "{line}");
    assert!(line.contains(&format!(r#""plangate/idempotency-key":"{key}""#)), "{line}");
}

#[test]
fn a_permit_that_ended_is_not_sent() {
    let Some(world) = world() else { return };
    let permit = world.permit("post", "echo", "{}");
    world.clock.0.fetch_add(30_001, Ordering::SeqCst);
    let Outcome::NotSent(reason) = world.effect(permit) else { panic!("not sent") };
    assert_eq!(reason, "the permit had ended before the call was sent");
}

#[test]
fn what_is_unknown_is_called_unknown() {
    let Some(world) = world() else { return };
    let Outcome::Failed(reason) = world.effect(world.permit("a", "fail", "{}")) else { panic!("failed") };
    assert_eq!(reason, "no such account (it may have done part)");
    let Outcome::Unknown(reason) = world.effect(world.permit("b", "die", "{}")) else { panic!("unknown") };
    assert!(reason.starts_with("server \"s\" ended (exit status 3)"), "{reason}");
    // The server is gone; what comes now does not leave.
    let Outcome::NotSent(reason) = world.effect(world.permit("c", "t", "{}")) else { panic!("not sent") };
    assert!(reason.starts_with("server \"s\" ended (exit status 3)"), "{reason}");
}
