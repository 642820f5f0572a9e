//! A permit cannot be copied.

use plangate_approval::Permit;

fn twice(permit: &Permit) -> Permit {
    permit.clone()
}

fn main() {}
