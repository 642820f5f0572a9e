//! The morning recipe without its servers, as a process of its own: opens a store, compiles, verifies, runs to its gate.
//!
//! Writes `called` at the first call and, at the end, the peak of its memory in KiB. Started by `report`, with the path of
//! the store, of the recipe and of a catalog.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plangate_approval::{Outcome, Permit, Person, SqliteStore};
use plangate_benches::Host;
use plangate_benches::durable::Fallible;
use plangate_compiler::{Options as Compile, compile};
use plangate_executor::{Cancel, Ended, Executor, Options, ReadError, Start, Tools};
use plangate_graph::{Author, Catalog, Digest, Policy, ReadCall, Value};

fn main() -> Fallible<()> {
    let mut paths = std::env::args_os().skip(1);
    let mut next = || paths.next().ok_or("usage: morning STORE RECIPE CATALOG");
    let (store, recipe, catalog) = (next()?, next()?, next()?);
    let recipe = std::fs::read_to_string(recipe)?;
    let catalog = Catalog::from_json(&std::fs::read_to_string(catalog)?)?;
    let policy = Policy::default();
    let compiled = compile(&recipe, &Compile::new(&catalog, &policy).author(Author::Person));
    let plan = compiled.plan.ok_or_else(|| format!("{:#?}", compiled.diagnostics))?;
    let plan = plan.verify(&catalog, &policy, Author::Person).map_err(|p| format!("{p:#?}"))?;
    let store = Arc::new(SqliteStore::open(store)?);
    let tools = Arc::new(FirstCall { catalog, said: AtomicBool::new(false) });
    let executor = Executor::new(store, tools, Some(Arc::new(Host::new())), Options::default());
    let requester =
        Person { issuer: "bench".into(), subject: "ann".into(), roles: Vec::new(), verified: true };
    let start = Start { inputs: Value::Null, requester, title: "morning".into() };
    let Ended::Parked { .. } = executor.run(&plan, start)? else { return Err("it did not park".into()) };
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB");
    say(peak.trim().trim_end_matches(" kB"))?;
    Ok(())
}

fn say(line: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}

/// Says when it is called for the first time.
struct FirstCall {
    catalog: Catalog,
    said: AtomicBool,
}

impl Tools for FirstCall {
    fn definition(&self, server: &str, tool: &str) -> Option<Digest> {
        self.catalog.digest(server, tool)
    }

    fn read(&self, _: ReadCall<'_>, _: &Cancel) -> Result<Value, ReadError> {
        if !self.said.swap(true, Ordering::Relaxed) {
            say("called").map_err(|e| ReadError::Failed(e.to_string()))?;
        }
        Ok(Value::Null)
    }

    fn effect(&self, _: Permit, _: &Cancel) -> Outcome {
        Outcome::NotSent("nobody approves here".to_owned())
    }
}
