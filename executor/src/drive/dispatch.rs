//! From a node that may start to a job: arguments filled and held against schema and policy, then a thread.

use std::cmp::Reverse;
use std::sync::Arc;
use std::time::{Duration, Instant};

use plangate_approval::approvals::Ask;
use plangate_approval::row::RowCall;
use plangate_approval::{Row, RowState, StepState, Storage};
use plangate_graph::outline::{Body, Call};
use plangate_graph::{NodeIx, Value};

use super::Drive;
use super::core::Core;
use super::work::{Cell, Task};
use crate::gate::{Verdict, ask_of_call};
use crate::journal::Written;
use crate::pool::Job;
use crate::schedule::Kind;
use crate::tools::{Cancel, SentenceInput};
use crate::values::{call_of, instruction};

/// A step that may start.
#[derive(Clone)]
pub(super) enum Start {
    /// A read with its arguments.
    Read { ix: NodeIx, args: Arc<Value> },
    /// A sentence with its inputs.
    Write { ix: NodeIx, instruction: Arc<str>, inputs: Arc<Vec<SentenceInput>> },
    /// A call with its claim.
    Call { ix: NodeIx, by: By },
}

/// By what a call may be claimed.
#[derive(Clone)]
pub(super) enum By {
    /// An approved row.
    Row(Arc<Row>),
    /// A policy rule, in words.
    Rule { ask: Arc<Ask>, rule: Arc<str> },
}

/// A step under way.
pub(super) struct Under {
    pub(super) attempt: u64,
    pub(super) start: Start,
    pub(super) cancel: Cancel,
    pub(super) cell: Arc<Cell>,
    pub(super) timeout: Duration,
}

impl Start {
    pub(super) fn node(&self) -> NodeIx {
        match self {
            Start::Read { ix, .. } | Start::Write { ix, .. } | Start::Call { ix, .. } => *ix,
        }
    }

    /// Arguments that are kept with the step; those of a call are kept with its row, and what a sentence read is kept
    /// where it came from.
    pub(super) fn arguments(&self) -> Option<&Value> {
        match self {
            Start::Read { args, .. } => Some(args),
            Start::Write { .. } | Start::Call { .. } => None,
        }
    }
}

