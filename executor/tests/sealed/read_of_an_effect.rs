//! A read cannot be made up: its fields are private, and only a verified plan makes one.

use plangate_executor::{Cancel, Tools};
use plangate_graph::ReadCall;

fn forge(tools: &dyn Tools) {
    let call = ReadCall { server: "db", tool: "drop", args: Vec::new() };
    let _ = tools.read(call, &Cancel::new(None));
}

fn main() {}
