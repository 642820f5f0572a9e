//! The readable history of a run, from its store, at any time.

mod reading;
mod step;
mod times;

use std::cell::RefCell;
use std::sync::Arc;

use plangate_approval::{Person, RunId, RunState, Storage, StoreError, Time};
use plangate_graph::{Digest, Plan, Value};
use serde::{Deserialize, Serialize};

use crate::error::RunError;
use crate::schedule::{Limits, Topology};
use crate::stored::Stored;
use crate::values::{Names, names};
use reading::Reading;
pub use step::{Cause, Decided, Replaced, Step, Word};

/// The history of one run. Written as JSON with these names in this order; absent values are left out.
///
/// A function of what is stored and nothing else, so that every surface shows the same. Durations are milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The run.
    pub run: RunId,
    /// What people call it.
    pub title: String,
    /// Where it stands.
    pub state: RunState,
    /// Why it needs attention, or was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Digest of its plan.
    pub plan: Digest,
    /// Values of the inputs.
    pub inputs: Value,
    /// Who started it.
    pub requester: Person,
    /// Who wrote the recipe, as the host said: `person` or `model`.
    pub author: String,
    /// When it started.
    pub started: Time,
    /// When it last parked or ended.
    pub updated: Time,
    /// How long it was driven, from the start of each drive to the last thing written in it. Without the time in which it
    /// was parked.
    pub wall: u64,
    /// All steps one after the other: the sum of their durations.
    pub sum: u64,
    /// The longest way through the plan by these durations: what no number of workers can beat.
    pub critical_path: CriticalPath,
    /// How long it was parked while a row waited for a person. Outside `wall`.
    pub waited_for_people: u64,
    /// Every node of the plan, in its order.
    pub steps: Vec<Step>,
}

/// The longest way through a run.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CriticalPath {
    /// How long it is.
    pub ms: u64,
    /// The steps on it, in order.
    pub steps: Vec<String>,
}

impl Record {
    /// Reads the record of a run. Linear in the plan and in what was written.
    pub fn read<S: Storage + ?Sized>(store: &S, run: &RunId) -> Result<Record, RunError> {
        let stored = Stored::read(store, run)?;
        let plan = document(store, &stored.run.plan)?;
        let shape = Topology::unverified(&plan).map_err(|e| RunError::Fault(e.to_string()))?;
        Record::over(&stored, &plan, &Arc::new(shape), &names(&plan))
    }

    /// The same for whoever has the stored plan at hand.
    pub(crate) fn over(
        stored: &Stored,
        plan: &Plan,
        shape: &Arc<Topology>,
        names: &Names,
    ) -> Result<Record, RunError> {
        let picture = stored.picture(shape, names)?;
        let schedule = picture.schedule(shape, &Limits::default());
        Reading { stored, plan, shape, names, picture: &picture, last_tool: RefCell::default() }
            .record(&schedule)
    }

    /// The step with this id.
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// The record as JSON, on several lines.
    pub fn to_json(&self) -> Result<String, RunError> {
        serde_json::to_string_pretty(self).map_err(|e| RunError::Fault(e.to_string()))
    }
}

fn document<S: Storage + ?Sized>(store: &S, digest: &Digest) -> Result<Plan, RunError> {
    let bytes = store.document(digest)?;
    let text = String::from_utf8(bytes).map_err(|e| unreadable(&e.to_string()))?;
    Plan::from_json(&text).map_err(|e| unreadable(&e.to_string()))
}

fn unreadable(why: &str) -> RunError {
    RunError::Store(StoreError::NotAllowed(format!("the stored plan cannot be read: {why}")))
}
