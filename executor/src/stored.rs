//! What is known of a run from its store: documents, steps and rows, as one picture.
//!
//! For a call with a row the row is the truth, and its step follows from it. Of every other step what was written
//! counts. What was under way and had not ended is not known; whoever goes on runs it again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use plangate_approval::storage::History;
use plangate_approval::{Row, RowState, Run, RunId, StepState, StepWrite, Storage, Time};
use plangate_graph::plan::NodeKind;
use plangate_graph::value::Object;
use plangate_graph::{NodeIx, Plan, Value};

use crate::drive::{Restore, last_rows, result_of};
use crate::error::RunError;
use crate::journal::{Read, value};
use crate::schedule::{Kind, Limits, Restored, Schedule, Table, Topology};
use crate::values::{Names, Values};

/// What is stored of a run.
pub(crate) struct Stored {
    pub(crate) run: Run,
    pub(crate) inputs: Object,
    /// All rows, in the order they were asked.
    pub(crate) rows: Vec<Row>,
    steps: Vec<StepWrite>,
}

/// What that says of each node.
pub(crate) struct Picture<'a> {
    pub(crate) states: Table<Option<StepState>>,
    pub(crate) details: Table<Option<Read<'a>>>,
    /// What checks answered.
    answers: Table<Option<bool>>,
    /// How long each node took, in microseconds.
    pub(crate) durations: Table<u64>,
    /// The drives by number.
    pub(crate) drives: BTreeMap<u64, Span>,
    pub(crate) last: HashMap<NodeIx, Row>,
    pub(crate) standings: Table<Option<Restored>>,
    /// The run goes on: a row of it that is cancelled all the same was asked under what has changed since.
    goes_on: bool,
}

/// From when to when a drive went.
pub(crate) struct Span {
    pub(crate) began: Time,
    /// The last thing written in it, in its microseconds.
    pub(crate) last: u64,
}

impl Span {
    pub(crate) fn end(&self) -> Time {
        Time(self.began.0.saturating_add_unsigned(self.last / 1_000))
    }
}

impl Stored {
    pub(crate) fn read<S: Storage + ?Sized>(store: &S, run: &RunId) -> Result<Stored, RunError> {
        let History { run, steps, rows } = store.history(run)?;
        let Ok(Value::Object(inputs)) = Value::parse_bytes(&run.inputs) else {
            return Err(RunError::Fault(format!("the stored inputs of run {} are no object", run.id)));
        };
        Ok(Stored { run, inputs, rows, steps })
    }

    /// Lays steps and rows over the nodes of the plan.
    pub(crate) fn picture(&self, shape: &Topology, names: &Names) -> Result<Picture<'_>, RunError> {
        let nodes = shape.len();
        let mut picture = Picture {
            states: Table(vec![None; nodes]),
            details: Table((0..nodes).map(|_| None).collect()),
            answers: Table(vec![None; nodes]),
            durations: Table(vec![0; nodes]),
            drives: BTreeMap::new(),
            last: last_rows(names, self.rows.clone()).into_iter().collect(),
            standings: Table(vec![None; nodes]),
            goes_on: self.run.cancel_at.is_none() && !self.run.state.ended(),
        };
        let mut last = NodeIx(0);
        for step in &self.steps {
            if let Some(ix) = names.after(last, &step.node) {
                picture.lay(ix, step.state, Read::of(step)?);
                last = ix;
            }
        }
        for ix in shape.indices() {
            picture.standings[ix] = picture.standing(shape, ix);
        }
        Ok(picture)
    }
}

impl<'a> Picture<'a> {
    /// Lays one step over its node. What is asked of many nodes again is noted here, while its detail is at hand.
    fn lay(&mut self, ix: NodeIx, state: StepState, detail: Read<'a>) {
        self.states[ix] = Some(state);
        self.answers[ix] = detail.answer;
        if let (Some(started), Some(ended)) = (detail.started, detail.ended) {
            self.durations[ix] = ended.saturating_sub(started);
        }
        let drive = self.drives.entry(detail.drive).or_insert(Span { began: detail.began, last: 0 });
        drive.last = drive.last.max(detail.at);
        self.details[ix] = Some(detail);
    }

    /// How a node stands if it has ended or waits for people.
    fn standing(&self, shape: &Topology, ix: NodeIx) -> Option<Restored> {
        match *shape.kind(ix) {
            Kind::Gate { call } => self.gate(ix, call),
            Kind::Ask => match self.last.get(&ix) {
                Some(row) => self.by_row(row, ix),
                None => self.written(ix),
            },
            Kind::Call { .. } => self.call(shape, ix),
            _ => self.written(ix),
        }
    }

    /// What was written of a node that ended.
    fn written(&self, ix: NodeIx) -> Option<Restored> {
        let state = self.states[ix].filter(|state| state.ended())?;
        let answer = self.answers[ix];
        let done = state == StepState::Done;
        Some(Restored { state, value: done && answer.is_none(), yes: done && answer != Some(false) })
    }

