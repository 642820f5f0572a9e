//! The tables, in maps.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, MutexGuard};

use plangate_graph::{Digest, Document};

use crate::clock::Time;
use crate::event::What;
use crate::row::{Edited, RowId, Vote};
use crate::run::{Holder, NewRun, Run, RunId, StepState, StepWrite};
use crate::state::{RunHead, Stored, Tenure};
use crate::storage::{Accepted, Event, StoreError};
use crate::verbs::{OpenStates, RowsOf, Tables};

/// The steps of a run by node id: state and detail.
type KeptSteps = BTreeMap<Arc<str>, (StepState, Arc<[u8]>)>;

/// Everything that is kept.
#[derive(Debug)]
pub(super) struct Kept {
    genesis: Digest,
    runs: Vec<KeptRun>,
    run_at: HashMap<RunId, usize>,
    documents: HashMap<Digest, Document>,
    steps: HashMap<RunId, KeptSteps>,
    rows: Vec<Stored>,
    row_at: HashMap<RowId, usize>,
    rows_of: HashMap<RunId, Vec<usize>>,
    /// The rows of each node of a run.
    asks: HashMap<RunId, HashMap<String, Vec<usize>>>,
    events: Vec<Event>,
    /// Holders whose process a test has killed.
    pub(super) dead: HashSet<Holder>,
}

#[derive(Debug)]
struct KeptRun {
    new: NewRun,
    head: RunHead,
    created: Time,
}

/// Everything, and the time since the lock was taken.
pub(super) struct Locked<'a> {
    pub(super) kept: MutexGuard<'a, Kept>,
    pub(super) now: Time,
}

impl Kept {
    pub(super) fn empty(genesis: Digest) -> Kept {
        Kept {
            genesis,
            runs: Vec::new(),
            run_at: HashMap::new(),
            documents: HashMap::new(),
            steps: HashMap::new(),
            rows: Vec::new(),
            row_at: HashMap::new(),
            rows_of: HashMap::new(),
            asks: HashMap::new(),
            events: Vec::new(),
            dead: HashSet::new(),
        }
    }

    fn run(&self, id: &RunId) -> Option<&KeptRun> {
        self.runs.get(*self.run_at.get(id)?)
    }

    fn row_mut(&mut self, id: &RowId) -> Option<&mut Stored> {
        self.rows.get_mut(*self.row_at.get(id)?)
    }

    fn rows_of<'a>(&'a self, run: &RunId) -> impl Iterator<Item = &'a Stored> {
        self.rows_of.get(run).into_iter().flatten().filter_map(|at| self.rows.get(*at))
    }

    fn tenure(&self, run: &RunId) -> Option<Tenure> {
        self.run(run).map(|kept| kept.head.tenure.clone())
    }
}

impl KeptRun {
    fn whole(&self) -> Run {
        let KeptRun { new, head, created } = self;
        Run {
            id: new.id.clone(),
            plan: head.plan,
            catalog: new.catalog.digest(),
            policy: new.policy.digest(),
            inputs: new.inputs.clone(),
            requester: new.requester.clone(),
            author: new.author.clone(),
            title: new.title.clone(),
            hold_siblings: new.hold_siblings,
            state: head.state,
            reason: head.reason.clone(),
            fence: head.tenure.fence,
            holder: head.tenure.holder.as_ref().map(|holder| holder.0.clone()),
            lease_until: head.tenure.lease_until,
            driven: false,
            wake: head.wake,
            cancel_at: head.cancel_at,
            created: *created,
            updated: head.updated,
        }
    }
}

