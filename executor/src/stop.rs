//! Stopping from outside, for instance when the process is told to end.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A word to whatever drives runs: no further. Clones share it; it is said once.
///
/// A drive that hears it starts nothing more and asks what is under way to stop. Reads are left, and run again when the
/// run is resumed; of a call that changes something the outcome is recorded if it comes within a moment, else the call is
/// uncertain. Then the run lies in the store and can be [resumed](crate::Executor::resume) by anybody: nothing of it is
/// cancelled. Over within a second or so unless a call does not heed; see [`Options::grace`](crate::Options::grace).
#[derive(Clone, Default)]
pub struct Stop(Arc<Inner>);

#[derive(Default)]
struct Inner {
    stopped: AtomicBool,
    driven: Mutex<Vec<Weak<dyn Driven>>>,
}

/// A drive of this process that can be told to look.
pub(crate) trait Driven: Send + Sync {
    fn poke(&self);
}

impl Stop {
    /// Nothing is stopped yet.
    pub fn new() -> Stop {
        Stop::default()
    }

    /// Stops every drive that has this handle in its [options](crate::Options::stop), now and from now on. Does not wait
    /// for them. Not to be called from within a signal handler: it takes locks.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Release);
        let driven: Vec<_> = self.driven().iter().filter_map(Weak::upgrade).collect();
        for drive in driven {
            drive.poke();
        }
    }

    /// Whether it was said.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Acquire)
    }

    /// From now on the drive is told.
    pub(crate) fn tells(&self, drive: Weak<dyn Driven>) {
        let mut driven = self.driven();
        driven.retain(|drive| drive.strong_count() > 0);
        driven.push(drive);
    }

    fn driven(&self) -> std::sync::MutexGuard<'_, Vec<Weak<dyn Driven>>> {
        self.0.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop").field("stopped", &self.is_stopped()).finish_non_exhaustive()
    }
}
