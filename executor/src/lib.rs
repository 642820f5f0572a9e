//! Runs a verified plan on threads, parks it at its gates, resumes it from the store.
//!
//! The schedule is pure; threads live only in the pool; what a step did is durable before anything that depends on it starts.

pub mod schedule;
pub mod simulate;
pub mod tools;

pub use tools::{Cancel, ReadError, Tools, Writer};
