//! The `plangate` command.

mod demo;

use std::io::Write as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = args.iter().map(String::as_str).collect();
    let failure = match words.as_slice() {
        ["demo-server", name] => match demo::serve(name) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => error.to_string(),
        },
        _ => format!("usage: plangate demo-server {}", demo::NAMES.join("|")),
    };
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "plangate: {failure}");
    ExitCode::from(2)
}
