//! Large and hostile recipes: linear, and without recursion.
//!
//! Nothing here measures time against a bound: what recursed would overflow its small stack, and what was quadratic would
//! take minutes at full size. Without optimisation the sizes are a tenth.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]

use std::fmt::Write as _;
use std::thread;

use plangate_compiler::{Colour, Diagnostic, Options, compile, outline, parse, render};
use plangate_graph::{Catalog, Policy};

/// How many of whatever it is.
const MANY: usize = if cfg!(debug_assertions) { 10_000 } else { 100_000 };

fn catalog() -> Catalog {
    Catalog::from_json(
        r#"{"servers":{"s":{"tools":[{"name":"read","inputSchema":{"type":"object"}},{"name":"write","inputSchema":{"type":"object"}}]}}}"#,
    )
    .unwrap()
}

fn diagnostics(recipe: &str) -> Vec<Diagnostic> {
    let (catalog, policy) = (catalog(), Policy::default());
    let found = compile(recipe, &Options::new(&catalog, &policy)).diagnostics;
    // Drawing them is bounded too.
    assert!(render(&found, recipe, "large.recipe", Colour::Plain).len() < 4_000_000);
    found
}

/// Runs on a small stack, so that recursion over the text would show.
fn on_small_stack(run: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(256 * 1024).spawn(run).unwrap().join().unwrap();
}

#[test]
fn long_chain() {
    on_small_stack(|| {
        let mut recipe = String::from("then:\n  s0: s.read {}\n");
        for i in 1..MANY {
            writeln!(recipe, "  s{i}: s.read {{\"from\": \"{{s{}.out[0]}}\", \"n\": {i}}}", i - 1).unwrap();
        }
        let (found, diagnostics) = outline(&recipe, &catalog());
        assert_eq!(diagnostics, []);
        assert_eq!(found.unwrap().items.len(), MANY);
    });
}

#[test]
fn wide_fan_and_one_step_that_reads_it_all() {
    on_small_stack(|| {
        let mut recipe = String::from("together:\n");
        for i in 0..MANY {
            writeln!(recipe, "  s{i}: s.read {{}}\n    timeout: 5s").unwrap();
        }
        write!(recipe, "then:\n  need: 1 of {MANY}\n  all: read {{s0").unwrap();
        for i in 1..MANY {
            write!(recipe, ", s{i}").unwrap();
        }
        recipe.push_str("}\n");
        let (found, diagnostics) = outline(&recipe, &catalog());
        assert_eq!(diagnostics, []);
        assert_eq!(found.unwrap().blocks[1].need.unwrap().n as usize, MANY);
    });
}

#[test]
fn very_long_lines() {
    let words = "word {{x}} ".repeat(MANY);
    let (found, diagnostics) = outline(&format!("then:\n  a: {words}\n"), &catalog());
    assert_eq!(diagnostics, []);
    assert_eq!(found.unwrap().items.len(), 1);

    let list = "\"x\",".repeat(2 * MANY);
    let recipe = format!("then:\n  a: s.read {{\"list\": [{list}\"x\"]}}\n");
    assert_eq!(outline(&recipe, &catalog()).1, []);
}

#[test]
fn brackets_without_end() {
    on_small_stack(|| {
        for open in ["[", "{\"a\":", "[{\"a\":[", "{", "\"", "{{", "{a"] {
            let recipe = format!("then:\n  a: s.read {{\"x\": {}\n", open.repeat(MANY));
            let codes: Vec<_> = diagnostics(&recipe).iter().map(|d| d.code).collect();
            assert!(matches!(codes[..], ["R0133" | "R0130" | "R0131"]), "{open}: {codes:?}");
        }
    });
}

#[test]
fn closed_brackets_far_too_deep() {
    on_small_stack(|| {
        let recipe = format!("then:\n  a: s.read {{\"x\": {}{}}}\n", "[".repeat(MANY), "]".repeat(MANY));
        let found = diagnostics(&recipe);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].code, "R0133");
    });
}

#[test]
fn every_line_wrong() {
    on_small_stack(|| {
        let mut unknown = String::from("then:\n");
        let mut deeper = String::from("then:\n  a: s.read {}\n");
        let mut blocks = String::from("together all:\n  a: s.read {}\n");
        for i in 0..MANY / 4 {
            writeln!(unknown, "  n{i}: s.red {{\"x\": \"{{m{i}}} {{n{}}}\"}}\n    after: q{i}", i + 1)
                .unwrap();
            writeln!(blocks, "then:\n  n{i}: read {{all}} {{a[x]}} {{ a }}\n    after: all").unwrap();
        }
        for i in 0..800 {
            writeln!(deeper, "{}n{i}: s.read {{}}", " ".repeat(3 + i)).unwrap();
        }
        for recipe in [unknown, deeper, blocks] {
            assert!(diagnostics(&recipe).len() >= 800);
        }
    });
}

#[test]
fn the_same_wrong_thing_everywhere() {
    for line in [
        "  x: y\n",
        "x\n",
        "- x\n",
        "  - x\n",
        "\t",
        "then\n",
        "then:\n",
        "inputs:\n",
        "  a: {b}\n",
        "a:\n",
        "\u{200b}",
    ] {
        let recipe = line.repeat(MANY / 4);
        assert!(!diagnostics(&recipe).is_empty(), "{line:?}");
        let (parsed, _) = parse(&recipe, &catalog());
        assert!(parsed.len() <= MANY / 4);
    }
    let (catalog, policy) = (catalog(), Policy::default());
    let names = "{x} ".repeat(MANY);
    let found = compile(&format!("then:\n  a: {names}"), &Options::new(&catalog, &policy)).diagnostics;
    assert_eq!(found.len(), 1, "one unknown name, one diagnostic");
    assert!(found[0].labels.len() < 10);
}