    /// The state of a gate or question, which its row decides.
    fn by_row(&self, row: &Row, ix: NodeIx) -> Option<Restored> {
        let state = match row.state {
            RowState::Pending => StepState::Pending,
            RowState::Rejected => StepState::Rejected,
            RowState::Expired => StepState::Expired,
            RowState::Cancelled if self.goes_on => return self.written(ix),
            RowState::Cancelled => StepState::Cancelled,
            // A person said that its call did not happen: it is asked again, unless that went wrong already.
            RowState::DidNot => return self.written(ix),
            _ => StepState::Done,
        };
        Some(Restored { state, value: false, yes: state == StepState::Done })
    }

    fn gate(&self, gate: NodeIx, call: NodeIx) -> Option<Restored> {
        if let Some(row) = self.last.get(&gate) {
            return self.by_row(row, gate);
        }
        // Policy let the call through with its final arguments: then the call has a row of its own.
        match self.last.get(&call) {
            Some(row) if row.state != RowState::DidNot => {
                Some(Restored { state: StepState::Done, value: false, yes: true })
            }
            Some(_) => None,
            // Or it was let through and then not sent.
            None => self.written(gate).or_else(|| {
                self.written(call)?;
                Some(Restored { state: StepState::Done, value: false, yes: true })
            }),
        }
    }

    fn call(&self, shape: &Topology, ix: NodeIx) -> Option<Restored> {
        // Of a call without a claim, or settled as not having happened, what was written since counts, for instance that it
        // could not be sent. That it is done does not: only what came of a claim says so.
        let unclaimed = || self.written(ix).filter(|written| written.state != StepState::Done);
        let Some((row, own)) = self.row_of(shape, ix) else { return unclaimed() };
        let (state, value) = match row.state {
            RowState::Claimed | RowState::Uncertain => (StepState::Uncertain, false),
            RowState::Succeeded => (StepState::Done, true),
            RowState::Happened => {
                (StepState::Done, row.settled.as_ref().is_some_and(|settled| settled.value.is_some()))
            }
            RowState::Failed => (StepState::Failed, false),
            RowState::Pending if own => (StepState::Pending, false),
            RowState::Rejected if own => (StepState::Rejected, false),
            RowState::Expired if own => (StepState::Expired, false),
            RowState::Cancelled if own && !self.goes_on => (StepState::Cancelled, false),
            _ => return unclaimed(),
        };
        Some(Restored { state, value, yes: false })
    }

    /// The row that a call follows from: that of its gate, or its own; and whether it is its own.
    pub(crate) fn row_of(&self, shape: &Topology, ix: NodeIx) -> Option<(&Row, bool)> {
        let gate = match shape.kind(ix) {
            Kind::Call { gate, .. } => *gate,
            _ => None,
        };
        let at_gate = gate.and_then(|gate| self.last.get(&gate)).map(|row| (row, false));
        at_gate.or_else(|| self.last.get(&ix).map(|row| (row, true)))
    }

    /// Why a node failed or is not known. Of a call whose outcome is recorded, or which a person settled, that alone
    /// counts, whatever was written of the step before; what is decided anew has no error.
    pub(crate) fn error(&self, shape: &Topology, ix: NodeIx) -> Option<String> {
        self.standings[ix]?;
        let row = match shape.kind(ix) {
            Kind::Call { .. } => self.row_of(shape, ix).map(|(row, _)| row),
            _ => None,
        };
        match row.filter(|row| row.claim.is_some() && (row.outcome.is_some() || row.settled.is_some())) {
            Some(row) => result_of(row).1,
            None => self.details[ix].as_ref().and_then(|detail| detail.error.clone()),
        }
    }

    /// Everything a drive goes on from.
    pub(crate) fn restore(
        &self,
        plan: &Plan,
        shape: &Arc<Topology>,
        names: &Names,
        inputs: Object,
        limits: &Limits,
    ) -> Result<Restore, RunError> {
        let mut values = Values::new(inputs, shape.len());
        let mut errors = HashMap::new();
        let mut claims = HashMap::new();
        for ix in shape.indices() {
            let detail = self.details[ix].as_ref();
            errors.extend(self.error(shape, ix).map(|error| (ix, error)));
            if let Some(raw) = detail.and_then(|d| d.result) {
                values.set(ix, value(names.id(ix), raw)?);
            }
            if let NodeKind::Call { .. } = plan.node(ix).kind
                && let Some((row, _)) = self.row_of(shape, ix)
                && row.claim.is_some()
            {
                claims.insert(ix, row.id.clone());
                if let (Some(value), _) = result_of(row) {
                    values.set(ix, value);
                }
            }
            if let Some(list) = detail.and_then(|d| d.list.as_ref()) {
                let list = list.iter().filter_map(|c| Some((names.get(&c.step)?, c.clone()))).collect();
                values.freeze(ix, list);
            }
        }
        let in_flight = shape.indices().filter(|ix| {
            matches!(shape.kind(*ix), Kind::Read { .. }) && self.states[*ix] == Some(StepState::Running)
        });
        Ok(Restore {
            in_flight: in_flight.collect(),
            schedule: self.schedule(shape, limits),
            values,
            errors,
            rows: self.last.clone(),
            claims,
        })
    }

    /// A schedule that stands where the run stands.
    pub(crate) fn schedule(&self, shape: &Arc<Topology>, limits: &Limits) -> Schedule {
        Schedule::resumed(shape, limits, |ix| self.standings[ix])
    }
}
