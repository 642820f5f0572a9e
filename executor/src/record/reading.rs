//! From what is stored to a record.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use plangate_approval::{Edited, Row, RowState, RunState, StepState, Time};
use plangate_graph::outline::{Body, Call};
use plangate_graph::plan::NodeKind;
use plangate_graph::{NodeIx, Plan, Value};
use serde_json::value::RawValue;

use super::step::{Cause, Decided, Replaced, Step, Word};
use super::{CriticalPath, Record, times};
use crate::drive::result_of;
use crate::error::RunError;
use crate::journal::value;
use crate::schedule::{Schedule, Table, Topology, causes};
use crate::stored::{Picture, Stored};
use crate::values::{Names, instruction};

/// A run as it is stored, laid over its plan.
pub(super) struct Reading<'a> {
    pub(super) stored: &'a Stored,
    pub(super) plan: &'a Plan,
    pub(super) shape: &'a Topology,
    pub(super) names: &'a Names,
    pub(super) picture: &'a Picture<'a>,
    /// Server and tool of the last call, and both as one text: most calls are of the tool of the call before.
    pub(super) last_tool: RefCell<Option<(&'a Call, Arc<str>)>>,
}

impl Reading<'_> {
    pub(super) fn record(&self, schedule: &Schedule) -> Result<Record, RunError> {
        let states = Table(self.shape.indices().map(|ix| self.state(schedule, ix)).collect::<Vec<_>>());
        let roots = causes(self.shape, |ix| schedule.standing(ix));
        let mut rows: HashMap<NodeIx, Vec<&Row>> = HashMap::new();
        for row in &self.stored.rows {
            if let Some(ix) = self.names.get(&row.node) {
                rows.entry(ix).or_default().push(row);
            }
        }
        let mut steps = Vec::with_capacity(self.shape.len());
        for ix in self.shape.indices() {
            let cause = roots[ix].filter(|_| states[ix] == schedule.state(ix)).map(|root| {
                Box::new(Cause {
                    node: self.plan.node(root).id.clone(),
                    state: states[root],
                    error: self.error(root).or_else(|| self.said(root)),
                })
            });
            let rows = rows.get(&ix).map_or(&[][..], Vec::as_slice);
            steps.push(self.step(ix, &states, rows, cause)?);
        }
        let times = times::measure(self.stored, self.shape, self.picture);
        let run = &self.stored.run;
        Ok(Record {
            run: run.id.clone(),
            title: run.title.clone(),
            state: run.state,
            reason: run.reason.clone(),
            plan: run.plan,
            inputs: Value::Object(self.stored.inputs.clone()),
            requester: run.requester.clone(),
            author: run.author.clone(),
            started: run.created,
            updated: run.updated,
            wall: times.wall / 1_000,
            sum: times.sum / 1_000,
            critical_path: CriticalPath {
                ms: times.critical / 1_000,
                steps: times.path.iter().map(|ix| self.plan.node(*ix).id.clone()).collect(),
            },
            waited_for_people: times.waited,
            steps,
        })
    }

    /// The state of a node at this moment.
    fn state(&self, schedule: &Schedule, ix: NodeIx) -> StepState {
        let state = schedule.state(ix);
        if state == StepState::Uncertain
            && self.picture.states[ix] != Some(StepState::Uncertain)
            && self.picture.row_of(self.shape, ix).is_some_and(|(row, _)| row.state == RowState::Claimed)
        {
            // Its driver is there, and has not given it up: the call is under way.
            return StepState::Running;
        }
        // Whatever had not ended when the run was cancelled was cancelled with it.
        let stands = self.stored.run.state != RunState::Cancelled || self.picture.standings[ix].is_some();
        if stands && (state.ended() || matches!(state, StepState::Pending | StepState::Uncertain)) {
            return state;
        }
        match (self.stored.run.state, self.picture.states[ix]) {
            (RunState::Cancelled, _) => StepState::Cancelled,
            (RunState::Running, Some(StepState::Running)) => StepState::Running,
            _ => state,
        }
    }

    fn error(&self, ix: NodeIx) -> Option<String> {
        self.picture.error(self.shape, ix)
    }

    /// What somebody said with a no.
    fn said(&self, ix: NodeIx) -> Option<String> {
        let (row, _) = self.picture.row_of(self.shape, ix)?;
        row.decision_reason.clone().filter(|_| row.state == RowState::Rejected)
    }

    fn step(
        &self,
        ix: NodeIx,
        states: &Table<StepState>,
        rows: &[&Row],
        cause: Option<Box<Cause>>,
    ) -> Result<Step, RunError> {
        let node = self.plan.node(ix);
        let detail = self.picture.details[ix].as_ref();
        let stored = |raw: Option<&RawValue>| raw.map(|raw| value(&node.id, raw)).transpose();
        let call = matches!(node.kind, NodeKind::Call { .. })
            .then(|| self.picture.row_of(self.shape, ix))
            .flatten()
            .map(|(row, _)| row);
        let claimed = call.filter(|row| row.claim.is_some());
        let arguments = match (call.and_then(|row| row.call.as_ref()), rows.last()) {
            (Some(call), _) => Value::parse_bytes(&call.args).ok(),
            (None, Some(row)) => row.call.as_ref().and_then(|call| Value::parse_bytes(&call.args).ok()),
            (None, None) => stored(detail.and_then(|d| d.arguments))?,
        };
        let ran = detail.filter(|d| d.queued.is_some() || d.ended.is_some());
        let ms = |micros: Option<u64>| micros.map(|micros| micros / 1_000);
        let at = |micros: u64| detail.map(|d| Time(d.began.0.saturating_add_unsigned(micros / 1_000)));
        let list = detail.and_then(|d| d.list.clone());
        let late = list.iter().flat_map(|list| list.iter()).filter(|c| !c.ok && !c.state.ended());
        let late = late.filter(|c| self.names.get(&c.step).is_some_and(|ix| states[ix].ended()));
        Ok(Step {
            id: node.id.clone(),
            kind: word(&node.kind),
            tool: self.tool(ix),
            state: states[ix],
            attempts: detail.map_or(0, |d| d.attempts),
            drive: ran.map(|d| d.drive),
            queued: ms(ran.and_then(|d| d.queued)),
            started: ms(ran.and_then(|d| d.started)),
            ended: ms(ran.and_then(|d| d.ended).filter(|_| states[ix].ended())),
            started_at: ran.and_then(|d| d.started).and_then(at),
            ended_at: ran.and_then(|d| d.ended).filter(|_| states[ix].ended()).and_then(at),
            arguments,
            words: self.words(ix, rows),
            result: match claimed {
                Some(row) => result_of(row).0,
                None => stored(detail.and_then(|d| d.result))?,
            },
            answer: detail.and_then(|d| d.answer),
            error: self.error(ix),
            cause,
            decisions: rows.iter().map(|row| decided(row)).collect(),
            late: late.map(|c| c.step.clone()).collect(),
            list,
        })
    }

    fn tool(&self, ix: NodeIx) -> Option<Arc<str>> {
        let call = match self.plan.node(ix).kind {
            NodeKind::Gate { call, .. } => call,
            _ => ix,
        };
        match &self.plan.item_of(call)?.1.body {
            Body::Call(call) => {
                let mut last = self.last_tool.borrow_mut();
                if let Some((before, text)) = &*last
                    && (&before.server, &before.tool) == (&call.server, &call.tool)
                {
                    return Some(Arc::clone(text));
                }
                let text: Arc<str> = format!("{}.{}", call.server, call.tool).into();
                *last = Some((call, Arc::clone(&text)));
                Some(text)
            }
            _ => None,
        }
    }

    fn words(&self, ix: NodeIx, rows: &[&Row]) -> Option<String> {
        if let Some(asked) = rows.last().and_then(|row| row.question.clone()) {
            return Some(asked);
        }
        match &self.plan.item_of(ix)?.1.body {
            Body::Sentence(sentence) => Some(instruction(&sentence.text)),
            Body::Question(question) => Some(instruction(&question.text)),
            _ => None,
        }
    }
}