impl Tables for Locked<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn dead(&mut self, holder: &Holder) -> Result<bool, StoreError> {
        Ok(self.kept.dead.contains(holder))
    }

    fn head(&mut self, run: &RunId) -> Result<Option<RunHead>, StoreError> {
        Ok(self.kept.run(run).map(|kept| kept.head.clone()))
    }

    fn add_run(&mut self, run: &NewRun, head: &RunHead) -> Result<(), StoreError> {
        for document in [&run.plan, &run.catalog, &run.policy] {
            self.kept.documents.insert(document.digest(), document.clone());
        }
        let at = self.kept.runs.len();
        self.kept.run_at.insert(run.id.clone(), at);
        let kept = KeptRun { new: run.clone(), head: head.clone(), created: self.now };
        self.kept.runs.push(kept);
        Ok(())
    }

    fn replace_documents(&mut self, run: &RunId, accepted: &Accepted) -> Result<(), StoreError> {
        for document in [&accepted.plan, &accepted.catalog, &accepted.policy] {
            self.kept.documents.insert(document.digest(), document.clone());
        }
        let at = self.kept.run_at.get(run).copied();
        if let Some(kept) = at.and_then(|at| self.kept.runs.get_mut(at)) {
            kept.head.plan = accepted.plan.digest();
            kept.new.plan.clone_from(&accepted.plan);
            kept.new.catalog.clone_from(&accepted.catalog);
            kept.new.policy.clone_from(&accepted.policy);
        }
        Ok(())
    }

    fn save_head(&mut self, head: &RunHead) -> Result<(), StoreError> {
        let at = self.kept.run_at.get(&head.id).copied();
        if let Some(kept) = at.and_then(|at| self.kept.runs.get_mut(at)) {
            kept.head = head.clone();
        }
        Ok(())
    }

    fn write_step(&mut self, run: &RunId, step: &StepWrite) -> Result<(), StoreError> {
        let steps = &mut self.kept.steps;
        if !steps.contains_key(run) {
            steps.insert(run.clone(), BTreeMap::new());
        }
        if let Some(steps) = steps.get_mut(run) {
            steps.insert(Arc::clone(&step.node), (step.state, Arc::clone(&step.detail)));
        }
        Ok(())
    }

    fn set_step(&mut self, run: &RunId, node: &str, state: StepState) -> Result<(), StoreError> {
        if let Some(step) = self.kept.steps.get_mut(run).and_then(|steps| steps.get_mut(node)) {
            step.0 = state;
        }
        Ok(())
    }

    fn cancel_steps(&mut self, run: &RunId) -> Result<(), StoreError> {
        for (state, _) in self.kept.steps.get_mut(run).into_iter().flat_map(BTreeMap::values_mut) {
            if !state.ended() && *state != StepState::Uncertain {
                *state = StepState::Cancelled;
            }
        }
        Ok(())
    }

    fn stored(&mut self, row: &RowId) -> Result<Option<Stored>, StoreError> {
        Ok(self.kept.row_mut(row).cloned())
    }

    fn stored_at(&mut self, run: &RunId, node: &str, ask: u32) -> Result<Option<Stored>, StoreError> {
        let asks = self.kept.asks.get(run).and_then(|nodes| nodes.get(node));
        let rows = asks.into_iter().flatten().filter_map(|at| self.kept.rows.get(*at));
        Ok(rows.rev().find(|s| s.row.ask == ask).cloned())
    }

    fn open_rows(&mut self, run: &RunId, states: OpenStates) -> Result<Vec<Stored>, StoreError> {
        Ok(self.kept.rows_of(run).filter(|s| states.holds(s.row.state)).cloned().collect())
    }

    fn add_row(&mut self, row: &Stored) -> Result<(), StoreError> {
        let at = self.kept.rows.len();
        self.kept.row_at.insert(row.row.id.clone(), at);
        self.kept.rows_of.entry(row.row.run.clone()).or_default().push(at);
        let asks = self.kept.asks.entry(row.row.run.clone()).or_default();
        asks.entry(row.row.node.clone()).or_default().push(at);
        self.kept.rows.push(row.clone());
        Ok(())
    }

    fn save_row(&mut self, row: &Stored) -> Result<(), StoreError> {
        if let Some(kept) = self.kept.row_mut(&row.row.id) {
            *kept = row.clone();
        }
        Ok(())
    }

    /// Votes stand in the row.
    fn keep_vote(&mut self, _: &RowId, _: &Vote) -> Result<(), StoreError> {
        Ok(())
    }

    /// Edits stand in the row.
    fn save_edit(&mut self, _: &Stored, _: &Edited) -> Result<(), StoreError> {
        Ok(())
    }

    fn append(&mut self, what: &What) -> Result<(), StoreError> {
        let last = self.kept.events.last();
        let prev = last.map_or(self.kept.genesis, |e| e.hash);
        let seq = last.map_or(1, |e| e.seq + 1);
        let event = Event::chained(prev, seq, self.now, what.text());
        self.kept.events.push(event);
        Ok(())
    }

    fn whole_run(&mut self, run: &RunId) -> Result<Option<Run>, StoreError> {
        Ok(self.kept.run(run).map(KeptRun::whole))
    }

    fn whole_runs(&mut self) -> Result<Vec<Run>, StoreError> {
        Ok(self.kept.runs.iter().rev().map(KeptRun::whole).collect())
    }

    fn steps(&mut self, run: &RunId) -> Result<Vec<StepWrite>, StoreError> {
        let Some(steps) = self.kept.steps.get(run) else { return Ok(Vec::new()) };
        let mut all = Vec::with_capacity(steps.len());
        all.extend(steps.iter().map(|(node, (state, detail))| StepWrite {
            node: Arc::clone(node),
            state: *state,
            detail: Arc::clone(detail),
        }));
        Ok(all)
    }

    fn rows(&mut self, of: RowsOf<'_>) -> Result<Vec<(Stored, Tenure)>, StoreError> {
        let kept = &self.kept;
        let rows: Vec<&Stored> = match of {
            RowsOf::Row(id) => kept.row_at.get(id).and_then(|at| kept.rows.get(*at)).into_iter().collect(),
            RowsOf::Run(run) => kept.rows_of(run).collect(),
            RowsOf::All => kept.rows.iter().collect(),
            RowsOf::Same { server, tool, digest } => {
                kept.rows.iter().filter(|s| s.row.is_call(server, tool, digest)).collect()
            }
            RowsOf::Digests(digests) => {
                let digests: HashSet<&Digest> = digests.iter().collect();
                kept.rows.iter().filter(|s| digests.contains(&s.row.digest)).collect()
            }
            RowsOf::Open => kept.rows.iter().filter(|s| s.row.state.open()).collect(),
        };
        let with_tenure = |s: &Stored| kept.tenure(&s.row.run).map(|tenure| (s.clone(), tenure));
        Ok(rows.into_iter().filter_map(with_tenure).collect())
    }

    fn document(&mut self, digest: &Digest) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.kept.documents.get(digest).map(|document| document.bytes().to_vec()))
    }

    fn events(&mut self, after: u64) -> Result<Vec<Event>, StoreError> {
        let skip = usize::try_from(after).unwrap_or(usize::MAX);
        Ok(self.kept.events.iter().skip(skip).cloned().collect())
    }
}
