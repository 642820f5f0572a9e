//! Readers. What is seen expired for the first time is to be written down, so that it stays so.

use super::{RowsOf, Tables, Verb, apply, run_head};
use crate::row::{Row, RowId, RowState};
use crate::run::{Holder, Run, RunId, StepWrite};
use crate::state::{self, Stored, Tenure};
use crate::storage::StoreError;

/// Rows as they are now, and whether one of them was seen expired that is not written so.
#[derive(Debug)]
pub(crate) struct Sight {
    pub(crate) rows: Vec<Row>,
    pub(crate) lapsed: bool,
}

pub(crate) fn run<T: Tables>(t: &mut T, id: &RunId) -> Verb<Run> {
    let Some(mut run) = t.whole_run(id)? else {
        return Ok(Err(StoreError::NotFound { what: "run", id: id.0.clone() }));
    };
    fill_driven(t, &mut run)?;
    Ok(Ok(run))
}

pub(crate) fn runs<T: Tables>(t: &mut T) -> Result<Vec<Run>, StoreError> {
    let mut runs = t.whole_runs()?;
    runs.iter_mut().try_for_each(|run| fill_driven(t, run))?;
    Ok(runs)
}

/// A run with its steps, and its rows as they are now. Writes nothing.
pub(crate) fn history<T: Tables>(t: &mut T, id: &RunId) -> Verb<(Run, Vec<StepWrite>, Sight)> {
    let run = granted!(run(t, id)?);
    Ok(Ok((run, t.steps(id)?, rows(t, RowsOf::Run(id))?)))
}

/// Rows as they are now. Writes nothing.
pub(crate) fn rows<T: Tables>(t: &mut T, of: RowsOf<'_>) -> Result<Sight, StoreError> {
    let now = t.now();
    let mut deaths = Deaths::default();
    let mut sight = Sight { rows: Vec::new(), lapsed: false };
    for (stored, tenure) in t.rows(of)? {
        let dead = deaths.claimer(t, &stored, &tenure)?;
        sight.lapsed |= state::expire(&stored, now).is_some();
        sight.rows.push(state::read(&stored, &tenure, now, dead));
    }
    if matches!(of, RowsOf::Open) {
        sight.rows.retain(|row| row.state.open());
    }
    Ok(sight)
}

/// The one row that was read.
pub(crate) fn only(rows: Vec<Row>, id: &RowId) -> Result<Row, StoreError> {
    rows.into_iter().next().ok_or_else(|| StoreError::NotFound { what: "row", id: id.0.clone() })
}

/// Rows as they are now; those that lapsed are written down as expired.
pub(crate) fn rows_written_down<T: Tables>(t: &mut T, of: RowsOf<'_>) -> Verb<Vec<Row>> {
    let now = t.now();
    for (stored, _) in t.rows(of)? {
        if let Some(change) = state::expire(&stored, now) {
            let mut head = granted!(run_head(t, &stored.row.run)?);
            apply(t, &mut head, &change)?;
        }
    }
    Ok(rows(t, of).map(|sight| sight.rows))
}

fn fill_driven<T: Tables>(t: &mut T, run: &mut Run) -> Result<(), StoreError> {
    let tenure =
        Tenure { fence: run.fence, holder: run.holder.clone().map(Holder), lease_until: run.lease_until };
    run.driven = match &tenure.holder {
        Some(holder) if tenure.live(t.now()) => !t.dead(holder)?,
        _ => false,
    };
    Ok(())
}

/// What is known of the claimers in one list: each is looked at once.
#[derive(Default)]
struct Deaths(Vec<(Holder, bool)>);

impl Deaths {
    fn claimer<T: Tables>(
        &mut self,
        t: &mut T,
        stored: &Stored,
        tenure: &Tenure,
    ) -> Result<bool, StoreError> {
        let now = t.now();
        let Some(claimer) = stored.claimer.as_ref().filter(|_| stored.row.state == RowState::Claimed) else {
            return Ok(false);
        };
        if !tenure.live(now) {
            return Ok(false); // its lease is over anyway
        }
        if let Some((_, dead)) = self.0.iter().find(|(holder, _)| *holder == claimer.holder) {
            return Ok(*dead);
        }
        let dead = t.dead(&claimer.holder)?;
        self.0.push((claimer.holder.clone(), dead));
        Ok(dead)
    }
}
