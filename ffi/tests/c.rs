//! Programs in C and C++ against the library as it is built: every dialect, every warning, an error.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "tests fail by panicking, and say what they skip"
)]

mod library;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const DIALECTS: &[(&str, &[&str])] = &[
    ("gcc", &["-std=c99", "-Wstrict-prototypes"]),
    ("gcc", &["-std=c11", "-Wstrict-prototypes"]),
    ("gcc", &["-std=c17", "-Wstrict-prototypes"]),
    ("g++", &["-xc++", "-std=c++11"]),
];
const WARNINGS: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g"];

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    println!("{}", text(&output.stdout));
    assert!(
        output.status.success(),
        "{command:?} ended with {}\n{}\n{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    output
}

fn have(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
    if !found {
        eprintln!("skipped: there is no {program}");
    }
    found
}

/// A folder with the library under the names that a linker and a loader look for.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Bench {
        let bench = Bench(tempfile::tempdir().unwrap());
        for name in ["libplangate.so", "libplangate.so.1"] {
            std::os::unix::fs::symlink(library::shared(), bench.at(name)).unwrap();
        }
        bench
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Compiles a program in one dialect and links it with the shared library.
    fn build(&self, source: &Path, (compiler, flags): (&str, &[&str])) -> PathBuf {
        let program = self.at(source.file_stem().unwrap().to_str().unwrap());
        let rpath = format!("-Wl,-rpath,{}", self.0.path().display());
        let mut command = Command::new(compiler);
        command.args(flags).args(WARNINGS).arg("-I").arg(here().join("include")).arg(source);
        // What follows is no source, whatever the language.
        command.args(["-xnone", "-o"]).arg(&program).arg("-L").arg(self.0.path());
        run(command.args([rpath.as_str(), "-lplangate", "-lpthread", "-ldl"]));
        program
    }

    fn test(&self, name: &str, dialect: (&str, &[&str])) -> PathBuf {
        self.build(&here().join(format!("tests/c/{name}.c")), dialect)
    }
}

fn newest() -> (&'static str, &'static [&'static str]) {
    *DIALECTS.iter().find(|(_, flags)| flags.contains(&"-std=c17")).unwrap()
}

#[test]
fn the_header_in_every_dialect() {
    for dialect in DIALECTS.iter().filter(|(compiler, _)| have(compiler)) {
        let bench = Bench::new();
        run(&mut Command::new(bench.test("header", *dialect)));
        bench.build(&here().join("../examples/c/pay.c"), *dialect);
    }
}

#[test]
fn null_odd_and_unknown_arguments() {
    run(&mut Command::new(Bench::new().test("documents", newest())));
}

#[test]
fn handles_are_freed_in_any_order_by_anybody() {
    run(&mut Command::new(Bench::new().test("handles", newest())));
}

#[test]
fn called_from_a_stack_on_the_heap() {
    let bench = Bench::new();
    run(Command::new(bench.test("stack", newest())).arg(bench.at("store.db")));
}

#[test]
fn answers_at_once_later_twice_too_late_and_never() {
    run(&mut Command::new(Bench::new().test("answers", newest())));
}

#[test]
fn approved_with_other_arguments() {
    run(&mut Command::new(Bench::new().test("edits", newest())));
}

#[test]
fn the_host_is_asked_what_became_of_a_call() {
    run(&mut Command::new(Bench::new().test("reconcile", newest())));
}

#[test]
fn a_host_that_answers_too_late_or_never() {
    run(Command::new(Bench::new().test("reconcile", newest())).arg("too late"));
}

#[test]
fn threads_end_with_their_run() {
    let bench = Bench::new();
    let program = bench.test("threads", newest());
    run(&mut Command::new(&program));
    run(Command::new(&program).arg(bench.at("store.db")));
}

#[test]
fn loaded_and_unloaded_fifty_times() {
    let bench = Bench::new();
    let program = bench.at("dlopen");
    let mut command = Command::new("gcc");
    command.args(["-std=c11"]).args(WARNINGS).arg("-I").arg(here().join("include"));
    run(command.arg(here().join("tests/c/dlopen.c")).arg("-o").arg(&program).args(["-lpthread", "-ldl"]));
    run(Command::new(&program).arg(bench.at("libplangate.so.1")));
}

#[test]
fn two_rust_libraries_in_one_program() {
    let bench = Bench::new();
    let (other, program) = (bench.at("libother.a"), bench.at("two"));
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    run(Command::new(rustc)
        .args(["--edition", "2024", "-o"])
        .arg(&other)
        .arg(here().join("tests/c/other.rs")));
    let mut command = Command::new("gcc");
    command.args(["-std=c11"]).args(WARNINGS).arg("-I").arg(here().join("include"));
    command.arg(here().join("tests/c/two.c")).arg(library::archive()).arg(&other).arg("-o").arg(&program);
    run(command.args(["-lpthread", "-ldl", "-lm"]));
    run(&mut Command::new(&program));
}

#[test]
fn nothing_is_lost() {
    if !have("valgrind") {
        return;
    }
    let bench = Bench::new();
    for name in ["documents", "answers", "edits", "reconcile", "header"] {
        let program = bench.test(name, newest());
        let mut valgrind = Command::new("valgrind");
        valgrind.args([
            "--quiet",
            "--leak-check=full",
            "--errors-for-leak-kinds=definite",
            "--show-leak-kinds=definite",
        ]);
        run(valgrind.args(["--error-exitcode=9"]).arg(&program));
    }
}

/// Each step is a process of its own: what one leaves behind, the next finds in the store.
#[test]
fn parked_in_one_process_approved_in_another_resumed_in_a_third() {
    let bench = Bench::new();
    let pay = bench.build(&here().join("../examples/c/pay.c"), newest());
    let store = bench.at("store.db");
    let step = |words: &[&str]| -> String {
        let output =
            run(Command::new(&pay).args(words).env("PAY_STORE", &store).env("PAY_LOG", bench.at("log")));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(step(&["plan"]).contains("this will stop and ask before running it"));
    let parked = step(&["run"]);
    assert!(parked.contains("parked") && !bench.at("log").exists(), "{parked}");
    let run_id = parked.split_whitespace().find(|word| word.len() == 32).unwrap().to_owned();
    assert!(step(&["approvals"]).contains("bank.send_payment"));
    assert!(step(&["approve", "ann"]).contains("approved"));
    assert!(step(&["resume", &run_id]).contains("done"));
    assert!(step(&["resume", &run_id]).contains("done"));
    let log = std::fs::read_to_string(bench.at("log")).unwrap();
    assert_eq!(log.lines().count(), 1, "paid once, however often it is resumed: {log}");
    assert!(log.contains("\"amount\":12.50"), "as it was written: {log}");
}
