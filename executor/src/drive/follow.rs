//! What follows from an event, until only what needs a thread or a person is left; and who is told.

use plangate_approval::{StepState, Storage};
use plangate_graph::NodeIx;
use plangate_graph::outline::Body;

use super::core::{Core, Times};
use super::{Context, Drive};
use crate::check;
use crate::error::RunError;
use crate::journal::Written;
use crate::options::Change;
use crate::schedule::{Act, Event, How, Kind, culprit};
use crate::values::{Counted, missing_words};

impl<S: Storage + 'static> Drive<S> {
    /// Follows everything up until only what needs a thread or a person is left.
    pub(super) fn follow(&self, core: &mut Core) {
        loop {
            let acts = core.schedule.advance();
            if acts.is_empty() || core.stopped.is_some() {
                return;
            }
            for act in acts {
                match act {
                    Act::Read(ix) | Act::Write(ix) | Act::Call(ix) => {
                        let now = self.ctx.watch.micros();
                        core.times[ix].queued.get_or_insert(now);
                        self.prepare(core, ix);
                    }
                    Act::Ask(ix) => core.to_ask.push_back(ix),
                    Act::Check(ix) => self.check(core, ix),
                    Act::Fired(ix) => self.fired(core, ix),
                    Act::Ended(ix, state) => {
                        if state == StepState::TimedOut && !core.errors.contains_key(&ix) {
                            core.errors.insert(ix, format!("{} before it started", self.out_of_time()));
                        }
                        self.ended_unrun(core, ix, state);
                    }
                    Act::Late { .. } => {}
                    Act::Stop(ix) => self.stop_one(core, ix),
                }
            }
        }
    }

    fn check(&self, core: &mut Core, ix: NodeIx) {
        let at = self.ctx.watch.micros();
        let Some((item, Body::Check(check))) =
            self.ctx.plan.plan().item_of(ix).map(|(at, item)| (at, &item.body))
        else {
            return core.stop(RunError::Fault(format!("node {} is no check", ix.0)));
        };
        let answer = core
            .values
            .check(self.ctx.plan.plan(), &self.ctx.names, item, check)
            .and_then(|(left, test)| check::holds(&left, &test));
        match answer {
            Ok(yes) => {
                let detail = Written { answer: Some(yes), ..self.detail(core, ix, at) };
                self.must(core, ix, StepState::Done, &detail);
                self.happened(core, ix, Event::Ended(ix, How::Answered(yes)));
            }
            Err(why) => self.fail(core, ix, at, why),
        }
    }

    /// Freezes what a join passes on.
    fn fired(&self, core: &mut Core, ix: NodeIx) {
        let at = self.ctx.watch.micros();
        let list: Vec<(NodeIx, Counted)> = self
            .ctx
            .shape
            .ins(ix)
            .iter()
            .filter(|link| link.counted)
            .map(|link| (link.node, self.counted(core, link.node)))
            .collect();
        let detail = Written {
            list: Some(list.iter().map(|(_, counted)| counted.clone()).collect()),
            ..self.detail(core, ix, at)
        };
        core.values.freeze(ix, list);
        self.must(core, ix, StepState::Done, &detail);
        self.tell(core, ix, StepState::Done);
    }

    fn counted(&self, core: &Core, ix: NodeIx) -> Counted {
        let standing = core.schedule.standing(ix);
        let ok = standing.state == StepState::Done && standing.value;
        let error = core.errors.get(&ix).map(String::as_str);
        Counted {
            step: self.ctx.plan.plan().node(ix).id.clone(),
            ok,
            state: standing.state,
            missing: (!ok).then(|| missing_words(standing.state, error)),
        }
    }

    /// A node that ended by what happened to others. It follows from what is stored, and is written when convenient.
    pub(super) fn ended_unrun(&self, core: &mut Core, ix: NodeIx, state: StepState) {
        let at = self.ctx.watch.micros();
        let detail = Written { error: core.errors.get(&ix).cloned(), ..self.detail(core, ix, at) };
        match detail.write(self.ctx.names.id(ix), state) {
            Ok(write) => core.lazy.push(write),
            Err(fault) => core.stop(fault),
        }
        self.tell(core, ix, state);
    }

    /// Tells the schedule, and whoever watches.
    pub(super) fn happened(&self, core: &mut Core, ix: NodeIx, event: Event) {
        if let Err(illegal) = core.schedule.on(event) {
            core.stop(RunError::Fault(format!("{}: {illegal}", self.ctx.plan.plan().node(ix).id)));
            return;
        }
        self.tell(core, ix, core.schedule.state(ix));
    }

    pub(super) fn must(&self, core: &mut Core, ix: NodeIx, state: StepState, detail: &Written<'_>) {
        match detail.write(self.ctx.names.id(ix), state) {
            Ok(write) => core.must.push(write),
            Err(fault) => core.stop(fault),
        }
    }

    pub(super) fn detail(&self, core: &Core, ix: NodeIx, ended: u64) -> Written<'static> {
        let times = core.times[ix];
        self.ctx.detail(times, Some(ended))
    }

    pub(super) fn tell(&self, core: &mut Core, ix: NodeIx, state: StepState) {
        let Some(observer) = &self.ctx.options.observer else { return };
        let plan = self.ctx.plan.plan();
        let root = culprit(&self.ctx.shape, ix, &|ix| core.schedule.standing(ix)).map(|by| {
            // Whatever blocked it was told before.
            if core.schedule.state(by) == state { core.roots.get(&by).copied().unwrap_or(by) } else { by }
        });
        let root = root.map(|root| {
            core.roots.insert(ix, root);
            let state = serde_json::to_string(&core.schedule.state(root)).unwrap_or_default();
            format!("{} is {}", plan.node(root).id, state.trim_matches('"').replace('_', " "))
        });
        let why = core.errors.get(&ix).or(root.as_ref()).map(String::as_str);
        observer.changed(&Change {
            run: &self.ctx.run,
            node: &plan.node(ix).id,
            state,
            at_ms: self.ctx.watch.micros() / 1_000,
            why,
        });
    }

    pub(super) fn gate_of(&self, ix: NodeIx) -> Option<NodeIx> {
        match self.ctx.shape.kind(ix) {
            Kind::Call { gate, .. } => *gate,
            _ => None,
        }
    }
}

impl<S> Context<S> {
    pub(super) fn detail(&self, times: Times, ended: Option<u64>) -> Written<'static> {
        Written {
            drive: self.number,
            began: self.watch.began_at,
            at: self.watch.micros(),
            attempts: times.attempts,
            queued: times.queued,
            started: times.started,
            ended,
            arguments: None,
            result: None,
            error: None,
            answer: None,
            list: None,
        }
    }
}
