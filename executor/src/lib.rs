//! Runs a verified plan on threads, parks it at its gates, resumes it from the store.
//!
//! [`Executor::run`] takes a [`VerifiedPlan`](plangate_graph::VerifiedPlan) and nothing else, makes what is independent
//! at the same time, and returns once every step has ended or only people are waited for: it never waits for a person.
//! What was asked is then durable; [`Executor::resume`] goes on from the store, in this process or another.
//!
//! What it does not do: it calls nothing by itself (a host gives [`Tools`] and a [`Writer`]), it decides nothing (that
//! is [`plangate_approval`]'s), and it repeats no call whose outcome is not known.
//!
//! ```
//! use std::sync::Arc;
//!
//! use plangate_approval::memory::MemoryStore;
//! use plangate_approval::{Outcome, Permit, Person, RunState};
//! use plangate_compiler::compile;
//! use plangate_executor::{Cancel, Ended, Executor, Options, ReadError, Start, Tools};
//! use plangate_graph::{Author, Catalog, Digest, Policy, ReadCall, Value};
//!
//! struct Mailbox(Catalog);
//!
//! impl Tools for Mailbox {
//!     fn definition(&self, server: &str, tool: &str) -> Option<Digest> {
//!         self.0.digest(server, tool)
//!     }
//!     fn read(&self, _: ReadCall<'_>, _: &Cancel) -> Result<Value, ReadError> {
//!         Ok(Value::from("three letters"))
//!     }
//!     fn effect(&self, permit: Permit, _: &Cancel) -> Outcome {
//!         match permit.spend() {
//!             Ok(call) => Outcome::Ok(Value::from(format!("{} was called", call.tool()))),
//!             Err(lapsed) => Outcome::NotSent(lapsed.to_string()),
//!         }
//!     }
//! }
//!
//! let catalog = Catalog::from_json(
//!     r#"{"servers": {"mail": {"tools": [{"name": "list_letters", "inputSchema": {"type": "object"}},
//!                                        {"name": "send_letter", "inputSchema": {"type": "object"}}]}}}"#,
//! )?;
//! let policy = Policy::default();
//! let recipe = "then:\n  letters: mail.list_letters {}\n  answer: mail.send_letter {\"text\":\"{letters}, thanks\"}\n";
//! let compiled = compile(recipe, &plangate_compiler::Options::new(&catalog, &policy));
//! let plan = compiled.plan.ok_or("no plan")?.verify(&catalog, &policy, Author::Model).map_err(|_| "refused")?;
//!
//! let store = Arc::new(MemoryStore::new()?);
//! let executor = Executor::new(store, Arc::new(Mailbox(catalog)), None, Options::default());
//! let requester = Person { issuer: "os".into(), subject: "ann".into(), roles: vec![], verified: true };
//! let ended = executor.run(&plan, Start { inputs: Value::Null, requester, title: "letters".into() })?;
//!
//! let Ended::Parked { waiting, record, .. } = ended else { return Err("it was not asked".into()) };
//! assert_eq!(record.state, RunState::Parked);
//! assert_eq!(waiting[0].call.as_ref().map(|call| call.args.as_slice()), Some(&br#"{"text":"three letters, thanks"}"#[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The [schedule] is pure: events in, acts out. Threads live only in the pool. What a step did is durable before
//! anything that depends on it starts.

pub mod schedule;
pub mod simulate;
pub mod tools;

mod check;
mod drive;
mod edit;
mod error;
mod executor;
mod gate;
mod inputs;
mod journal;
mod late;
mod options;
mod pool;
pub mod record;
mod resume;
mod stop;
mod stored;
mod values;

pub use edit::{EditError, edit};
pub use error::{ArgumentProblem, RunError};
pub use executor::{Ended, Executor, Present, Start};
pub use inputs::InputProblem;
pub use late::late;
pub use options::{Change, Observer, Options};
pub use record::Record;
pub use stop::Stop;
pub use tools::{Cancel, ReadError, Sentence, SentenceInput, Tools, Uncertain, Writer};
pub use values::Counted;
