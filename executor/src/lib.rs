//! Runs a verified plan on threads, parks it at its gates, resumes it from the store.
//!
//! [`Executor::run`] takes a [`VerifiedPlan`](plangate_graph::VerifiedPlan) and nothing else, makes what is independent
//! at the same time, and returns once every step has ended or only people are waited for: it never waits for a person.
//! What was asked is then durable; [`Executor::resume`] goes on from the store, in this process or another.
//!
//! What it does not do: it calls nothing by itself (a host gives [`Tools`] and a [`Writer`]), it decides nothing (that
//! is [`plangate_approval`]'s), and it repeats no call whose outcome is not known.
//!
//! The [schedule] is pure: events in, acts out. Threads live only in the pool. What a step did is durable before
//! anything that depends on it starts.

pub mod schedule;
pub mod simulate;
pub mod tools;

mod check;
mod day;
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
mod stored;
mod values;

pub use edit::{EditError, edit};
pub use error::{ArgumentProblem, RunError};
pub use executor::{Ended, Executor, Present, Start};
pub use inputs::InputProblem;
pub use late::late;
pub use options::{Change, Observer, Options};
pub use record::Record;
pub use tools::{Cancel, ReadError, Sentence, SentenceInput, Tools, Uncertain, Writer};
pub use values::Counted;
