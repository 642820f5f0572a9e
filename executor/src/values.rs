//! What steps read: values of inputs, results of steps, what joins passed on.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;
use plangate_approval::StepState;
use plangate_graph::outline::{Body, Call, Item};
use plangate_graph::template::{Part, Ref, Source, fill_text, source_text, text_refs};
use plangate_graph::value::Object;
use plangate_graph::{NodeIx, Plan, Value};
use serde::{Deserialize, Serialize};

use crate::check::Test;
use crate::schedule::Table;
use crate::tools::SentenceInput;

/// One branch of a `need` join, as it stood when the join fired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Id of the counted step.
    pub step: String,
    /// It is done, and its whole value was passed on. The value is the step's result, which never changes.
    pub ok: bool,
    /// Its state then.
    pub state: StepState,
    /// Why its value is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// The values of one run.
pub(crate) struct Values {
    inputs: Value,
    results: Table<Option<Value>>,
    /// The step that was read last: who reads one after the other mostly reads the next.
    last: Cell<NodeIx>,
    /// What each fired join passed on, in typed order.
    frozen: HashMap<NodeIx, Vec<(NodeIx, Counted)>>,
}

/// Why a reference gives no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// A join went on without the step; why.
    Branch(String),
    /// The path is not there in the value, or there is no value.
    Path(String),
}

impl Missing {
    pub(crate) fn text(self) -> String {
        match self {
            Missing::Branch(text) | Missing::Path(text) => text,
        }
    }
}

/// Nodes by id, and the ids in one place: what is written down of a step shares its id. A step's id is its name.
///
/// The index holds numbers only. A map that owns its keys is ten times as large, and in a plan of 100,000 nodes nearly every
/// look into it leaves the caches.
#[derive(Debug)]
pub(crate) struct Names {
    ids: Table<Arc<str>>,
    index: HashTable<NodeIx>,
    hasher: RandomState,
}

impl Names {
    /// The ids in their order, none twice.
    fn new(ids: Table<Arc<str>>) -> Names {
        let hasher = RandomState::new();
        let mut index = HashTable::with_capacity(ids.len());
        let hash = |ix: &NodeIx| hasher.hash_one(&*ids[*ix]);
        for ix in ids.indices() {
            index.insert_unique(hash(&ix), ix, hash);
        }
        Names { ids, index, hasher }
    }

    pub(crate) fn get(&self, id: &str) -> Option<NodeIx> {
        self.index.find(self.hasher.hash_one(id), |ix| *self.ids[*ix] == *id).copied()
    }

    /// The same where the node is likely the one behind `last`: steps that are written next to each other mostly are.
    pub(crate) fn after(&self, last: NodeIx, id: &str) -> Option<NodeIx> {
        let next = NodeIx(last.0.saturating_add(1));
        match self.ids.0.get(next.0 as usize) {
            Some(known) if **known == *id => Some(next),
            _ => self.get(id),
        }
    }

    pub(crate) fn id(&self, ix: NodeIx) -> &Arc<str> {
        &self.ids[ix]
    }
}

impl Values {
    pub(crate) fn new(inputs: Object, nodes: usize) -> Values {
        let results = Table((0..nodes).map(|_| None).collect());
        Values { inputs: Value::Object(inputs), results, last: Cell::new(NodeIx(0)), frozen: HashMap::new() }
    }

    pub(crate) fn set(&mut self, ix: NodeIx, value: Value) {
        self.results[ix] = Some(value);
    }

    pub(crate) fn freeze(&mut self, join: NodeIx, list: Vec<(NodeIx, Counted)>) {
        self.frozen.insert(join, list);
    }

    /// The value of a reference in this item.
    pub(crate) fn read(&self, plan: &Plan, names: &Names, item: usize, r: &Ref) -> Result<Value, Missing> {
        let not_there = |found: &str| Missing::Path(format!("{{{r}}} is not there: {found}"));
        let root = match &r.source {
            Source::Input(name) => {
                self.inputs.member(name).ok_or_else(|| not_there("the input has no value"))?
            }
            Source::Step(name) => {
                let found = names.after(self.last.get(), name);
                let ix = found.ok_or_else(|| not_there("there is no such step"))?;
                self.last.set(ix);
                if let Some(join) = plan.join_for(item, ix) {
                    let list = self.frozen.get(&join).map_or(&[][..], Vec::as_slice);
                    match list.iter().find(|(node, _)| *node == ix) {
                        Some((_, Counted { missing: Some(why), .. })) => {
                            return Err(Missing::Branch(why.clone()));
                        }
                        Some(_) => {}
                        None => return Err(not_there("its join has not fired")),
                    }
                }
                self.results[ix].as_ref().ok_or_else(|| not_there(&format!("{name} has no value")))?
            }
        };
        r.follow(root).cloned().map_err(|missing| Missing::Path(missing.to_string()))
    }

