//! Recipes of all shapes, edited in several places at once.

use proptest::prelude::*;
use proptest::sample::Index;

use plangate_graph::{Author, Policy};

use super::file::File;
use super::mutations::{MUTATIONS, Pick};
use super::stage::{catalog, plan};
use super::tampering::{Fate, fate, some_through};

/// Calls, each with what it can be given to read.
const CALLS: &[&str] = &[
    r#"gmail.list {"query":"Q"}"#,
    r#"fs.write_file {"path":"p","content":"Q"}"#,
    r#"slack.post {"text":"Q"}"#,
    r#"kv.kv {"action":"list","key":"Q"}"#,
    r#"cal.list {"date":"Q"}"#,
    r#"kv.kv {"action":"delete","key":"Q"}"#,
    r#"git.status {"repo":"Q"}"#,
    r#"jira.create {"project":"P","summary":"Q"}"#,
    r#"db.drop {"table":"Q"}"#,
];

/// A recipe made of a few numbers.
pub fn grown(seed: &[(u8, u8, u8)]) -> String {
    let mut recipe = String::new();
    let mut names: Vec<String> = Vec::new();
    for (block, size, pick) in seed {
        let above = names.clone();
        let (size, pick) = (usize::from(size % 3) + 1, usize::from(*pick));
        let mut step = |indent: &str, n: usize| {
            let name = format!("s{}", names.len() + 1);
            let reads = if above.is_empty() || (n + pick).is_multiple_of(3) {
                format!("at {name}")
            } else {
                format!("{name} {{{}}}", above[(n + pick) % above.len()])
            };
            names.push(name.clone());
            let call = CALLS[(pick + n * 4) % CALLS.len()].replace('Q', &reads);
            match (n + pick) % 7 {
                6 if !above.is_empty() => {
                    format!("{indent}{name}: a line about {{{}}}\n", above[pick % above.len()])
                }
                _ => format!("{indent}{name}: {call}\n"),
            }
        };
        match block % 6 {
            0 | 1 => recipe.push_str("together:\n"),
            2 | 3 => recipe.push_str("then:\n"),
            4 => recipe.push_str("ask me:\n"),
            _ if above.is_empty() => recipe.push_str("then:\n"),
            _ => recipe.push_str("check:\n"),
        }
        let guards = match block % 6 {
            4 => Some(format!("  - go on with {pick}?\n")),
            5 if !above.is_empty() => Some(format!("  - {{{}}} is not empty\n", above[pick % above.len()])),
            _ => None,
        };
        let indent = if guards.is_some() { "    " } else { "  " };
        recipe.extend(guards);
        for n in 0..size {
            recipe.push_str(&step(indent, n));
        }
    }
    recipe
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, max_shrink_iters: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_loads_runs_no_gated_tool_without_a_permit(
        seed in prop::collection::vec(any::<(u8, u8, u8)>(), 1..6),
        edits in prop::collection::vec((0..MUTATIONS.len(), any::<Index>(), any::<Index>(), any::<Index>()), 0..4),
        allowing: bool,
        author in prop_oneof![Just(Author::Model), Just(Author::Person)],
    ) {
        let policy = if allowing { some_through() } else { Policy::default() };
        let catalog = catalog();
        let original = plan(&grown(&seed), &policy, author).to_json();
        let mut file = File::read(&original);
        for (mutation, a, b, c) in &edits {
            let Some((_, mutate)) = MUTATIONS.get(*mutation) else { continue };
            mutate(&mut file, Pick(a.index(60), b.index(60), c.index(60)), &catalog);
        }
        let found = fate(&file.sealed(&catalog), &policy, author);
        if edits.is_empty() {
            prop_assert_eq!(found, Fate::Harmless);
        }
    }
}
