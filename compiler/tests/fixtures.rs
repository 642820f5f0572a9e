//! Text beside text: every recipe under `fixtures` with everything that is said about it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]
#![allow(clippy::disallowed_methods, reason = "fixtures are files")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use plangate_compiler::{
    Colour, Compiled, Options, Severity, compile, documented_codes, explain, language_guide, outline, render,
    to_json,
};
use plangate_graph::card::Card;
use plangate_graph::outline::{Body, Outline};
use plangate_graph::policy::Author;
use plangate_graph::template::source_text;
use plangate_graph::{Catalog, Plan, Policy};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// What recipes are compiled against.
struct Against {
    catalog: Catalog,
    policy: Policy,
}

/// The catalog of all fixtures, and the default policy.
fn usual() -> Against {
    let path = root().join("../tests/fixtures/catalog.json");
    let catalog = Catalog::from_json(&fs::read_to_string(path).unwrap()).unwrap();
    Against { catalog, policy: Policy::default() }
}

/// As usual, but for a catalog or a policy that lies beside the recipe.
fn beside(folder: &str, name: &str) -> Against {
    let mut against = usual();
    let beside = |ending: &str| fs::read_to_string(root().join(folder).join(format!("{name}.{ending}"))).ok();
    if let Some(text) = beside("catalog.json") {
        against.catalog = Catalog::from_json(&text).unwrap();
    }
    if let Some(text) = beside("policy.toml") {
        against.policy = Policy::from_toml(&text).unwrap();
    }
    against
}

fn recipes(folder: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "recipe"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    found.sort();
    assert!(!found.is_empty(), "no recipes in {folder}");
    found
}

fn compiled(recipe: &str, against: &Against) -> Compiled {
    compile(recipe, &Options::new(&against.catalog, &against.policy).author(Author::Person))
}

/// Codes that are said of recipes. The others are said of plans and policies that were read, and so is `R0501`: here a
/// tool that does not exist is found before lowering.
fn of_recipes(code: &str) -> bool {
    code.starts_with('R') && code != "R0501"
}

/// Everything there is to see of a recipe.
fn golden(name: &str, recipe: &str, against: &Against) -> String {
    let (found, _) = outline(recipe, &against.catalog);
    let Compiled { plan, diagnostics, .. } = compiled(recipe, against);
    let mut out = String::new();
    if let Some(outline) = found {
        write!(out, "== outline\n{}", listed(&outline)).unwrap();
    }
    if let Some(plan) = plan {
        writeln!(out, "== plan\n{}", plan.to_json()).unwrap();
        // What was read back is verified and shown, as it would be from a file.
        let read = Plan::from_json(&plan.to_json()).unwrap();
        let verified = read.verify(&against.catalog, &against.policy, Author::Person).unwrap();
        assert_eq!(verified.plan().to_json(), plan.to_json());
        let card = Card::of(&verified, None);
        writeln!(out, "== card\n{}", card.to_text()).unwrap();
        writeln!(out, "== markdown\n{}", card.to_markdown()).unwrap();
    }
    if !diagnostics.is_empty() {
        let file = format!("{name}.recipe");
        write!(out, "== diagnostics\n{}", render(&diagnostics, recipe, &file, Colour::Plain)).unwrap();
        let lines = to_json(&diagnostics).replace("},{\"code\"", "},\n{\"code\"");
        writeln!(out, "== json\n{lines}").unwrap();
    }
    out
}

/// An outline, an item a line.
fn listed(outline: &Outline) -> String {
    let mut out = String::new();
    for input in &outline.inputs {
        let default = input.default.as_ref().map(|v| format!(" = {v}")).unwrap_or_default();
        writeln!(out, "input {}: {:?}{default}", input.name, input.kind).unwrap();
    }
    for (index, block) in outline.blocks.iter().enumerate() {
        let name = block.name.as_ref().map(|n| format!(" {n}")).unwrap_or_default();
        let need = block.need.map(|n| format!(", need {} of {}", n.k, n.n)).unwrap_or_default();
        writeln!(out, "block {index} {}{name}{need}", block.word()).unwrap();
    }
    for (index, item) in outline.items.iter().enumerate() {
        let under = item.under.map(|u| format!(" under {u}")).unwrap_or_default();
        write!(out, "item {index} in {}{under}: ", item.block).unwrap();
        match &item.body {
            Body::Call(call) => {
                write!(out, "{} = {} · {} {:?}", call.name, call.server, call.tool, call.args).unwrap();
                if call.without_asking {
                    out.push_str(" without asking");
                }
            }
            Body::Sentence(sentence) => {
                write!(out, "{} = {:?}", sentence.name, source_text(&sentence.text)).unwrap();
            }
            Body::Question(question) => write!(out, "? {:?}", source_text(&question.text)).unwrap(),
            Body::Check(check) => write!(out, "{{{}}} {:?}", check.left, check.test).unwrap(),
        }
        if let Some(settings) =
            item.settings().filter(|s| **s != plangate_graph::outline::Settings::default())
        {
            write!(out, " {settings:?}").unwrap();
        }
        out.push('\n');
    }
    out
}

