//! The day's log: one line for each time that a run was laid down.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::Path;

use plangate_approval::{Row, Time};
use plangate_executor::{Ended, Record};
use plangate_graph::card::visible::visible;

use crate::output::Output;
use crate::project::Project;
use crate::render::paint::Paint;
use crate::render::record;
use crate::render::row::step;
use crate::render::state::of_run;
use crate::render::time::day_and_time;
use crate::store::short;

/// Appends a line about a run that was just laid down, where the configuration names a folder for it. What cannot be
/// written is said and changes nothing: the run is in the store.
pub(crate) fn note(ended: &Ended, now: Time, project: &Project, output: &Output) {
    let waiting: &[Row] = match ended {
        Ended::Parked { waiting, .. } => waiting,
        Ended::Done(_) | Ended::Stopped { .. } | Ended::Attention { .. } => &[],
    };
    let stopped = if matches!(ended, Ended::Stopped { .. }) { " · stopped" } else { "" };
    append(&line(ended.record(), waiting, stopped, now), now, project, output);
}

/// The same of a run that ended without being driven.
pub(crate) fn note_record(record: &Record, now: Time, project: &Project, output: &Output) {
    append(&line(record, &[], "", now), now, project, output);
}

fn line(record: &Record, waiting: &[Row], stopped: &str, now: Time) -> String {
    let paint = Paint::new(false);
    let (_, time) = day_and_time(now);
    let title = if record.title.is_empty() { "a run" } else { &record.title };
    let reason = record.reason.as_ref().and_then(|r| r.lines().next());
    let reason = reason.map(|r| format!(" · {}", visible(r))).unwrap_or_default();
    let waits: Vec<String> = waiting.iter().map(|row| visible(&step(row))).collect();
    let waits = if waits.is_empty() { String::new() } else { format!(" · waits: {}", waits.join(", ")) };
    format!(
        "- {time} {} · {} · run {}{stopped}{reason}{waits} · {}",
        of_run(record.state, paint),
        visible(title),
        short(&record.run.0),
        record::times(record, paint)
    )
}

fn append(line: &str, now: Time, project: &Project, output: &Output) {
    let Some(folder) = &project.config.trace else { return };
    let (day, _) = day_and_time(now);
    let path = project.folder.join(folder).join(format!("{day}.md"));
    if let Err(error) = write(&path, &day, line) {
        output.remark(&format!("warning: {} cannot be written: {error}\n", path.display()));
    }
}

/// Whoever makes the file writes its heading; everybody appends, each line in one write.
fn write(path: &Path, day: &str, line: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    match OpenOptions::new().append(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(format!("# {day}\n\n").as_bytes())?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    OpenOptions::new().append(true).open(path)?.write_all(line.as_bytes())
}
