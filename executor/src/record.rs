//! The readable history of a run, from its store, at any time.

mod times;

use std::sync::Arc;

use plangate_approval::row::{Edited, Settled, Vote};
use plangate_approval::{
    Person, Reconciled, Row, RowId, RowState, RunId, RunState, StepState, Storage, StoreError, Time,
};
use plangate_graph::outline::Body;
use plangate_graph::plan::NodeKind;
use plangate_graph::{Digest, NodeIx, Plan, Value};
use serde::{Deserialize, Serialize};

use crate::drive::result_of;
use crate::error::RunError;
use crate::schedule::{Limits, Schedule, Table, Topology, causes};
use crate::stored::{Picture, Stored};
use crate::values::{Counted, Names, instruction, names};

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

/// One node of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Id of the node.
    pub id: String,
    /// What it is.
    pub kind: Word,
    /// Server and tool of a call, or of the call behind a gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Its state.
    pub state: StepState,
    /// How often it was started.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attempts: u32,
    /// Number of the drive in which it ran or ended; 1 is the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drive: Option<u64>,
    /// When it became ready, since that drive began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queued: Option<u64>,
    /// When it was first started, since that drive began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<u64>,
    /// When it ended, since that drive began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<u64>,
    /// When it was first started, by the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Time>,
    /// When it ended, by the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Time>,
    /// The arguments of a call: final, as they were sent or would be.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub arguments: Option<Value>,
    /// The instruction of a sentence, or the words of a question with their values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// What it gave.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub result: Option<Value>,
    /// What a check answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<bool>,
    /// Why it failed, or why its outcome is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Why it did not run: the node at the root of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Its rows, in the order they were asked: who decided what and when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<Decided>,
    /// What a join passed on when it fired, in typed order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<Vec<Counted>>,
    /// Counted steps that ended after the join had fired without them. They changed nothing there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<String>,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// A call of a tool.
    Call,
    /// A sentence for the writer.
    Sentence,
    /// A join.
    Join,
    /// The stop in front of a call.
    Gate,
    /// A question in front of several steps.
    Question,
    /// A test that the machine answers.
    Check,
}

/// The node at the root of why another did not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// Its id.
    pub node: String,
    /// Its state.
    pub state: StepState,
    /// Why it is so, if it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What became of one row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The row.
    pub row: RowId,
    /// Its state.
    pub state: RowState,
    /// Digest of what was asked.
    pub digest: Digest,
    /// When it was asked.
    pub asked: Time,
    /// Until when it may be decided.
    pub expires: Time,
    /// Who decided, in words: people, or the policy rule that let it through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
    /// What was said with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// All votes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<Vote>,
    /// What edits replaced, first to last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<Replaced>,
    /// What the host said of the call, where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconciled: Option<Reconciled>,
    /// Who settled it, whether it happened, and the note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
}

/// Arguments that an edit replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// Their digest.
    pub edited_from: Digest,
    /// The arguments before.
    pub arguments: Value,
    /// Who edited.
    pub by: Person,
    /// When.
    pub at: Time,
    /// What was said with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// A null that is there is a value.
fn present<'de, D: serde::Deserializer<'de>>(d: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(d).map(Some)
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
        Ok(Reading { stored, plan, shape, names, picture: &picture }.record(&schedule))
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

struct Reading<'a> {
    stored: &'a Stored,
    plan: &'a Plan,
    shape: &'a Topology,
    names: &'a Names,
    picture: &'a Picture,
}

impl Reading<'_> {
    fn record(&self, schedule: &Schedule) -> Record {
        let states = Table(self.shape.indices().map(|ix| self.state(schedule, ix)).collect::<Vec<_>>());
        let roots = causes(self.shape, |ix| schedule.standing(ix));
        let mut rows: Table<Vec<&Row>> = Table(vec![Vec::new(); self.shape.len()]);
        for row in &self.stored.rows {
            if let Some(ix) = self.names.get(&row.node) {
                rows[*ix].push(row);
            }
        }
        let steps: Vec<Step> = self
            .shape
            .indices()
            .map(|ix| {
                let cause = roots[ix].filter(|_| states[ix] == schedule.state(ix)).map(|root| Cause {
                    node: self.plan.node(root).id.clone(),
                    state: states[root],
                    error: self.error(root),
                });
                self.step(ix, &states, &rows[ix], cause)
            })
            .collect();
        let times = times::measure(self.stored, self.shape, self.picture);
        let run = &self.stored.run;
        Record {
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
        }
    }

    /// The state of a node at this moment.
    fn state(&self, schedule: &Schedule, ix: NodeIx) -> StepState {
        let state = schedule.state(ix);
        if state == StepState::Uncertain
            && self.picture.row_of(self.shape, ix).is_some_and(|(row, _)| row.state == RowState::Claimed)
        {
            // Its driver is there: the call is under way.
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
        let row = self.picture.row_of(self.shape, ix).filter(|(row, _)| row.claim.is_some());
        let by_row = row.and_then(|(row, _)| result_of(row).1);
        by_row.or_else(|| self.picture.details[ix].as_ref().and_then(|detail| detail.error.clone()))
    }

    fn step(&self, ix: NodeIx, states: &Table<StepState>, rows: &[&Row], cause: Option<Cause>) -> Step {
        let node = self.plan.node(ix);
        let detail = self.picture.details[ix].as_ref();
        let call = matches!(node.kind, NodeKind::Call { .. })
            .then(|| self.picture.row_of(self.shape, ix))
            .flatten()
            .map(|(row, _)| row);
        let claimed = call.filter(|row| row.claim.is_some());
        let arguments = match (call.and_then(|row| row.call.as_ref()), rows.last()) {
            (Some(call), _) => Value::parse_bytes(&call.args).ok(),
            (None, Some(row)) => row.call.as_ref().and_then(|call| Value::parse_bytes(&call.args).ok()),
            (None, None) => detail.and_then(|d| d.arguments.as_deref().cloned()),
        };
        let ran = detail.filter(|d| d.queued.is_some() || d.ended.is_some());
        let ms = |micros: Option<u64>| micros.map(|micros| micros / 1_000);
        let at = |micros: u64| detail.map(|d| Time(d.began.0.saturating_add_unsigned(micros / 1_000)));
        let list = detail.and_then(|d| d.list.clone());
        let late = list.iter().flatten().filter(|c| !c.ok && !c.state.ended());
        let late = late.filter(|c| self.names.get(&c.step).is_some_and(|ix| states[*ix].ended()));
        Step {
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
                None => detail.and_then(|d| d.result.as_deref().cloned()),
            },
            answer: detail.and_then(|d| d.answer),
            error: self.error(ix),
            cause,
            decisions: rows.iter().map(|row| decided(row)).collect(),
            late: late.map(|c| c.step.clone()).collect(),
            list,
        }
    }

    fn tool(&self, ix: NodeIx) -> Option<String> {
        let call = match self.plan.node(ix).kind {
            NodeKind::Gate { call, .. } => call,
            _ => ix,
        };
        match &self.plan.item_of(call)?.1.body {
            Body::Call(call) => Some(format!("{}.{}", call.server, call.tool)),
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
