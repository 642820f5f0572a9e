//! Rows: putting them, taking up what people decided, and what a refused claim means.

use std::collections::HashMap;

use plangate_approval::approvals::Ask;
use plangate_approval::{Row, RowState, StepState, Storage, StoreError};
use plangate_graph::NodeIx;
use plangate_graph::outline::Body;
use plangate_graph::plan::NodeKind;

use super::Drive;
use super::core::{Core, expiry};
use super::dispatch::millis;
use crate::error::RunError;
use crate::gate::{Verdict, ask_of_call, ask_of_question};
use crate::schedule::{Event, How, Kind};
use crate::values::Names;

/// What becomes of a node that was to be put.
enum Put {
    Ask(Box<Ask>),
    /// Policy lets the call through with its final arguments.
    Through,
}

impl<S: Storage + 'static> Drive<S> {
    /// Puts one gate, question, or call that has no gate and must be asked all the same.
    pub(super) fn ask(&self, core: &mut Core, ix: NodeIx) {
        if core.schedule.state(ix).ended() {
            return; // cancelled meanwhile
        }
        let put = match self.put(core, ix) {
            Ok(Put::Ask(ask)) => ask,
            Ok(Put::Through) => return self.happened(core, ix, Event::Yes(ix)),
            Err(why) => return self.unaskable(core, ix, why),
        };
        let state = match self.ctx.shape.kind(ix) {
            Kind::Call { .. } => None,
            _ => Some(StepState::Pending),
        };
        let at = self.ctx.watch.micros();
        let pending = state
            .map(|state| self.ctx.detail(core.times[ix], Some(at)).write(self.ctx.names.id(ix), state))
            .transpose();
        let mut steps = core.take_lazy();
        match pending {
            Ok(pending) => steps.extend(pending),
            Err(fault) => return core.stop(fault),
        }
        match self.ctx.approvals.ask(&self.lease(), &put, &steps) {
            Ok(row) => self.asked(core, ix, &row),
            Err(StoreError::Cancelled) => self.look_again(core),
            Err(
                error @ (StoreError::Changed { .. }
                | StoreError::NotAllowed(_)
                | StoreError::NotNow(_)
                | StoreError::Repeated { .. }),
            ) => {
                self.unaskable(core, ix, format!("it cannot be asked: {error}"));
            }
            Err(error) => core.store_failed(error),
        }
    }

    fn asked(&self, core: &mut Core, ix: NodeIx, row: &Row) {
        self.happened(core, ix, Event::Asked(ix));
        core.keep_row(ix, row.clone());
        // Put before a crash, it may be decided by now.
        if row.state != RowState::Pending {
            self.decided(core, ix, row);
        }
    }

    /// What is put. The error fails the reader, before anybody is asked.
    fn put(&self, core: &Core, ix: NodeIx) -> Result<Put, String> {
        let plan = self.ctx.plan.plan();
        let next = core.rows.get(&ix).map_or(0, |last| last.ask + 1);
        let mut ask = match plan.node(ix).kind {
            NodeKind::Ask { item } => {
                let Some(Body::Question(question)) = plan.outline().items.get(item).map(|i| &i.body) else {
                    return Err(format!("node {} is no question", ix.0));
                };
                let words = core.values.words(plan, &self.ctx.names, item, &question.text)?;
                ask_of_question(&self.ctx.plan, ix, words)
            }
            NodeKind::Gate { call, question } => {
                let words = self.words_on(core, question)?;
                let Some(ask) = self.ask_about(core, ix, call)? else { return Ok(Put::Through) };
                Ask { question: words, ..ask }
            }
            _ => match self.ask_about(core, ix, ix)? {
                Some(ask) => ask,
                None => return Err("policy changed its mind about this call; nothing was sent".to_owned()),
            },
        };
        ask.ask = next;
        Ok(Put::Ask(Box::new(ask)))
    }

    /// The words of the question that stands on a gate.
    fn words_on(&self, core: &Core, question: Option<usize>) -> Result<Option<String>, String> {
        let plan = self.ctx.plan.plan();
        let Some(item) = question else { return Ok(None) };
        match plan.outline().items.get(item).map(|i| &i.body) {
            Some(Body::Question(question)) => {
                core.values.words(plan, &self.ctx.names, item, &question.text).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// The row for a call, with final arguments; nothing if policy lets it through and nobody had a word in it yet.
    fn ask_about(&self, core: &Core, node: NodeIx, ix: NodeIx) -> Result<Option<Ask>, String> {
        let (item, call) = self.call_of(ix)?;
        let args = self.arguments(core, ix, item, call)?;
        let asked_before = core.rows.contains_key(&node) || core.claims.contains_key(&ix);
        match self.ctx.rules.verdict(&self.ctx.plan, ix, call, &args) {
            Verdict::Deny(why) => return Err(format!("policy denies this call: {why}")),
            Verdict::Through(_) if !asked_before => return Ok(None),
            Verdict::Through(_) | Verdict::Ask => {}
        }
        let terms = self.ctx.rules.terms(&self.ctx.plan, call, &args);
        let timeout = millis(self.timeout_of(ix));
        ask_of_call(&self.ctx.plan, node, ix, call, &args, timeout, terms)
            .map(Some)
            .ok_or_else(|| format!("node {} is no call", ix.0))
    }

    /// What cannot be put fails, and with a gate the call that reads what is not there.
    fn unaskable(&self, core: &mut Core, ix: NodeIx, why: String) {
        let at = self.ctx.watch.micros();
        match *self.ctx.shape.kind(ix) {
            Kind::Gate { call } => {
                core.errors.insert(call, why.clone());
                self.not_put(core, ix, at, why);
            }
            Kind::Ask => self.not_put(core, ix, at, why),
            _ => self.fail(core, ix, at, why),
        }
    }

    fn not_put(&self, core: &mut Core, ix: NodeIx, at: u64, why: String) {
        let detail = crate::journal::Written { error: Some(why.clone()), ..self.detail(core, ix, at) };
        core.errors.insert(ix, why);
        self.must(core, ix, StepState::Failed, &detail);
        self.happened(core, ix, Event::Unaskable(ix));
    }

    /// Reads the lease again, and with it whether the run was cancelled.
    pub(super) fn look_again(&self, core: &mut Core) {
        match self.ctx.store.renew(&self.lease()) {
            Ok(lease) => {
                self.renewed(core, lease);
                core.news = true;
            }
            Err(error) => core.store_failed(error),
        }
    }

    /// Takes up what people decided, settled or cancelled since the rows were last read.
    pub(super) fn take_up(&self, core: &mut Core) {
        if self.lease().cancelled && !core.schedule.cancelled() {
            self.cancel(core);
        }
        let rows = match self.ctx.store.rows(Some(&self.ctx.run)) {
            Ok(rows) => rows,
            Err(error) => return core.store_failed(error),
        };
        for (ix, row) in last_rows(&self.ctx.names, rows) {
            self.decided(core, ix, &row);
            core.rows.insert(ix, row);
        }
        core.expiry = expiry(&core.rows);
    }

    /// The run was cancelled: what has no thread yet ends here, what has one is asked to stop.
    fn cancel(&self, core: &mut Core) {
        let starts = std::mem::take(&mut core.starts).into_iter().map(|start| start.node());
        let asks = std::mem::take(&mut core.to_ask).into_iter();
        let threadless: Vec<NodeIx> =
            starts.chain(asks).filter(|ix| core.schedule.state(*ix) == StepState::Running).collect();
        if let Err(illegal) = core.schedule.on(Event::Cancel) {
            return core.stop(RunError::Fault(illegal.to_string()));
        }
        for ix in threadless {
            self.ended_unrun(core, ix, StepState::Cancelled);
            self.happened(core, ix, Event::Ended(ix, How::Cancelled));
        }
    }

    /// What a row says now, against the state of its node. `ix` is the node that the row is about.
    fn decided(&self, core: &mut Core, ix: NodeIx, row: &Row) {
        if core.schedule.state(ix) == StepState::Pending {
            let event = match row.state {
                RowState::Pending | RowState::Cancelled => return,
                RowState::Rejected => Event::No(ix),
                RowState::Expired => Event::Expired(ix),
                _ => Event::Yes(ix),
            };
            core.rows.insert(ix, row.clone());
            return self.happened(core, ix, event);
        }
        let call = match *self.ctx.shape.kind(ix) {
            Kind::Gate { call } => call,
            Kind::Call { .. } => ix,
            _ => return,
        };
        let settled = matches!(
            row.state,
            RowState::Succeeded | RowState::Failed | RowState::Happened | RowState::DidNot
        );
        let claimed = core.claims.get(&call).is_some_and(|id| *id == row.id);
        if core.schedule.state(call) == StepState::Uncertain && row.state == RowState::Approved && claimed {
            core.claims.remove(&call);
            core.errors.remove(&call);
            core.rows.insert(ix, row.clone());
            return self.happened(core, call, Event::Cleared(call));
        }
        if core.schedule.state(call) == StepState::Uncertain && settled && claimed {
            self.outcome(core, call, row);
        }
    }

    /// A claim that was refused: nothing was sent.
    pub(super) fn refused(&self, core: &mut Core, ix: NodeIx, at: u64, error: StoreError) {
        let how = match &error {
            StoreError::Held(_) => {
                core.news = true;
                return self.happened(core, ix, Event::Held(ix));
            }
            StoreError::Cancelled => {
                self.look_again(core);
                How::Cancelled
            }
            StoreError::Expired { .. } => How::Expired,
            StoreError::NotNow(RowState::Rejected) => How::Rejected,
            // What was to be made once more happened after all, or nobody knows.
            StoreError::NotNow(RowState::Uncertain) => {
                let row = core.rows.get(&self.gate_of(ix).unwrap_or(ix)).map(|row| row.id.clone());
                core.claims.extend(row.map(|row| (ix, row)));
                core.news = true;
                return self.happened(core, ix, Event::Unknown(ix));
            }
            StoreError::Changed { .. }
            | StoreError::NotAllowed(_)
            | StoreError::NotNow(_)
            | StoreError::Repeated { .. } => {
                return self.fail(core, ix, at, format!("not sent: the claim was refused: {error}"));
            }
            _ => return core.store_failed(error),
        };
        let detail = crate::journal::Written { error: Some(error.to_string()), ..self.detail(core, ix, at) };
        core.errors.insert(ix, error.to_string());
        self.must(core, ix, how.state(), &detail);
        self.happened(core, ix, Event::Ended(ix, how));
    }
}

/// The last row of each node.
pub(crate) fn last_rows(nodes: &Names, rows: Vec<Row>) -> Vec<(NodeIx, Row)> {
    let mut last: HashMap<NodeIx, Row> = HashMap::new();
    for row in rows {
        let Some(ix) = nodes.get(&row.node) else { continue };
        if last.get(&ix).is_none_or(|known| known.ask < row.ask) {
            last.insert(ix, row);
        }
    }
    let mut last: Vec<_> = last.into_iter().collect();
    last.sort_by_key(|(ix, _)| *ix);
    last
}
