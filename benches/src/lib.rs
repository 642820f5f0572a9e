//! What the benches share: recipes of any size, a host without servers, and how ratios are measured.
//!
//! Numbers that mean something are ratios of things measured in one process, in interleaved rounds: [`rounds`] runs
//! each of several jobs once a round and gives the median of each.

pub mod durable;
mod grammar;
mod host;
mod recipes;
mod rounds;

pub use grammar::match_lines;
pub use host::{Blocking, Host, catalog, ended, executor, plan_of, start, verified};
pub use recipes::{chain, effects, fan, layers, mixed, of_size};
pub use rounds::{Job, median, rounds, time};
