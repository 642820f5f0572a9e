//! Interrupted: the first signal stops the drive and leaves the run in the store, the second ends the process.

use std::sync::{Arc, OnceLock};

use plangate_executor::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::Exit;
use crate::fault::Fault;
use crate::output::Output;

/// What stops the drives of this process. From the first call on it listens for SIGINT and SIGTERM.
pub(crate) fn stop(output: &Arc<Output>) -> Result<Stop, Fault> {
    static STOP: OnceLock<Stop> = OnceLock::new();
    if let Some(stop) = STOP.get() {
        return Ok(stop.clone());
    }
    let fault = |e: std::io::Error| {
        Fault::new(Exit::Internal, "internal", format!("signals cannot be listened for: {e}"))
    };
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(fault)?;
    let stop = STOP.get_or_init(Stop::new).clone();
    let (told, output) = (stop.clone(), Arc::clone(output));
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                if told.is_stopped() {
                    // As a process ends that does not listen.
                    std::process::exit(128 + signal);
                }
                output.remark("stopping; once more ends it at once\n");
                told.stop();
            }
        })
        .map_err(fault)?;
    Ok(stop)
}
