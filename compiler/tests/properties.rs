//! Whatever the text is: no panic, places that lie in the text, the same answer every time.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]
#![allow(clippy::disallowed_methods, reason = "fixtures are files")]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use plangate_compiler::{
    Colour, Diagnostic, Options, Plan, Severity, Span, compile, outline, render, to_json,
};
use plangate_graph::outline::{Body, Outline};
use plangate_graph::template::Template;
use plangate_graph::{Catalog, Policy};
use proptest::prelude::*;
use proptest::sample::{Index, select};

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    let path = folder().join("../tests/fixtures/catalog.json");
    Catalog::from_json(&fs::read_to_string(path).unwrap()).unwrap()
});

fn recipes() -> Vec<String> {
    let folders = ["tests/fixtures/good", "tests/fixtures/bad", "../examples"];
    let mut paths: Vec<_> = folders
        .iter()
        .flat_map(|f| fs::read_dir(folder().join(f)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "recipe"))
        .collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

fn check_span(recipe: &str, span: Span) {
    assert!(span.start <= span.end, "{span:?}");
    assert!(recipe.get(span.start..span.end).is_some(), "{span:?} in {recipe:?}");
    for (offset, line, column) in
        [(span.start, span.line, span.column), (span.end, span.end_line, span.end_column)]
    {
        let before = &recipe[..offset];
        assert_eq!(line, before.matches('\n').count() + 1);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        assert_eq!(column, recipe[line_start..offset].chars().count() + 1);
    }
}

fn check(recipe: &str, catalog: &Catalog) -> Vec<Diagnostic> {
    let policy = Policy::default();
    let options = Options::new(catalog, &policy);
    let first = compile(recipe, &options);
    let second = compile(recipe, &options);
    assert_eq!(first.diagnostics, second.diagnostics);
    assert_eq!(first.plan.as_ref().map(Plan::to_json), second.plan.as_ref().map(Plan::to_json));
    let errors = first.diagnostics.iter().any(|d| d.severity == Severity::Error);
    assert!(!(errors && second.plan.is_some()));
    assert!(outline(recipe, catalog).0.is_some() || errors, "no outline and no error: {recipe:?}");
    for diagnostic in &first.diagnostics {
        diagnostic.labels.iter().for_each(|label| check_span(recipe, label.span));
        diagnostic.fix.iter().for_each(|fix| check_span(recipe, fix.span));
    }
    for colour in [Colour::Plain, Colour::Ansi] {
        let text = render(&first.diagnostics, recipe, "a.recipe", colour);
        let controls = text.chars().filter(|c| c.is_control() && !matches!(c, '\n' | '\u{1b}')).count();
        assert_eq!(controls, 0, "{text:?}");
        assert!(colour == Colour::Ansi || !text.contains('\u{1b}'), "{text:?}");
    }
    let json = to_json(&first.diagnostics);
    assert!(serde_json::from_str::<serde_json::Value>(&json).unwrap().is_array());
    first.diagnostics
}

/// Pieces that recipes are made of, in any order.
fn scraps() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "inputs:",
        "together a:",
        "then:",
        "ask me:",
        "check:",
        "need: 1 of 2",
        "timeout: 5s",
        "retry: 2",
        "after: a, b",
        "a",
        "b",
        "c",
        ": ",
        "- ",
        "\n",
        "\n  ",
        "\n    ",
        "\r\n",
        "\t",
        " ",
        "{a}",
        "{a.b[0]}",
        "{{a}}",
        "{a, b}",
        "{ a }",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "\\",
        "\\u00",
        "\\ud83d",
        "{\"",
        "\"a\":",
        ",",
        ":",
        "cal.list {}",
        "gmail.list",
        "slack.post {\"text\":\"",
        "without asking",
        "is not empty",
        "is ",
        "> 3",
        "text = ",
        "yes/no",
        "#",
        "# x",
        "é",
        "e\u{301}",
        "\u{200b}",
        "\u{202e}",
        "\u{a0}",
        "\u{feff}",
        "\0",
        "👍",
        "1",
        "-1.5e3",
        "true",
        "'x'",
        "…",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// A change of a text at a place between characters.
#[derive(Clone, Debug)]
enum Change {
    Delete(Index, usize),
    Insert(Index, String),
    CopyLine(Index, Index),
    DropLine(Index),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<Index>(), 1..12_usize).prop_map(|(at, n)| Change::Delete(at, n)),
        (any::<Index>(), scraps()).prop_map(|(at, text)| Change::Insert(at, text)),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Change::CopyLine(from, to)),
        any::<Index>().prop_map(Change::DropLine),
    ]
}