    /// The arguments of a call. The error names the reader and what it reads.
    pub(crate) fn arguments(
        &self,
        plan: &Plan,
        names: &Names,
        item: usize,
        call: &Call,
    ) -> Result<Value, String> {
        call.args
            .fill(&mut |r| self.read(plan, names, item, r))
            .map_err(|missing| format!("`{}` cannot be called: {}", call.name, missing.text()))
    }

    /// The words of a question, with their values.
    pub(crate) fn words(
        &self,
        plan: &Plan,
        names: &Names,
        item: usize,
        text: &[Part],
    ) -> Result<String, String> {
        fill_text(text, &mut |r| self.read(plan, names, item, r))
            .map_err(|missing| format!("the question cannot be asked: {}", missing.text()))
    }

    /// The inputs of a sentence, in the order of its text, none twice.
    pub(crate) fn sentence(
        &self,
        plan: &Plan,
        names: &Names,
        item: usize,
        name: &str,
        text: &[Part],
    ) -> Result<Vec<SentenceInput>, String> {
        let mut inputs: Vec<SentenceInput> = Vec::new();
        for r in text_refs(text) {
            let read = r.to_string();
            if inputs.iter().any(|input| input.name == read) {
                continue;
            }
            let value = match self.read(plan, names, item, r) {
                Ok(value) => Ok(value),
                Err(Missing::Branch(why)) => Err(why),
                Err(Missing::Path(why)) => return Err(format!("`{name}` cannot be written: {why}")),
            };
            inputs.push(SentenceInput { name: read, value });
        }
        Ok(inputs)
    }

    /// The left side of a check and its test.
    pub(crate) fn check(
        &self,
        plan: &Plan,
        names: &Names,
        item: usize,
        check: &plangate_graph::outline::Check,
    ) -> Result<(Value, Test), String> {
        use plangate_graph::outline::Test as Written;
        let mut read = |r: &Ref| self.read(plan, names, item, r);
        let mut filled = || {
            let left = read(&check.left)?;
            let right = check.test.right().map(|right| right.fill(&mut read)).transpose()?;
            let right = right.unwrap_or_default();
            let test = match check.test {
                Written::IsEmpty => Test::IsEmpty,
                Written::IsNotEmpty => Test::IsNotEmpty,
                Written::Is(_) => Test::Is(right),
                Written::IsNot(_) => Test::IsNot(right),
                Written::Greater(_) => Test::Greater(right),
                Written::Less(_) => Test::Less(right),
                Written::Contains(_) => Test::Contains(right),
            };
            Ok((left, test))
        };
        filled().map_err(|missing: Missing| format!("the check cannot be made: {}", missing.text()))
    }
}

/// The instruction of a sentence: its constant text, references in braces.
pub(crate) fn instruction(text: &[Part]) -> String {
    source_text(text)
}

/// All nodes by id.
pub(crate) fn names(plan: &Plan) -> Names {
    Names::new(Table(plan.nodes().map(|(_, node)| Arc::from(node.id.as_str())).collect()))
}

/// The call of a node.
pub(crate) fn call_of(plan: &Plan, ix: NodeIx) -> Option<(usize, &Call)> {
    match plan.item_of(ix)? {
        (at, Item { body: Body::Call(call), .. }) => Some((at, call)),
        _ => None,
    }
}

/// Why a branch's value is missing, in words.
pub(crate) fn missing_words(state: StepState, error: Option<&str>) -> String {
    let words = match state {
        StepState::Done => "it was said to have happened, without a value",
        StepState::Failed => "it failed",
        StepState::TimedOut => "it did not answer in time",
        StepState::Rejected => "a person said no",
        StepState::Expired => "nobody decided in time",
        StepState::Blocked => "what it waits for did not end as it must",
        StepState::Skipped => "it was not needed",
        StepState::Cancelled => "the run was cancelled",
        StepState::Pending => "it waits for a person to decide",
        StepState::Uncertain => "its outcome is not known",
        StepState::Waiting | StepState::Ready | StepState::Running => "it waits for people",
    };
    match error {
        Some(error) => format!("{words}: {error}"),
        None => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_found_by_its_id_and_nothing_else_is() {
        for nodes in [0_u32, 1, 2, 3, 64, 65, 1_000] {
            let names = Names::new(Table((0..nodes).map(|n| format!("r{n}").into()).collect()));
            for n in 0..nodes {
                let found = Some(NodeIx(n));
                assert_eq!(names.get(&format!("r{n}")), found);
                for last in [0, n.saturating_sub(1), n, nodes, u32::MAX] {
                    assert_eq!(names.after(NodeIx(last), &format!("r{n}")), found, "after {last}");
                }
                assert_eq!(**names.id(NodeIx(n)), *format!("r{n}"));
            }
            for other in ["", "r", "R0", &format!("r{nodes}")] {
                assert_eq!((names.get(other), names.after(NodeIx(0), other)), (None, None), "{other}");
            }
        }
    }
}
