//! What must hold of the checkout as a whole.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may fail")]

use std::path::{Path, PathBuf};

use plangate_tests::root;

/// Folders with our own text.
const FOLDERS: &[&str] = &[
    "graph",
    "compiler",
    "approval",
    "executor",
    "mcp-client",
    "notify",
    "cli",
    "ffi",
    "web",
    "tests",
    "benches",
    "examples",
    "docs",
    "bindings",
];

fn files(ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders: Vec<PathBuf> = FOLDERS.iter().map(|f| root().join(f)).filter(|f| f.is_dir()).collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !path.is_symlink() {
                if !["target", "node_modules", "build", "dist"].contains(&name.as_str())
                    && !name.starts_with('.')
                {
                    folders.push(path);
                }
            } else if name.ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn the_version_is_one() {
    let manifest: toml::Table = text(&root().join("Cargo.toml")).parse().unwrap();
    let version = manifest["workspace"]["package"]["version"].as_str().unwrap();
    for (name, dependency) in manifest["workspace"]["dependencies"].as_table().unwrap() {
        if name.starts_with("plangate") {
            assert_eq!(dependency["version"].as_str(), Some(version), "{name}");
        }
    }
    let changelog = text(&root().join("CHANGELOG.md"));
    let newest = changelog.lines().find(|l| l.starts_with("## ")).unwrap();
    assert!(newest.starts_with(&format!("## {version}")), "the newest entry of CHANGELOG.md is {newest:?}");
}

#[test]
fn nothing_is_left_for_later() {
    let words = ["todo", "unimplemented", "dbg"].map(|word| format!("{word}!("));
    for path in files(".rs") {
        for (number, line) in text(&path).lines().enumerate() {
            let found = words.iter().any(|w| line.contains(w.as_str()));
            assert!(!found, "{}:{}: {line}", path.display(), number + 1);
        }
    }
}

#[test]
fn every_exception_has_a_reason() {
    for path in files(".rs") {
        let source = text(&path);
        for kind in ["allow", "expect"].map(|word| format!("[{word}(")) {
            for (at, _) in source.match_indices(&kind) {
                let attribute = source[at..].split(")]").next().unwrap();
                assert!(attribute.contains("reason"), "{}: {attribute}", path.display());
            }
        }
    }
}

#[test]
fn links_in_the_documents_lead_somewhere() {
    let mut documents = files(".md");
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"] {
        documents.push(root().join(name));
    }
    for path in documents {
        let source = text(&path);
        for (at, _) in source.match_indices("](") {
            let target = source[at + 2..].split(')').next().unwrap();
            let target = target.split('#').next().unwrap();
            if target.is_empty() || target.contains("://") || target.contains(char::is_whitespace) {
                continue;
            }
            let found = path.parent().unwrap().join(target);
            assert!(found.exists(), "{} links to {target}, which is not there", path.display());
        }
    }
}

#[test]
fn every_folder_of_the_code_map_exists() {
    for line in text(&root().join("ARCHITECTURE.md")).lines().filter(|l| l.starts_with("| `")) {
        let folder = line.split('`').nth(1).unwrap();
        assert!(root().join(folder).is_dir(), "ARCHITECTURE.md names {folder}, which is not there");
    }
}
