//! Work on a stack of our own.
//!
//! Whoever calls may stand on any stack: a coroutine's, one that a foreign function library has laid out on the heap (128 KiB is
//! what one of them takes), or a thread's that is very small. Compiling and verifying plans, with the schemas and patterns
//! of their tools, need more than that; everything else needs less than half of it.

use std::panic::resume_unwind;

use crate::failure::Failure;
use crate::status::PLANGATE_E_PANIC;

const SIZE: usize = 8 << 20;

/// Does this on a thread that has ended when it returns.
pub(crate) fn own_stack<T: Send>(work: impl FnOnce() -> Result<T, Failure> + Send) -> Result<T, Failure> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("plangate".to_owned()).stack_size(SIZE);
        match thread.spawn_scoped(scope, work) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(e) => Err(Failure::new(PLANGATE_E_PANIC, format!("no thread could be started: {e}"))),
        }
    })
}
