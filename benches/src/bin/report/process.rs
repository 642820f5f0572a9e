//! Processes of their own: the morning recipe to its gate, how soon it makes its first call and how much memory it takes;
//! and the memory of large runs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plangate_approval::MemoryStore;
use plangate_benches::durable::Fallible;
use plangate_benches::{Host, chain, ended, executor, fan, median, start, verified};

use crate::table::{Demand, Table, words};

const ROUNDS: usize = 15;
const STEPS: u32 = 100_000;

pub(crate) fn measure(table: &mut Table) -> Fallible<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let binary = std::env::current_exe()?.with_file_name("morning");
    if !binary.exists() {
        return Err(
            format!("{} is not there: build it with `cargo build --release`", binary.display()).into()
        );
    }
    let mut first = Vec::new();
    let mut peak = 0;
    for _ in 0..ROUNDS {
        let (called, kib) = once(&binary, here)?;
        first.push(called);
        peak = peak.max(kib);
    }
    let first = median(first);
    let ms = first.as_secs_f64() * 1e3;
    table.add("process start to first call, ms", words(first), ms, Demand::AtMost(10.0));
    let mib = f64::from(peak) / 1_024.0;
    table.add("peak memory of the morning recipe, MiB", format!("{peak} KiB"), mib, Demand::AtMost(16.0));
    for shape in ["fan", "chain"] {
        let out = Command::new(std::env::current_exe()?).args(["memory", shape]).output()?;
        if !out.status.success() {
            return Err(String::from_utf8_lossy(&out.stderr).into());
        }
        let said = String::from_utf8(out.stdout)?;
        let (compiling, running) = said.trim().split_once(' ').ok_or("it did not say two numbers")?;
        let (compiling, running): (u32, u32) = (compiling.parse()?, running.parse()?);
        let bytes = f64::from(running) * 1_024.0 / f64::from(STEPS);
        let of = format!("{} MiB, {} while it is compiled", running / 1_024, compiling / 1_024);
        table.add(
            &format!("a process that runs a {shape} of 100,000, bytes a step"),
            of,
            bytes,
            Demand::Nothing,
        );
    }
    Ok(())
}

/// In a process of its own: prints its peak in KiB while it compiles 100,000 steps, and while it runs them on a store in
/// memory.
pub(crate) fn memory(shape: &str) -> Fallible<()> {
    let recipe = match shape {
        "fan" => fan(STEPS as usize),
        "chain" => chain(STEPS as usize),
        other => return Err(format!("{other:?} is no shape; there are `fan` and `chain`").into()),
    };
    let plan = verified(&recipe);
    drop(recipe);
    let executor = executor(&Arc::new(MemoryStore::new()?), Host::new());
    let compiling = peak()?;
    // From here on the peak counts anew.
    std::fs::write("/proc/self/clear_refs", "5")?;
    ended(&executor.run(&plan, start())?);
    Ok(writeln!(std::io::stdout().lock(), "{compiling} {}", peak()?)?)
}

/// The peak of this process, in KiB, as the system knows it.
fn peak() -> Fallible<u32> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("the system does not say")?;
    Ok(peak.trim().trim_end_matches(" kB").parse()?)
}

fn once(binary: &Path, here: &Path) -> Fallible<(Duration, u32)> {
    let folder = tempfile::tempdir()?;
    let recipe: PathBuf = here.join("../examples/morning.recipe");
    let start = Instant::now();
    let mut child = Command::new(binary)
        .arg(folder.path().join("state.db"))
        .arg(recipe)
        .arg(here.join("morning-catalog.json"))
        .stdout(Stdio::piped())
        .spawn()?;
    let out = child.stdout.take().ok_or("no output")?;
    let mut lines = BufReader::new(out).lines();
    let said = lines.next().ok_or("it said nothing")??;
    let called = start.elapsed();
    if said != "called" {
        return Err(format!("it said {said:?}").into());
    }
    let peak = lines.next().ok_or("it did not say how much memory it took")??;
    if !child.wait()?.success() {
        return Err("it failed".into());
    }
    Ok((called, peak.parse()?))
}