fn apply(text: &str, change: &Change) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    match change {
        Change::Delete(at, count) => {
            let start = at.index(chars.len() + 1);
            let end = (start + count).min(chars.len());
            chars.drain(start..end);
            chars.into_iter().collect()
        }
        Change::Insert(at, more) => {
            let at = at.index(chars.len() + 1);
            chars.splice(at..at, more.chars());
            chars.into_iter().collect()
        }
        Change::CopyLine(from, to) if !lines.is_empty() => {
            let line = lines[from.index(lines.len())];
            lines.insert(to.index(lines.len() + 1), line);
            lines.concat()
        }
        Change::DropLine(at) if !lines.is_empty() => {
            lines.remove(at.index(lines.len()));
            lines.concat()
        }
        Change::CopyLine(..) | Change::DropLine(_) => text.to_owned(),
    }
}

/// The arguments of an outline's first step.
fn args_of(outline: &Outline) -> Template {
    match &outline.items[0].body {
        Body::Call(call) => call.args.clone(),
        other => panic!("no call: {other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in any::<String>()) {
        check(&text, &CATALOG);
    }

    #[test]
    fn any_scraps(text in scraps()) {
        check(&text, &CATALOG);
    }

    #[test]
    fn changed_recipes(recipe in select(recipes()), changes in prop::collection::vec(change(), 1..4)) {
        let text = changes.iter().fold(recipe, |text, change| apply(&text, change));
        check(&text, &CATALOG);
    }

    /// Text that holds no braces reaches the tool as it was written.
    #[test]
    fn strings_keep_their_characters(text in "[^{}]{0,40}") {
        let json = serde_json::to_string(&text).unwrap();
        let recipe = format!("then:\n  a: slack.post {{\"text\": {json}}}\n");
        let (outline, diagnostics) = outline(&recipe, &CATALOG);
        let bad = text.chars().any(|c| matches!(c, '\u{7f}'..) && c.is_control());
        if let Some(outline) = outline {
            let value = args_of(&outline).member("text").unwrap();
            prop_assert_eq!(value.literal().unwrap().text().unwrap(), text);
        } else {
            prop_assert!(bad, "{:?}", diagnostics);
        }
    }

    /// Any text at all can be written literally, braces doubled.
    #[test]
    fn doubled_braces_are_braces(text in "[a{} .\\[\\]]{0,30}") {
        let doubled = text.replace('{', "{{").replace('}', "}}");
        let recipe = format!("inputs:\n  a: text\nthen:\n  b: slack.post {{\"text\": \"{doubled}\"}}\n");
        let (outline, diagnostics) = outline(&recipe, &CATALOG);
        let args = args_of(&outline.unwrap_or_else(|| panic!("{diagnostics:?}")));
        let value = args.member("text").unwrap();
        prop_assert_eq!(value.literal().unwrap().text().unwrap(), text);
    }

    /// JSON that holds no string is read as `plangate_graph::Value` reads it.
    #[test]
    fn numbers_keep_their_text(whole in "-?(0|[1-9][0-9]{0,30})", rest in "(\\.[0-9]{1,12})?([eE][+-]?[0-9]{1,3})?") {
        let number = format!("{whole}{rest}");
        let recipe = format!("then:\n  a: gmail.list {{\"maxResults\": [{number}]}}\n");
        let (outline, diagnostics) = outline(&recipe, &CATALOG);
        let args = args_of(&outline.unwrap_or_else(|| panic!("{diagnostics:?}")));
        prop_assert_eq!(args.literal().unwrap().to_string(), format!("{{\"maxResults\":[{number}]}}"));
    }
}

#[test]
fn fixtures_as_they_are() {
    for recipe in recipes() {
        check(&recipe, &CATALOG);
    }
}
