//! The pure schedule: each rule by hand, all rules against a model that is too slow to be wrong.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::enum_glob_use,
    clippy::return_self_not_must_use,
    missing_docs,
    unreachable_pub,
    reason = "tests"
)]

mod chart;
mod joins;
mod model;
mod properties;
mod rules;
mod size;