fn word(kind: &NodeKind) -> Word {
    match kind {
        NodeKind::Call { .. } => Word::Call,
        NodeKind::Write { .. } => Word::Sentence,
        NodeKind::Join(_) => Word::Join,
        NodeKind::Gate { .. } => Word::Gate,
        NodeKind::Ask { .. } => Word::Question,
        NodeKind::Check { .. } => Word::Check,
    }
}

fn replaced(edit: &Edited) -> Replaced {
    let as_text = |_| Value::from(String::from_utf8_lossy(&edit.args).into_owned());
    Replaced {
        edited_from: edit.digest,
        arguments: Value::parse_bytes(&edit.args).unwrap_or_else(as_text),
        by: edit.by.clone(),
        at: edit.at,
        note: edit.note.clone(),
    }
}

fn decided(row: &Row) -> Decided {
    Decided {
        row: row.id.clone(),
        state: row.state,
        digest: row.digest,
        asked: row.created,
        expires: row.expires,
        by: row.decided_by.clone(),
        at: row.decided_at,
        reason: row.decision_reason.clone(),
        votes: row.votes.clone(),
        edits: row.edits.iter().map(replaced).collect(),
        reconciled: row.reconciled.as_ref().map(|word| word.answer.clone()),
        settled: row.settled.clone(),
    }
}
