//! A host without servers: a catalog, tools that answer at once or after a while, and the executor over them.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use plangate_approval::{Outcome, Permit, Person, Storage};
use plangate_compiler::{Options as Compile, compile};
use plangate_executor::{Cancel, Ended, Executor, Options, ReadError, Sentence, Start, Tools, Writer};
use plangate_graph::{Author, Catalog, Digest, Plan, Policy, ReadCall, Value, VerifiedPlan};

/// One server with a tool that reads, one that writes and one that posts.
const TOOLS: &str = r#"{"servers":{"bench":{"tools":[
  {"name":"get","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}},
  {"name":"write","inputSchema":{"type":"object"}},
  {"name":"post","inputSchema":{"type":"object"}}]}}}"#;

/// The tools of all recipes here.
///
/// # Panics
/// Never: the text is a constant.
pub fn catalog() -> Catalog {
    #[expect(clippy::unwrap_used, reason = "a constant that every bench reads")]
    Catalog::from_json(TOOLS).unwrap()
}

/// Compiles a recipe that must be right.
///
/// # Panics
/// If it is not: a bench that measures nothing must not go on.
pub fn plan_of(recipe: &str) -> Plan {
    let (catalog, policy) = (catalog(), Policy::default());
    let compiled = compile(recipe, &Compile::new(&catalog, &policy).author(Author::Person));
    #[expect(clippy::panic, reason = "the recipes of the benches compile")]
    compiled.plan.unwrap_or_else(|| panic!("{:#?}", compiled.diagnostics))
}

/// Compiles and verifies a recipe that must be right.
///
/// # Panics
/// If it is not.
pub fn verified(recipe: &str) -> VerifiedPlan {
    #[expect(clippy::panic, reason = "what was just compiled passes")]
    plan_of(recipe)
        .verify(&catalog(), &Policy::default(), Author::Person)
        .unwrap_or_else(|problems| panic!("{problems:#?}"))
}

/// Tools and writer that answer at once.
#[derive(Debug)]
pub struct Host {
    definitions: [(&'static str, Digest); 3],
}

/// Tools whose reads block their thread for as long as this.
#[derive(Debug)]
pub struct Blocking {
    host: Host,
    takes: Duration,
    slowest: Arc<Mutex<Duration>>,
}

impl Host {
    /// Knows the digests of the [catalog].
    ///
    /// # Panics
    /// Where the catalog lacks a tool that this file names.
    pub fn new() -> Host {
        let catalog = catalog();
        #[expect(clippy::unwrap_used, reason = "the names of the constant above")]
        let definition = |tool| (tool, catalog.digest("bench", tool).unwrap());
        Host { definitions: ["get", "write", "post"].map(definition) }
    }
}

impl Default for Host {
    fn default() -> Host {
        Host::new()
    }
}

impl Blocking {
    /// Each read takes so long.
    pub fn new(takes: Duration) -> Blocking {
        Blocking { host: Host::new(), takes, slowest: Arc::default() }
    }

    /// How long the slowest read took, as the tool itself saw it; as long as it sleeps, and until it is woken.
    pub fn slowest(&self) -> Arc<Mutex<Duration>> {
        Arc::clone(&self.slowest)
    }
}

impl Tools for Host {
    fn definition(&self, _: &str, tool: &str) -> Option<Digest> {
        self.definitions.iter().find(|(name, _)| *name == tool).map(|(_, digest)| *digest)
    }

    fn read(&self, _: ReadCall<'_>, _: &Cancel) -> Result<Value, ReadError> {
        Ok(Value::Bool(true))
    }

    fn effect(&self, permit: Permit, _: &Cancel) -> Outcome {
        match permit.spend() {
            Ok(_) => Outcome::Ok(Value::Bool(true)),
            Err(why) => Outcome::NotSent(why.to_string()),
        }
    }
}

impl Tools for Blocking {
    fn definition(&self, server: &str, tool: &str) -> Option<Digest> {
        self.host.definition(server, tool)
    }

    fn read(&self, call: ReadCall<'_>, cancel: &Cancel) -> Result<Value, ReadError> {
        let begun = Instant::now();
        std::thread::sleep(self.takes);
        let took = begun.elapsed();
        let mut slowest = self.slowest.lock().unwrap_or_else(PoisonError::into_inner);
        *slowest = took.max(*slowest);
        drop(slowest);
        self.host.read(call, cancel)
    }

    fn effect(&self, permit: Permit, cancel: &Cancel) -> Outcome {
        self.host.effect(permit, cancel)
    }
}

impl Writer for Host {
    fn write(&self, _: &Sentence<'_>, _: &Cancel) -> Result<Value, ReadError> {
        Ok(Value::from("written"))
    }
}

/// An executor with default settings.
pub fn executor<S: Storage + 'static>(store: &Arc<S>, tools: impl Tools + 'static) -> Executor<S> {
    Executor::new(Arc::clone(store), Arc::new(tools), Some(Arc::new(Host::new())), Options::default())
}

/// Somebody starts a run without inputs.
pub fn start() -> Start {
    let requester =
        Person { issuer: "bench".into(), subject: "ann".into(), roles: Vec::new(), verified: true };
    Start { inputs: Value::Null, requester, title: "bench".into() }
}

/// A run that must have ended well.
///
/// # Panics
/// If it did not: what failed must not be measured.
pub fn ended(ended: &Ended) {
    assert!(
        matches!(ended, Ended::Done(record) if record.state == plangate_approval::RunState::Done),
        "the run did not end well: {:?}",
        ended.record().state
    );
}