impl<S: Storage + 'static> Drive<S> {
    /// Readies a step for its thread, or fails it.
    pub(super) fn prepare(&self, core: &mut Core, ix: NodeIx) {
        let most = self.ctx.options.most_abandoned;
        let now = self.ctx.watch.micros();
        if self.pool.abandoned() >= most {
            let why = format!(
                "{most} calls of this run have not returned since their deadline; no more are started"
            );
            return self.fail(core, ix, now, why);
        }
        let prepared = match self.ctx.shape.kind(ix) {
            Kind::Read { .. } => self.read(core, ix),
            Kind::Write => self.sentence(core, ix),
            _ => self.call(core, ix),
        };
        match prepared {
            Ok(Some(start)) => core.starts.push(start),
            // It is put to a person first.
            Ok(None) => core.to_ask.push_back(ix),
            Err(why) => self.fail(core, ix, now, why),
        }
    }

    fn read(&self, core: &mut Core, ix: NodeIx) -> Result<Option<Start>, String> {
        let (item, call) = self.call_of(ix)?;
        let once = self.ctx.rules.once(&self.ctx.plan, call);
        if once && core.in_flight.contains(&ix) {
            return Err(
                "it was under way when the drive before ended, so it may have been made; policy says once"
                    .into(),
            );
        }
        let args = Arc::new(self.arguments(core, ix, item, call)?);
        if once {
            // That it may have been made is durable before it is.
            let detail = Written { arguments: Some(&args), ..self.ctx.detail(core.times[ix], None) };
            self.must(core, ix, StepState::Running, &detail);
        }
        Ok(Some(Start::Read { ix, args }))
    }

    fn sentence(&self, core: &Core, ix: NodeIx) -> Result<Option<Start>, String> {
        let plan = self.ctx.plan.plan();
        let Some((item, Body::Sentence(sentence))) = plan.item_of(ix).map(|(at, item)| (at, &item.body))
        else {
            return Err(format!("node {} is no sentence", ix.0));
        };
        let inputs = core.values.sentence(plan, &self.ctx.names, item, &sentence.name, &sentence.text)?;
        let instruction = instruction(&sentence.text).into();
        Ok(Some(Start::Write { ix, instruction, inputs: Arc::new(inputs) }))
    }

    /// A call: by its approved row, by a rule, or not before a person was asked. Policy looks at the final arguments
    /// once more, whoever approved them.
    fn call(&self, core: &Core, ix: NodeIx) -> Result<Option<Start>, String> {
        let (item, call) = self.call_of(ix)?;
        let gate = self.gate_of(ix);
        let last = core.rows.get(&gate.unwrap_or(ix));
        if let Some(row) = last.filter(|row| row.state == RowState::Approved) {
            let approved = self.approved(ix, call, row)?;
            let args =
                Value::parse_bytes(&approved.args).map_err(|e| format!("the stored arguments: {e}"))?;
            self.valid(ix, call, &args)?;
            if let Verdict::Deny(why) = self.ctx.rules.verdict(&self.ctx.plan, ix, call, &args) {
                return Err(format!("policy denies this call: {why}"));
            }
            return Ok(Some(Start::Call { ix, by: By::Row(Arc::new(row.clone())) }));
        }
        let args = self.arguments(core, ix, item, call)?;
        match self.ctx.rules.verdict(&self.ctx.plan, ix, call, &args) {
            Verdict::Deny(why) => Err(format!("policy denies this call: {why}")),
            // Only a gate that was passed by the same rule leads here, and no row that a person had a word in.
            Verdict::Through(rule) if last.is_none() && !core.claims.contains_key(&ix) => {
                let terms = self.ctx.rules.terms(&self.ctx.plan, call, &args);
                let timeout = millis(self.timeout_of(ix));
                let ask = ask_of_call(&self.ctx.plan, ix, ix, call, &args, timeout, terms)
                    .ok_or("it is no call")?;
                Ok(Some(Start::Call { ix, by: By::Rule { ask: Arc::new(ask), rule: rule.into() } }))
            }
            Verdict::Ask if gate.is_some() => {
                Err("policy let this call through at its gate and now wants it asked; nothing was sent"
                    .into())
            }
            Verdict::Ask | Verdict::Through(_) => Ok(None),
        }
    }

    /// What a row approves, if it is this call and no other: what was approved is what is made, or nothing is.
    fn approved<'r>(&self, ix: NodeIx, call: &Call, row: &'r Row) -> Result<&'r RowCall, String> {
        let id = &self.ctx.plan.plan().node(ix).id;
        match &row.call {
            None => Err(format!("what was approved is no call; `{id}` is not made")),
            Some(approved)
                if (&approved.node, &approved.server, &approved.tool) == (id, &call.server, &call.tool) =>
            {
                Ok(approved)
            }
            Some(approved) => Err(format!(
                "what was approved is `{}` ({}.{}), and not `{id}` ({}.{}); nothing was sent",
                approved.node, approved.server, approved.tool, call.server, call.tool
            )),
        }
    }

    /// Final arguments, valid.
    pub(super) fn arguments(
        &self,
        core: &Core,
        ix: NodeIx,
        item: usize,
        call: &Call,
    ) -> Result<Value, String> {
        let args = core.values.arguments(self.ctx.plan.plan(), &self.ctx.names, item, call)?;
        // What holds no result of a step was held against the schema before the first step.
        if call.args.reads_steps() {
            self.valid(ix, call, &args)?;
        }
        Ok(args)
    }

    fn valid(&self, ix: NodeIx, call: &Call, args: &Value) -> Result<(), String> {
        self.ctx.plan.validate(ix, args).map_err(|why| {
            format!("the arguments of `{}` do not fit {}.{}: {why}", call.name, call.server, call.tool)
        })
    }

    pub(super) fn call_of(&self, ix: NodeIx) -> Result<(usize, &Call), String> {
        call_of(self.ctx.plan.plan(), ix).ok_or_else(|| format!("node {} is no call", ix.0))
    }

    pub(super) fn timeout_of(&self, ix: NodeIx) -> Duration {
        let settings = self.ctx.plan.plan().item_of(ix).and_then(|(_, item)| item.settings());
        let own = settings.and_then(|settings| settings.timeout_ms).map(Duration::from_millis);
        own.unwrap_or(self.ctx.options.timeout)
    }

    /// Hands a step to a thread. Its time runs from here.
    pub(super) fn dispatch(self: &Arc<Self>, core: &mut Core, start: Start) -> Job {
        let ix = start.node();
        core.attempts += 1;
        let attempt = core.attempts;
        let timeout = self.timeout_of(ix);
        let deadline = Instant::now().checked_add(timeout);
        let cancel = Cancel::new(deadline);
        let cell = Arc::new(Cell::default());
        let times = &mut core.times[ix];
        times.attempts += 1;
        times.started.get_or_insert(self.ctx.watch.micros());
        let task = Task {
            start: start.clone(),
            attempt,
            times: *times,
            timeout,
            cancel: cancel.clone(),
            cell: Arc::clone(&cell),
        };
        core.under_way.insert(ix, Under { attempt, start, cancel, cell, timeout });
        if let Some(deadline) = deadline {
            core.watch(deadline, ix, attempt);
        }
        self.tell(core, ix, StepState::Running);
        let drive = Arc::clone(self);
        Job::new(move || {
            drive.work(&task);
            drive.pump(super::Who::Thread)
        })
    }

    /// Asks a step that is under way to stop. A read has a moment left, a call its own deadline.
    pub(super) fn stop_one(&self, core: &mut Core, ix: NodeIx) {
        let Some(under) = core.under_way.get(&ix) else { return };
        if matches!(under.start, Start::Call { .. }) && core.schedule.time_up() {
            let attempt = under.attempt;
            let why = format!("{}, and the call was asked to stop", self.out_of_time());
            return self.leave(core, ix, attempt, why);
        }
        if !matches!(under.start, Start::Call { .. }) {
            let soon = Instant::now() + self.ctx.options.grace;
            core.deadlines.push(Reverse((soon, ix, under.attempt)));
        }
        under.cancel.cancel();
    }

    /// Nothing more is recorded but what came of calls: whatever else is under way is asked to stop.
    pub(super) fn stop_all(&self, core: &mut Core) {
        let reads: Vec<NodeIx> = core
            .under_way
            .iter()
            .filter(|(_, under)| !matches!(under.start, Start::Call { .. }) && !under.cancel.is_cancelled())
            .map(|(ix, _)| *ix)
            .collect();
        for ix in reads {
            self.stop_one(core, ix);
        }
    }
}

pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
