//! Plans as they are given, one a line:
//! `{"id","source","best_ms"?,"steps":[{"id","tool","args","reads","after"?,"cost_ms"?}]}`.

use std::collections::{BTreeMap, BinaryHeap};

use plangate_graph::Value;

use crate::shared;

/// A plan as it is given. Nothing is known of whether it makes sense.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// Its id.
    pub id: String,
    /// The best time there is for it, where somebody has published one, in milliseconds.
    pub best_ms: Option<u64>,
    /// Its steps, as they stand.
    pub steps: Vec<GivenStep>,
}

/// A step as it is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenStep {
    /// Its id.
    pub id: String,
    /// The tool, with a server in front of a dot or without.
    pub tool: String,
    /// The arguments; `${step}` and `${step.path}` in a text read a step.
    pub args: Value,
    /// What it reads.
    pub reads: Vec<String>,
    /// What else it waits for.
    pub after: Vec<String>,
    /// What it takes, in milliseconds; one where nothing is said.
    pub cost_ms: u64,
}

/// The plans of one file of the shared data; nothing where it is absent.
///
/// # Panics
/// Where the file is there and cannot be read.
pub fn read(name: &str) -> Option<Vec<Given>> {
    let path = shared(&format!("data/plans/{name}.jsonl"))?;
    #[expect(clippy::expect_used, reason = "a test may fail")]
    let text = std::fs::read_to_string(&path).expect("the file of plans is there");
    #[expect(clippy::expect_used, reason = "a test may fail")]
    let plans = text.lines().map(|line| Given::read(line).expect("a plan a line")).collect();
    Some(plans)
}

impl Given {
    /// Reads one line; nothing where it is no plan.
    pub fn read(line: &str) -> Option<Given> {
        let plan = Value::parse(line).ok()?;
        let Some(Value::List(steps)) = plan.member("steps") else { return None };
        Some(Given {
            id: text(&plan, "id")?,
            best_ms: number(&plan, "best_ms"),
            steps: steps.iter().map(GivenStep::read).collect::<Option<_>>()?,
        })
    }

    /// Places of steps by id; of an id that is given twice, the last.
    pub fn places(&self) -> BTreeMap<&str, usize> {
        self.steps.iter().enumerate().map(|(at, step)| (step.id.as_str(), at)).collect()
    }

    /// The same steps, each after what it waits for, otherwise as they stand; nothing where they wait for each other or
    /// for what is not there.
    pub fn in_order(&self) -> Option<Given> {
        let places = self.places();
        let mut open = vec![0; self.steps.len()];
        let mut outs = vec![Vec::new(); self.steps.len()];
        for (at, step) in self.steps.iter().enumerate() {
            for before in step.waits() {
                outs.get_mut(*places.get(before)?)?.push(at);
                *open.get_mut(at)? += 1;
            }
        }
        let turn = std::cmp::Reverse::<usize>;
        let mut ready: BinaryHeap<_> =
            open.iter().enumerate().filter(|(_, open)| **open == 0).map(|(at, _)| turn(at)).collect();
        let mut steps = Vec::with_capacity(self.steps.len());
        while let Some(std::cmp::Reverse(at)) = ready.pop() {
            steps.push(self.steps.get(at)?.clone());
            for next in outs.get(at)? {
                let left = open.get_mut(*next)?;
                *left -= 1;
                if *left == 0 {
                    ready.push(turn(*next));
                }
            }
        }
        (steps.len() == self.steps.len()).then_some(Given { steps, ..self.clone() })
    }

    /// When each step can end at the earliest, in the order of the steps, which must be one: nothing starts before what
    /// it waits for has ended.
    pub fn earliest_ends(&self) -> Vec<u64> {
        let places = self.places();
        let mut ends: Vec<u64> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let before = step.waits().filter_map(|name| ends.get(*places.get(name)?)).max();
            ends.push(before.copied().unwrap_or(0) + step.cost_ms);
        }
        ends
    }

    /// How long a runner takes that starts a level when all of the level above has ended.
    pub fn level_barrier(&self) -> u64 {
        let places = self.places();
        let mut depths: Vec<usize> = Vec::with_capacity(self.steps.len());
        let mut slowest: BTreeMap<usize, u64> = BTreeMap::new();
        for step in &self.steps {
            let before = step.waits().filter_map(|name| depths.get(*places.get(name)?)).max();
            let depth = before.map_or(0, |above| above + 1);
            depths.push(depth);
            let slot = slowest.entry(depth).or_default();
            *slot = step.cost_ms.max(*slot);
        }
        slowest.values().sum()
    }

    /// All steps one after the other.
    pub fn sum(&self) -> u64 {
        self.steps.iter().map(|step| step.cost_ms).sum()
    }
}

impl GivenStep {
    fn read(step: &Value) -> Option<GivenStep> {
        Some(GivenStep {
            id: text(step, "id")?,
            tool: text(step, "tool")?,
            args: step.member("args")?.clone(),
            reads: texts(step, "reads"),
            after: texts(step, "after"),
            cost_ms: number(step, "cost_ms").unwrap_or(1),
        })
    }

    /// All that it waits for, each once.
    pub fn waits(&self) -> impl Iterator<Item = &str> {
        let after = self.after.iter().filter(|name| !self.reads.contains(name));
        self.reads.iter().chain(after).map(String::as_str)
    }

    /// The references in its arguments whose path a recipe cannot say, as a recipe would write them: a field with a blank
    /// in it, an index that is no number.
    pub fn strange_references(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut open = vec![&self.args];
        while let Some(value) = open.pop() {
            match value {
                Value::Text(text) => {
                    found.extend(references(text).filter(|r| !is_plain(r)).map(|r| format!("{{{r}}}")))
                }
                Value::List(items) => open.extend(items),
                Value::Object(members) => open.extend(members.iter().map(|(_, member)| member)),
                _ => {}
            }
        }
        found
    }
}

/// What stands between `${` and `}`.
fn references(text: &str) -> impl Iterator<Item = &str> {
    text.split("${").skip(1).filter_map(|rest| Some(rest.split_once('}')?.0))
}

/// `step.field[3].field`
fn is_plain(reference: &str) -> bool {
    reference.split('.').all(|part| {
        let mut pieces = part.split('[');
        let field = pieces.next().is_some_and(|field| {
            !field.is_empty()
                && field.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | '@'))
        });
        field
            && pieces.all(|index| {
                index
                    .strip_suffix(']')
                    .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
            })
    })
}

fn text(of: &Value, key: &str) -> Option<String> {
    of.member(key)?.text().map(str::to_owned)
}

fn texts(of: &Value, key: &str) -> Vec<String> {
    match of.member(key) {
        Some(Value::List(items)) => items.iter().filter_map(Value::text).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

fn number(of: &Value, key: &str) -> Option<u64> {
    match of.member(key)? {
        Value::Number(number) => number.as_str().parse().ok(),
        _ => None,
    }
}
