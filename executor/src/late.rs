//! A word that comes after the deadline of a call, when no thread waits for it any more.

use plangate_approval::row::Claim;
use plangate_approval::{Outcome, Row, StepState, Storage, StoreError};

use crate::error::RunError;
use crate::journal::Read;

/// Records what the claimer of a call learnt after its deadline. It counts while nobody has settled the row; after that it
/// is kept as an event. A run that is driven takes it up when it is [noticed](crate::Executor::notice), one that is
/// parked when it is resumed.
pub fn late<S: Storage + ?Sized>(store: &S, claim: &Claim, outcome: &Outcome) -> Result<Row, RunError> {
    let row = store.row(&claim.row)?;
    let node = row.call.as_ref().map_or(&row.node, |call| &call.node);
    let (state, error) = match outcome {
        Outcome::Ok(_) => (StepState::Done, None),
        Outcome::Failed(why) | Outcome::NotSent(why) => (StepState::Failed, Some(why.clone())),
        Outcome::Unknown(why) => (StepState::Uncertain, Some(why.clone())),
    };
    let steps = store.steps(&row.run)?;
    let step = steps.iter().find(|step| *step.node == **node);
    let step = step.ok_or_else(|| StoreError::NotFound { what: "step", id: node.clone() })?;
    let detail = Read { error, ..Read::of(step)? };
    Ok(store.outcome(&claim.row, &claim.nonce, outcome, &detail.write(&step.node, state)?)?)
}
