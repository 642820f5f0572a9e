//! `plangate demo-server`: one of the demo's MCP servers.

use crate::args::DemoServerArgs;
use crate::demo::{DemoError, NAMES, serve as serve_demo};
use crate::exit::Exit;
use crate::fault::Fault;
use crate::nearest::nearest;

/// Serves until standard input ends.
pub(crate) fn serve(args: &DemoServerArgs) -> Result<Exit, Fault> {
    match serve_demo(&args.name) {
        Ok(()) => Ok(Exit::Done),
        Err(error @ DemoError::Unknown(_)) => {
            let fault = Fault::new(Exit::Usage, "demo-server", error.to_string());
            Err(match nearest(&args.name, NAMES) {
                Some(meant) => fault.help(format!("did you mean {meant}?")),
                None => fault,
            })
        }
        Err(error) => Err(Fault::new(Exit::Server, "demo-server", error.to_string())),
    }
}
