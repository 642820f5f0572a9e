//! Stories end to end, through the real binary and the public crates.
