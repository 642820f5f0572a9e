//! A process that runs the morning recipe to its gate: how soon it makes its first call, how much memory it takes.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use plangate_benches::durable::Fallible;
use plangate_benches::median;

use crate::table::{Demand, Table, words};

const ROUNDS: usize = 15;

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
    Ok(())
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
