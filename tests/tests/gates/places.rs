//! Every place of some files edited in turn: what passes is what follows from its recipe, and whether all of it was derived
//! again makes no difference.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use plangate_graph::lower::lower;
use plangate_graph::plan::{Edge, Node, NodeIx, NodeKind, Note};
use plangate_graph::problem::Problem;
use plangate_graph::{Author, Catalog, Plan, Policy, VerifiedPlan};

use super::file::{File, J};
use super::stage::{catalog, plan, policy};
use super::tampering::{RECIPES, some_through};

/// What the words of a field can be, beside those that stand elsewhere in the file.
const WORDS: &[(&str, &[&str])] = &[
    ("effect", &["\"read\"", "\"write\"", "\"destructive\"", "\"unknown\""]),
    ("asks", &["\"ended\"", "\"done or skipped\"", "\"done\"", "\"yes\""]),
    ("reason", &["\"data\"", "\"said\"", "\"effect\"", "\"gate\"", "\"counted\""]),
    ("kind", &["\"together\"", "\"then\"", "\"ask me\"", "\"check\""]),
    ("says", &["\"only reads\""]),
    ("message", &["\"nobody need be asked\""]),
];

/// Read once: it is held against thousands of files.
static CATALOG: LazyLock<Catalog> = LazyLock::new(catalog);

/// Under which a plan is held: that of its making, a looser one, a stricter one, some with other worlds.
fn policies() -> [Policy; 5] {
    [
        Policy::default(),
        some_through(),
        policy("[worlds]\nall = [\"*\"]\n"),
        policy(concat!(
            "allow_reversible_writes = true\n",
            "[[reads]]\nserver = \"slack\"\ntool = \"*\"\ndefinition = \"any\"\nreason = \"looked at\"\n",
        )),
        policy(concat!(
            "[[ask]]\nserver = \"*\"\ntool = \"*\"\n",
            "[worlds]\nmail = [\"gmail\"]\nrest = [\"slack\", \"kv\", \"db\"]\n",
        )),
    ]
}

/// A plan by all that is in it, but for the policy that it says it was made under.
#[derive(Debug, PartialEq)]
struct Content<'p> {
    nodes: Vec<&'p Node>,
    edges: Vec<Vec<(NodeIx, &'p Edge)>>,
    of_item: Vec<NodeIx>,
    notes: &'p [Note],
}

fn content(plan: &Plan) -> Content<'_> {
    Content {
        nodes: plan.nodes().map(|(_, node)| node).collect(),
        edges: plan.nodes().map(|(ix, _)| plan.incoming(ix)).collect(),
        of_item: (0..plan.outline().items.len()).map(|item| plan.node_of(item)).collect(),
        notes: plan.notes(),
    }
}

/// A text read and held, or why it cannot be read.
fn held(text: &str, policy: &Policy, author: Author) -> Result<Result<VerifiedPlan, Vec<Problem>>, String> {
    let read = Plan::from_json(text).map_err(|error| error.to_string())?;
    Ok(read.verify(&CATALOG, policy, author))
}

/// Leaves of a file by the turns to take to them, each with the field that it is in.
fn leaves(of: &J, field: &str, turns: &mut Vec<usize>, found: &mut Vec<(Vec<usize>, String, String)>) {
    let mut below = |at: usize, field: &str, j: &J| {
        turns.push(at);
        leaves(j, field, turns, found);
        turns.pop();
    };
    match of {
        J::Obj(members) => members.iter().enumerate().for_each(|(at, (key, j))| below(at, key, j)),
        J::Arr(items) => items.iter().enumerate().for_each(|(at, j)| below(at, field, j)),
        J::Leaf(text) => found.push((turns.clone(), field.to_owned(), text.clone())),
    }
}

fn put(file: &mut File, turns: &[usize], text: &str) {
    let leaf = turns.iter().fold(&mut file.0, |j, at| match j {
        J::Obj(members) => &mut members[*at].1,
        J::Arr(items) => &mut items[*at],
        J::Leaf(_) => panic!("no turn to take"),
    });
    *leaf = J::Leaf(text.to_owned());
}

