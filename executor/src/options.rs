//! What a host decides about running, and what it is told while a run goes on.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use plangate_approval::{RunId, StepState};

use crate::stop::Stop;

/// How runs are run. The default runs everything at once that is ready.
#[derive(Clone)]
pub struct Options {
    /// Calls at once, in one run; nothing: as many as the plan has steps, at most [`Options::MOST_WORKERS`].
    pub workers: Option<usize>,
    /// Calls at once to one server, by its name; a server that is not named has no cap.
    pub caps: BTreeMap<String, usize>,
    /// How long a call may take whose step has no `timeout:`, from its dispatch.
    pub timeout: Duration,
    /// While a row of a run is pending, no call of it is claimed. Kept with the run when it starts.
    pub hold_siblings: bool,
    /// How long one drive of a run may take, from where it starts or is resumed; nothing: as long as it takes. Past it
    /// nothing more starts, and what is under way is asked to stop. The time in which a run is parked is no part of it.
    pub deadline: Option<Duration>,
    /// Stops the drives of this executor from outside.
    pub stop: Option<Stop>,
    /// How many calls that did not answer in time may still occupy threads. Beyond that, further steps fail at once.
    pub most_abandoned: usize,
    /// How long a run that returns waits for such threads, and a cancelled read for its answer.
    pub grace: Duration,
    /// How long a host may take to say what it knows of uncertain calls.
    pub reconcile: Duration,
    /// Told of each step's change.
    pub observer: Option<Arc<dyn Observer>>,
}

/// Is told what happens in a run. Called by the threads of the run, one at a time and in order: return quickly, and call
/// nothing of the executor.
pub trait Observer: Send + Sync {
    /// The run is stored and driven from here on.
    fn started(&self, run: &RunId) {
        let _ = run;
    }
    /// A node changed its state.
    fn changed(&self, change: &Change<'_>);
}

/// A change of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    /// The run.
    pub run: &'a RunId,
    /// Id of the node.
    pub node: &'a str,
    /// Its state now.
    pub state: StepState,
    /// Milliseconds since this drive of the run began.
    pub at_ms: u64,
    /// Why it failed or is uncertain; of a blocked or skipped node, what it was that it did not get.
    pub why: Option<&'a str>,
}

impl Options {
    /// As many threads as a run takes by itself.
    pub const MOST_WORKERS: usize = 1_024;
}

impl Default for Options {
    fn default() -> Options {
        Options {
            workers: None,
            caps: BTreeMap::new(),
            timeout: Duration::from_secs(60),
            hold_siblings: false,
            deadline: None,
            stop: None,
            most_abandoned: 64,
            grace: Duration::from_secs(1),
            reconcile: Duration::from_secs(10),
            observer: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("workers", &self.workers)
            .field("caps", &self.caps)
            .field("timeout", &self.timeout)
            .field("hold_siblings", &self.hold_siblings)
            .field("deadline", &self.deadline)
            .field("stop", &self.stop)
            .field("most_abandoned", &self.most_abandoned)
            .field("grace", &self.grace)
            .field("reconcile", &self.reconcile)
            .field("observer", &self.observer.is_some())
            .finish()
    }
}
