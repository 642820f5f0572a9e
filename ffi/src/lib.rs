//! The C ABI. What it promises stands at the top of its header, `include/plangate.h`, which is generated from this crate.
//!
//! The only crate with `unsafe`. It is kept to three places: [`caller`] reads what a C caller hands in and writes what it
//! gets back, [`host`] calls the caller's functions, and each exported function enters the one [boundary](guard).
//! A handle is a number in the clothes of a pointer: it is looked up, never followed, so that a freed or a foreign
//! one is an error and not a crash.
#![allow(non_camel_case_types, reason = "the types are named as C names them")]

mod answer;
mod approval;
mod caller;
mod calls;
mod document;
mod events;
mod failure;
mod guard;
mod handle;
mod host;
mod lookups;
mod plan;
mod run;
mod stack;
mod status;
mod store;
mod tools;
mod version;
mod view;

pub use approval::{
    plangate_approval_get, plangate_approval_list, plangate_approve, plangate_reject, plangate_settle,
};
pub use caller::{plangate_buf, plangate_buf_free};
pub use calls::{PLANGATE_ANSWERED, PLANGATE_LATER, plangate_answer, plangate_cancelled};
pub use events::plangate_events;
pub use host::{plangate_host, plangate_reconcile_fn, plangate_tool_fn};
pub use lookups::{PLANGATE_RECONCILE_LATER, plangate_reconciled};
pub use plan::{
    plangate_compile, plangate_compile_as, plangate_plan, plangate_plan_actions, plangate_plan_card,
    plangate_plan_free, plangate_plan_load, plangate_plan_load_as,
};
pub use run::{plangate_cancel, plangate_resume, plangate_run, plangate_run_list, plangate_run_record};
pub use status::*;
pub use store::{plangate_store, plangate_store_free, plangate_store_open};
pub use version::{PLANGATE_ABI_VERSION, plangate_abi_version, plangate_version};
