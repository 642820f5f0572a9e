//! A permit is gone once it is spent, or handed to a tool.

use plangate_approval::{Outcome, Permit};
use plangate_executor::{Cancel, Tools};

fn spent(permit: Permit) {
    let _ = permit.spend();
    let _ = permit.spend();
}

fn handed_on(tools: &dyn Tools, permit: Permit) -> Outcome {
    let _ = tools.effect(permit, &Cancel::new(None));
    tools.effect(permit, &Cancel::new(None))
}

fn main() {}
