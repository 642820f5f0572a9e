//! The header, the exported symbols and the versions are one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod library;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn generated() -> String {
    let config = cbindgen::Config::from_file(folder().join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    // In the order in which the header reads well.
    for module in [
        "version", "status", "caller", "plan", "store", "calls", "lookups", "host", "run", "events",
        "approval",
    ] {
        builder = builder.with_src(folder().join(format!("src/{module}.rs")));
    }
    let mut header = Vec::new();
    builder.generate().expect("the header is generated").write(&mut header);
    String::from_utf8(header).unwrap()
}

fn checked_in() -> String {
    std::fs::read_to_string(folder().join("include/plangate.h")).unwrap_or_default()
}

#[test]
fn the_header_is_the_one_that_is_generated() {
    let header = generated();
    if std::env::var_os("PLANGATE_WRITE_HEADER").is_some() {
        std::fs::write(folder().join("include/plangate.h"), &header).unwrap();
    }
    assert_eq!(checked_in(), header, "PLANGATE_WRITE_HEADER=1 cargo test -p plangate-ffi --test header");
}

/// Names of functions that the header declares: what stands before an opening bracket, comments apart.
fn declared() -> BTreeSet<String> {
    let header = checked_in();
    let code: String = header.split("/*").enumerate().fold(String::new(), |code, (at, part)| {
        code + if at == 0 { part } else { part.split_once("*/").map_or("", |(_, code)| code) }
    });
    let words = code.split('(').filter_map(|before| before.split_whitespace().last());
    let names = words.map(|word| word.trim_start_matches('*'));
    names.filter(|name| name.starts_with("plangate_") && !name.ends_with(')')).map(str::to_owned).collect()
}

#[test]
fn the_library_exports_what_the_header_declares() {
    let nm = Command::new("nm").args(["-D", "--defined-only"]).arg(library::shared()).output().unwrap();
    assert!(nm.status.success(), "{}", String::from_utf8_lossy(&nm.stderr));
    let exported: BTreeSet<String> = String::from_utf8(nm.stdout)
        .unwrap()
        .lines()
        .filter_map(|line| line.split_whitespace().last().map(str::to_owned))
        .collect();
    assert_eq!(exported, declared());
    assert_eq!(exported.len(), 27, "{exported:?}");
}

#[test]
fn the_versions_agree() {
    let header = checked_in();
    let abi = plangate::PLANGATE_ABI_VERSION;
    assert!(header.contains(&format!("#define PLANGATE_ABI_VERSION {abi}\n")));
    assert_eq!(plangate::plangate_abi_version(), abi);
    let readelf = Command::new("readelf").arg("-d").arg(library::shared()).output().unwrap();
    let dynamic = String::from_utf8_lossy(&readelf.stdout).into_owned();
    assert!(dynamic.contains(&format!("Library soname: [libplangate.so.{abi}]")), "{dynamic}");
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
}

#[test]
fn every_exported_function_goes_through_the_boundary() {
    let mut seen = 0;
    for file in std::fs::read_dir(folder().join("src")).unwrap() {
        let path = file.unwrap().path();
        let source = std::fs::read_to_string(&path).unwrap();
        for function in source.split("#[unsafe(no_mangle)]").skip(1) {
            seen += 1;
            let body = function.split_once("{\n").expect("a function").1.split("\n}\n").next().unwrap();
            let first: Vec<&str> = body
                .lines()
                .map(str::trim)
                .filter(|line| !line.starts_with("//") && *line != "unsafe {")
                .collect();
            // By itself, or through another exported function.
            let enters = |line: &str| {
                ["boundary(", "quietly(", "plangate_"].iter().any(|start| line.starts_with(start))
            };
            // A constant cannot panic.
            let constant = first.len() == 1;
            assert!(
                constant || first.first().is_some_and(|line| enters(line)),
                "{}: {first:?}",
                path.display()
            );
        }
    }
    assert_eq!(seen, 27);
}
