//! The store of runs and approvals, and the life of a row.
//!
//! A row is the stored approval behind a gate: tool, exact arguments, deadline, votes, claim, outcome. Store authors
//! implement [`Storage`] and return plain data; only [`Approvals`] turns a claim that was won into a [`Permit`].

pub mod approvals;
pub mod audit;
pub mod clock;
pub mod event;
pub mod memory;
pub mod outcome;
pub mod permit;
mod random;
pub mod row;
pub mod run;
mod shared;
pub mod sqlite;
pub mod state;
pub mod storage;
mod verbs;

pub use approvals::{Approvals, Ask};
pub use clock::{Clock, SystemClock, Time};
pub use memory::MemoryStore;
pub use outcome::Outcome;
pub use permit::Permit;
pub use row::{Claim, Decision, NewRow, Person, Row, RowId, RowState};
pub use run::{Holder, Lease, NewRun, Run, RunId, RunState, StepState, StepWrite};
pub use sqlite::SqliteStore;
pub use storage::{Fault, Storage, StoreError};
