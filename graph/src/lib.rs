//! The plan as a value: nodes, edges, effects, gates, the card, and the check that every plan must pass.
//!
//! No I/O, no threads, no clock: functions of values.
//!
//! An [`Outline`] is what an author typed. [`lower`](lower::lower) makes a [`Plan`] of it against a
//! [`Catalog`] and a [`Policy`]; [`Plan::to_json`] writes `actions.json`, [`Plan::from_json`] reads it, and
//! [`Plan::verify`] believes nothing in it: its edges were derived again when it was read, its calls are judged again, and
//! both compared.

pub mod card;
pub mod catalog;
pub mod digest;
pub mod effect;
pub mod json;
pub mod lower;
pub mod outline;
pub mod plan;
pub mod policy;
pub mod problem;
pub mod schema;
pub mod template;
pub mod value;
pub mod verify;

pub use catalog::{Catalog, Definition};
pub use digest::{Digest, Document};
pub use effect::{Effect, Evidence};
pub use outline::Outline;
pub use plan::{NodeIx, Plan};
pub use policy::{Author, Policy};
pub use value::Value;
pub use verify::{Documents, ReadCall, VerifiedPlan};
