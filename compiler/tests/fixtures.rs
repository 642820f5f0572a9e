//! Text beside text: every recipe under `fixtures` with everything that is said about it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use plangate_compiler::{
    Colour, Compiled, Options, Severity, compile, documented_codes, explain, outline, render, to_json,
};
use plangate_graph::card::Card;
use plangate_graph::outline::{Body, Outline};
use plangate_graph::policy::Author;
use plangate_graph::template::source_text;
use plangate_graph::{Catalog, Plan, Policy};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn catalog() -> Catalog {
    let path = root().join("../tests/fixtures/catalog.json");
    Catalog::from_json(&fs::read_to_string(path).unwrap()).unwrap()
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

fn compiled(recipe: &str, catalog: &Catalog) -> Compiled {
    compile(recipe, &Options::new(catalog, &Policy::default()).author(Author::Person))
}

/// Whether a code is the compiler's own; the others are of lowering and verifying.
fn is_ours(code: &str) -> bool {
    ["R00", "R01", "R02"].iter().any(|ours| code.starts_with(ours))
}

/// Everything there is to see of a recipe.
fn golden(name: &str, recipe: &str, catalog: &Catalog) -> String {
    let (found, _) = outline(recipe, catalog);
    let Compiled { plan, diagnostics, .. } = compiled(recipe, catalog);
    let mut out = String::new();
    if let Some(outline) = found {
        write!(out, "== outline\n{}", listed(&outline)).unwrap();
    }
    if let Some(plan) = plan {
        writeln!(out, "== plan\n{}", plan.to_json()).unwrap();
        // What was read back is verified and shown, as it would be from a file.
        let read = Plan::from_json(&plan.to_json()).unwrap();
        let verified = read.verify(catalog, &Policy::default(), Author::Person).unwrap();
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
    let catalog = catalog();
    for folder in ["good", "bad"] {
        for (name, recipe) in recipes(&format!("tests/fixtures/{folder}")) {
            let seen = golden(&name, &recipe, &catalog);
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
    let catalog = catalog();
    for (name, recipe) in recipes("../examples") {
        let (outline, diagnostics) = outline(&recipe, &catalog);
        assert!(outline.is_some(), "{name}: {diagnostics:?}");
        assert_eq!(diagnostics, [], "{name}");
    }
}

#[test]
fn every_code_has_a_golden_file() {
    let catalog = catalog();
    let mut seen = Vec::new();
    for folder in ["tests/fixtures/good", "tests/fixtures/bad"] {
        for (_, recipe) in recipes(folder) {
            seen.extend(compiled(&recipe, &catalog).diagnostics.into_iter().map(|d| d.code));
        }
    }
    let missing: Vec<_> = documented_codes().filter(|c| is_ours(c) && !seen.contains(c)).collect();
    assert!(missing.is_empty(), "no fixture shows {missing:?}");
}

#[test]
fn fixes_mend() {
    let catalog = catalog();
    for (name, recipe) in recipes("tests/fixtures/bad") {
        let before = compiled(&recipe, &catalog).diagnostics;
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
            let after = compiled(&mended, &catalog).diagnostics;
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
    let catalog = catalog();
    for code in documented_codes().filter(|c| is_ours(c)) {
        let entry = explain(code).unwrap();
        let [wrong, mended] = examples(entry)[..] else { panic!("{code} has not two examples") };
        let seen = compiled(wrong, &catalog).diagnostics;
        assert!(seen.iter().any(|d| d.code == code), "{code}\n{wrong}{seen:#?}");
        assert_eq!(outline(mended, &catalog).1, [], "{code}\n{mended}");
    }
}
