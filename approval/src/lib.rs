//! The store of runs and approvals, and the life of a row.
//!
//! A **row** is the stored approval behind a gate: tool, exact arguments, deadline, votes, claim, outcome. A store offers
//! verbs ([`Storage`]), each one atomic and durable when it returns; [`MemoryStore`] and [`SqliteStore`] are two. What the
//! verbs decide stands in [`state`] as functions of values. Store authors return plain data; only [`Approvals`] turns a
//! claim that was won into a [`Permit`], the one thing that a call which changes something can be made with.
//!
//! What it deliberately does not do: start threads, sweep, retry a call, or guess what became of one. A call whose outcome
//! was not recorded is *uncertain* until a person says what happened.
//!
//! ```
//! use plangate_approval::{Approvals, Ask, Decision, MemoryStore, NewRun, Outcome, Person, RowState};
//! use plangate_approval::{RunId, StepState, StepWrite, Storage, row::RowCall};
//! use plangate_graph::{Digest, Value, policy::Terms};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let approvals = Approvals::new(MemoryStore::new()?);
//! let store = approvals.store();
//! let ann = Person { issuer: "os".into(), subject: "ann".into(), roles: vec![], verified: true };
//!
//! // A driver starts a run, and asks.
//! let lease = store.start(
//!     &NewRun {
//!         id: RunId::random()?,
//!         plan: b"{}".to_vec().into(),
//!         catalog: b"{}".to_vec().into(),
//!         policy: b"".to_vec().into(),
//!         inputs: b"{}".to_vec(),
//!         requester: ann.clone(),
//!         author: "person".into(),
//!         title: "morning.recipe".into(),
//!         hold_siblings: false,
//!     },
//!     &store.holder()?,
//! )?;
//! let definition = Digest::of(b"the tool's definition");
//! let ask = Ask {
//!     node: "post/gate".into(),
//!     ask: 0,
//!     call: Some(RowCall {
//!         node: "post".into(),
//!         server: "slack".into(),
//!         origin: None,
//!         tool: "post".into(),
//!         definition,
//!         args: br#"{"text":"good morning"}"#.to_vec(),
//!         timeout_ms: 60_000,
//!     }),
//!     question: None,
//!     reason: vec!["sends".into()],
//!     policy: Digest::of(b""),
//!     terms: Terms::default(),
//! };
//! let step = |state| StepWrite { node: "post".into(), state, detail: (*b"{}").into() };
//! let row = approvals.ask(&lease, &ask, &[step(StepState::Pending)])?;
//!
//! // Somebody decides what was shown.
//! let yes = Decision { row: row.id.clone(), seen: row.digest, by: ann, yes: true, reason: None };
//! assert_eq!(approvals.decide(&yes)?.state, RowState::Approved);
//!
//! // The driver claims, calls, and says what came of it.
//! let permit = approvals.claim(&lease, &row, definition, &step(StepState::Running))?;
//! let claim = permit.claim().clone();
//! let call = permit.spend()?;
//! assert_eq!(call.args(), br#"{"text":"good morning"}"#);
//! let row = approvals.outcome(&claim, &Outcome::Ok(Value::Null), &step(StepState::Done))?;
//! assert_eq!(row.state, RowState::Succeeded);
//! # Ok(())
//! # }
//! ```

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
pub use outcome::{Outcome, Reconciled};
pub use permit::Permit;
pub use row::{Claim, Decision, Edit, Edited, NewRow, Person, Row, RowId, RowState};
pub use run::{Holder, Lease, NewRun, Run, RunId, RunState, StepState, StepWrite};
pub use sqlite::SqliteStore;
pub use storage::{Accepted, Fault, Storage, StoreError};