/// A file with one edit, for every edit: each entry of each list gone, doubled or behind the next, each leaf another.
fn edits(file: &File) -> Vec<File> {
    let mut edited = Vec::new();
    for list in ["definitions", "inputs", "blocks", "nodes", "edges", "notes"] {
        for at in 0..file.clone().len(list) {
            let mut with = |change: &dyn Fn(&mut Vec<J>)| {
                let mut file = file.clone();
                change(file.list(list));
                edited.push(file);
            };
            with(&|entries| drop(entries.remove(at)));
            with(&|entries| entries.insert(at, entries[at].clone()));
            with(&|entries| {
                let entry = entries.remove(at);
                entries.insert((at + 1).min(entries.len()), entry);
            });
        }
    }
    let mut found = Vec::new();
    leaves(&file.0, "", &mut Vec::new(), &mut found);
    let mut words: BTreeMap<&str, BTreeSet<&str>> =
        WORDS.iter().map(|(field, words)| (*field, words.iter().copied().collect())).collect();
    for (_, field, text) in &found {
        words.entry(field).or_default().insert(text);
    }
    for (nth, (turns, field, text)) in found.iter().enumerate() {
        let mut others: BTreeSet<String> = match text.as_str() {
            "true" => BTreeSet::from(["false".to_owned()]),
            "false" => BTreeSet::from(["true".to_owned()]),
            number if number.parse::<u32>().is_ok() => {
                let number: u32 = number.parse().unwrap();
                [number + 1, number.saturating_sub(1)].map(|n| n.to_string()).into()
            }
            // Of many words a few, others at every place.
            _ => {
                let known = &words[field.as_str()];
                let few = known.iter().cycle().skip(nth % known.len()).take(known.len().min(4));
                few.map(|word| (*word).to_owned()).chain(["\"other\"".to_owned()]).collect()
            }
        };
        others.remove(text);
        for other in others {
            let mut file = file.clone();
            put(&mut file, turns, &other);
            edited.push(file);
        }
    }
    edited
}

/// The file with words beside its calls that nobody found, so that all of it is derived again.
fn reworded(file: &File) -> File {
    let mut file = file.clone();
    file.0.walk(&mut |j| {
        if let Some(says) = j.get_mut("says")
            && let Some(text) = says.str()
        {
            *says = J::of(&format!("it is said: {text}"));
        }
    });
    file
}

/// Whether a plan that passed has all that its outline demands now, and whether it is just that.
fn follows(passed: &VerifiedPlan, policy: &Policy, author: Author) -> bool {
    let plan = passed.plan();
    let (fresh, problems) = lower(plan.outline().clone(), &CATALOG, policy, author);
    let fresh = fresh.unwrap_or_else(|| panic!("{problems:#?}"));
    let mut same = true;
    for (item, _) in plan.outline().items.iter().enumerate() {
        let (own, made) = (plan.node_of(item), fresh.node_of(item));
        let NodeKind::Call { judged: now, .. } = &fresh.node(made).kind else { continue };
        let NodeKind::Call { judged, .. } = &plan.node(own).kind else { panic!("no call") };
        assert!(judged.effect >= now.effect && judged.asked >= now.asked, "{judged:?} {now:?}");
        assert_eq!((&judged.evidence, judged.definition), (&now.evidence, now.definition));
        assert_eq!(judged.asked, plan.gate_of(own).is_some());
        same &= judged == now;
    }
    if same {
        assert_eq!(content(plan), content(&fresh));
    } else {
        // With all that it has beyond that.
        let again = plan.again(&CATALOG, policy, author).unwrap();
        assert_eq!(content(plan), content(again.plan()));
    }
    same
}

#[test]
fn whatever_is_edited_passes_only_as_what_follows() {
    let policies = policies();
    let (mut refused, mut just, mut more) = (0, 0, 0);
    for (nth, recipe) in RECIPES.iter().enumerate() {
        for made_under in 0..policies.len() {
            // All of one plan; of the others a few, another few of each.
            let (first, step) = if made_under == nth { (0, 1) } else { (made_under, 12) };
            let file = File::read(&plan(recipe, &policies[made_under], Author::Person).to_json());
            for (at, edited) in edits(&file).iter().enumerate().skip(first).step_by(step) {
                // Half of the edits where they were made, the others somewhere else.
                let policy = &policies[if at % 2 == 0 { made_under } else { at / 2 % policies.len() }];
                let author = if at % 3 == 0 { Author::Model } else { Author::Person };
                let text = edited.sealed(&CATALOG);
                let Ok(quick) = held(&text, policy, author) else {
                    refused += 1;
                    continue;
                };
                let other = reworded(edited).sealed(&CATALOG);
                assert_ne!(other, text);
                let slow = held(&other, policy, author).unwrap_or_else(|error| panic!("{error}\n{text}"));
                match (quick, slow) {
                    (Err(quick), Err(slow)) => {
                        assert_eq!(format!("{quick:#?}"), format!("{slow:#?}"), "{text}");
                        refused += 1;
                    }
                    (Ok(quick), Ok(slow)) => {
                        assert_eq!(content(quick.plan()), content(slow.plan()), "{text}");
                        assert_eq!(quick.documents().plan, slow.documents().plan, "{text}");
                        if follows(&quick, policy, author) { just += 1 } else { more += 1 }
                    }
                    (quick, slow) => panic!("{quick:#?}\n{slow:#?}\n{text}"),
                }
            }
        }
    }
    assert!(refused > 1_000 && just > 300 && more > 40, "{refused} refused, {just} passed, {more} with more");
}
