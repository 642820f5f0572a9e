//! A permit cannot be made up, not even from another: only a claim makes one.

use plangate_approval::Permit;

fn forge(permit: Permit) -> Permit {
    Permit { ..permit }
}

fn main() {}
