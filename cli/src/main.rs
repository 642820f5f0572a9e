//! The `plangate` command.
fn main() {}
