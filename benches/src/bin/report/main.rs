//! Prints what plangate costs as ratios of things measured in this one process, medians of interleaved rounds, with what
//! is demanded of each. `report compiling` measures compiling and verifying alone, `report store` the store; `report peers`
//! prints one line a number for the table of peers instead, `report memory fan` what a process takes that runs 100,000 steps, in KiB.

mod compiling;
mod durability;
mod process;
mod running;
mod table;

use plangate_benches::durable::Fallible;
use table::Table;

fn main() -> Fallible<()> {
    let what = std::env::args().nth(1);
    let mut table = Table::default();
    match what.as_deref() {
        None => {
            running::measure(&mut table)?;
            compiling::measure(&mut table)?;
            durability::measure(&mut table)?;
            process::measure(&mut table)?;
            table.print()
        }
        Some("compiling") => {
            compiling::measure(&mut table)?;
            table.print()
        }
        Some("store") => {
            durability::measure(&mut table)?;
            table.print()
        }
        Some("peers") => running::for_peers(),
        Some("memory") => process::memory(&std::env::args().nth(2).unwrap_or_default()),
        Some(other) => Err(format!(
            "{other:?} is nothing that can be reported; there are `compiling`, `store` and `peers`"
        )
        .into()),
    }
}
