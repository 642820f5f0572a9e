//! Runs of compiled recipes with scripted tools.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::enum_glob_use,
    clippy::disallowed_methods,
    clippy::format_push_string,
    clippy::return_self_not_must_use,
    missing_docs,
    unreachable_pub,
    reason = "tests, which also play other processes"
)]

mod dying;
mod stage;

mod basics;
mod changes;
mod crash;
mod deadline;
mod failing;
mod golden;
mod leases;
mod limits;
mod overdue;
mod people;
mod repeats;
mod rests;
mod size;
mod stopping;
mod sweep;
mod worked;