#[test]
fn golden_files() {
    for folder in ["good", "bad"] {
        let path = format!("tests/fixtures/{folder}");
        for (name, recipe) in recipes(&path) {
            let seen = golden(&name, &recipe, &beside(&path, &name));
            let errors = seen.contains("\"severity\":\"error\"");
            assert_eq!(errors, folder == "bad", "{folder}/{name}\n{seen}");
            insta::with_settings!({
                prepend_module_to_snapshot => false,
                snapshot_path => root().join("tests/fixtures").join(folder),
                omit_expression => true,
            }, { insta::assert_snapshot!(name, seen) });
        }
    }
}

#[test]
fn examples_compile() {
    let usual = usual();
    for (name, recipe) in recipes("../examples") {
        let (outline, diagnostics) = outline(&recipe, &usual.catalog);
        assert!(outline.is_some(), "{name}: {diagnostics:?}");
        assert_eq!(diagnostics, [], "{name}");
    }
}

#[test]
fn every_code_has_a_golden_file() {
    let mut seen = Vec::new();
    for folder in ["tests/fixtures/good", "tests/fixtures/bad"] {
        for (name, recipe) in recipes(folder) {
            seen.extend(compiled(&recipe, &beside(folder, &name)).diagnostics.into_iter().map(|d| d.code));
        }
    }
    let missing: Vec<_> = documented_codes().filter(|c| of_recipes(c) && !seen.contains(c)).collect();
    assert!(missing.is_empty(), "no fixture shows {missing:?}");
}

#[test]
fn fixes_mend() {
    let usual = usual();
    for (name, recipe) in recipes("tests/fixtures/bad") {
        let before = compiled(&recipe, &usual).diagnostics;
        for diagnostic in before.iter().filter(|d| d.fix.is_some()) {
            let fix = diagnostic.fix.as_ref().unwrap();
            let mended =
                format!("{}{}{}", &recipe[..fix.span.start], fix.replacement, &recipe[fix.span.end..]);
            let count = |diagnostics: &[plangate_compiler::Diagnostic]| {
                diagnostics
                    .iter()
                    .filter(|d| d.code == diagnostic.code && d.severity == Severity::Error)
                    .count()
            };
            let after = compiled(&mended, &usual).diagnostics;
            assert!(
                count(&after) < count(&before) || diagnostic.severity != Severity::Error,
                "{name}: {} stays after its fix\n{mended}\n{after:#?}",
                diagnostic.code
            );
        }
    }
}

/// The recipes in an entry of the documentation.
fn examples(entry: &str) -> Vec<&str> {
    entry.split("```recipe\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn documented_examples_show_their_code_and_how_to_mend_it() {
    let usual = usual();
    for code in documented_codes().filter(|c| of_recipes(c)) {
        let entry = explain(code).unwrap();
        let [wrong, mended] = examples(entry)[..] else {
            assert!(["R0502", "R0511"].contains(&code), "{code} has not two examples");
            continue; // What is wrong there is not in the recipe.
        };
        let seen = compiled(wrong, &usual).diagnostics;
        assert!(seen.iter().any(|d| d.code == code), "{code}\n{wrong}{seen:#?}");
        let after = compiled(mended, &usual).diagnostics;
        assert!(
            after.iter().all(|d| d.severity == Severity::Note && d.code != code),
            "{code}\n{mended}{after:#?}"
        );
    }
}

/// Codes in string literals of a crate's sources.
fn codes_in(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            codes_in(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let source = fs::read_to_string(&path).unwrap();
            let strings = source.split('"').filter(|s| s.len() == 5 && s.starts_with(['R', 'P', 'V']));
            found.extend(strings.filter(|s| s[1..].bytes().all(|b| b.is_ascii_digit())).map(str::to_owned));
        }
    }
}

#[test]
fn codes_of_the_graph_are_documented() {
    let mut codes = Vec::new();
    codes_in(&root().join("../graph/src"), &mut codes);
    assert!(codes.len() > 10, "{codes:?}");
    let missing: Vec<_> = codes.iter().filter(|code| explain(code).is_none()).collect();
    assert!(missing.is_empty(), "no entry for {missing:?}");
}

#[test]
fn recipes_in_the_guide_and_on_the_page_compile() {
    let usual = usual();
    let page = fs::read_to_string(root().join("../docs/language.md")).unwrap();
    for text in [language_guide(), &page] {
        let recipe = text.split("```").nth(1).unwrap().trim_start_matches('\n');
        assert!(recipe.starts_with("# The weekday briefing."), "{recipe}");
        assert_eq!(compiled(recipe, &usual).diagnostics, []);
    }
}
