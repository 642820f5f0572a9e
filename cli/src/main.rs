//! The `plangate` command.

mod args;
mod config;
mod exit;
mod fault;
mod inputs;
mod nearest;
mod output;
mod project;
mod render;
mod who;
mod writer;

fn main() {}
