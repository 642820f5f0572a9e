//! Every kind of edit at every place of some plans: what loads runs no gated tool without a permit.

use std::collections::{BTreeMap, BTreeSet};

use plangate_graph::{Author, Plan, Policy};

use super::file::File;
use super::mutations::{MUTATIONS, Pick};
use super::stage::{Stage, catalog, only_reads, plan, policy};

/// Recipes that between them have every sort of node, edge and setting.
pub const RECIPES: &[&str] = &[
    concat!(
        "inputs:\n  channel: text = \"#daily\"\n",
        "together sources:\n  a: gmail.list {}\n    retry: 2\n  b: cal.list {}\n  c: slack.create_channel {\"name\":\"news\"}\n",
        "then:\n  need: 2 of 3\n  note: a line about {a, b, c}\n  f: fs.read_file {\"path\":\"{note}\"}\n",
        "ask me:\n  - post to {channel}?\n",
        "    post: slack.post {\"channel\":\"{channel}\",\"text\":\"{note}\"}\n      timeout: 20s\n",
    ),
    concat!(
        "then:\n  k: kv.kv {\"action\":\"list\"}\n  d: kv.kv {\"action\":\"delete\",\"key\":\"{k.action}\"}\n",
        "check:\n  - {k.messages} is not empty\n    send: gmail.send {\"to\":\"{k.messages[0].from}\"}\n",
        "ask me:\n  - go on?\n  - and file it?\n    file: jira.create {\"project\":\"P\",\"summary\":\"s\"}\n    drop: db.drop {\"table\":\"t\"}\n",
        "then:\n  log: fs.write_file {\"path\":\"log\",\"content\":\"x\"}\n    after: k\n  st: git.status {}\n  ci: git.commit {\"message\":\"{st.n} changes\"}\n",
    ),
    concat!(
        "together:\n  r1: fs.read_file {\"path\":\"a\"}\n  r2: fs.read_file {\"path\":\"b\"}\n  w1: s3.put {\"bucket\":\"b\",\"key\":\"k\",\"body\":\"1\"}\n  w2: ci.run_tests {}\n",
        "together:\n  x1: fs.write_file {\"path\":\"x\",\"content\":\"{r1}\"}\n  x2: git.commit {\"message\":\"m\"}\n",
    ),
];

/// A policy under which some calls go through without being asked, and one is asked though it reads.
pub fn some_through() -> Policy {
    policy(concat!(
        "[[allow]]\nserver = \"fs\"\ntool = \"write_file\"\ndefinition = \"DIGEST fs.write_file\"\nreason = \"scratch\"\nwhen = [\"path != \\\"/etc/passwd\\\"\"]\n",
        "[[ask]]\nserver = \"git\"\ntool = \"status\"\n",
        "[[deny]]\nserver = \"prod\"\ntool = \"*\"\n",
        "[worlds]\nfiles = [\"fs\"]\n",
    ))
}

/// What became of an edited text.
#[derive(Debug, PartialEq)]
pub enum Fate {
    /// It was refused, with these codes.
    Refused(Vec<String>),
    /// It loads, and it ran without doing what nobody said yes to.
    Harmless,
}

/// Loads a text and, where it loads, runs it with nobody there. Panics where a tool was called that must not be.
pub fn fate(text: &str, policy: &Policy, author: Author) -> Fate {
    let codes = |problems: Vec<String>| Fate::Refused(problems);
    let read = match Plan::from_json(text) {
        Ok(plan) => plan,
        Err(error) => return codes(vec![error.code.to_owned()]),
    };
    let verified = match read.verify(&catalog(), policy, author) {
        Ok(verified) => verified,
        Err(problems) => return codes(problems.iter().map(|p| p.code.to_owned()).collect()),
    };
    let stage = Stage::new();
    // A run may be refused, for instance for arguments that its inputs do not fit. It may not do anything then.
    let ended = stage.executor().run(&verified, super::stage::start("{}"));
    stage.tools.assert_reads_only(text);
    // A read that was said to be more has a permit and changes nothing.
    for (tool, args) in stage.tools.effects().into_iter().filter(|call| !only_reads(call)) {
        let allowed =
            *policy != Policy::default() && tool == "fs.write_file" && !args.contains("/etc/passwd");
        let waived = author == Author::Person && text.contains("\"without_asking\":true");
        assert!(allowed || waived, "{tool} {args} was called and nobody said yes\n{ended:#?}\n{text}");
    }
    Fate::Harmless
}

#[test]
fn what_is_not_edited_runs_to_its_gates() {
    for recipe in RECIPES {
        for policy in [Policy::default(), some_through()] {
            let text = plan(recipe, &policy, Author::Person).to_json();
            assert_eq!(File::read(&text).sealed(&catalog()), text, "an unedited file is sealed as it was");
            assert_eq!(fate(&text, &policy, Author::Person), Fate::Harmless);
        }
    }
}

#[test]
fn every_edit_at_every_place_is_refused_or_harmless() {
    let catalog = catalog();
    let mut codes: BTreeSet<String> = BTreeSet::new();
    let mut fates: BTreeMap<&str, (usize, usize, usize)> = BTreeMap::new();
    for (at, recipe) in RECIPES.iter().enumerate() {
        for policy in [Policy::default(), some_through()].into_iter().skip(at % 2) {
            let original = plan(recipe, &policy, Author::Person).to_json();
            let original_file = File::read(&original);
            let places = original_file.clone().len("nodes").max(original_file.clone().len("edges"));
            let mut seen = BTreeSet::from([original]);
            for (name, mutate) in MUTATIONS {
                let fates = fates.entry(name).or_default();
                for a in 0..places {
                    for b in 0..2 {
                        let mut file = original_file.clone();
                        mutate(&mut file, Pick(a, a * 2 + b, a + b), &catalog);
                        let text = file.sealed(&catalog);
                        if !seen.insert(text.clone()) {
                            continue;
                        }
                        match fate(&text, &policy, Author::Model) {
                            Fate::Refused(found) if found == ["V0107"] => fates.1 += 1,
                            Fate::Refused(found) => {
                                codes.extend(found);
                                fates.0 += 1;
                            }
                            Fate::Harmless => fates.2 += 1,
                        }
                    }
                }
            }
        }
    }
    let total = |n: fn(&(usize, usize, usize)) -> usize| fates.values().map(n).sum::<usize>();
    let (refused, digest, harmless) = (total(|f| f.0), total(|f| f.1), total(|f| f.2));
    assert!(refused > 500, "{fates:#?}");
    assert!(harmless > 20, "whatever is edited is refused, so nothing was run: {fates:#?}");
    assert!(digest * 5 < refused, "too many fall at the digest, behind which nothing is tried: {fates:#?}");
    let idle: Vec<_> = fates.iter().filter(|(_, f)| f.0 + f.1 + f.2 == 0).collect();
    assert!(idle.is_empty(), "these changed nothing: {idle:?}");
    let wanted = [
        "V0102", "V0103", "V0104", "V0105", "V0106", "V0201", "V0202", "V0203", "V0204", "V0205", "V0206",
        "V0207", "V0208", "V0209", "V0210", "V0211", "V0215", "V0216", "V0301", "V0302", "V0303", "V0304",
        "V0401", "V0402", "V0403", "V0404", "V0405", "V0406", "V0407", "V0408", "R0501", "R0502", "R0504",
        "R0510",
    ];
    let missing: Vec<_> = wanted.iter().filter(|code| !codes.contains(**code)).collect();
    assert!(missing.is_empty(), "no edit met {missing:?}; met were {codes:?}");
}
