//! What to say of a run that was laid down: its record, what waits and how to answer it; and how the command ends.

use std::fmt::Write as _;

use plangate_approval::{Row, RowState, RunState, SqliteStore, Storage as _};
use plangate_executor::{Ended, Record};
use plangate_graph::Plan;
use plangate_graph::card::visible::visible;
use serde::Serialize;

use crate::context::Context;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::project::Project;
use crate::render::record;
use crate::render::row::{Arguments, whole};
use crate::store::short;
use crate::view::RowView;

/// A run that was laid down, for programs.
#[derive(Debug, Serialize)]
struct Laid<'a> {
    run: &'a str,
    state: RunState,
    waiting: Vec<RowView>,
    record: &'a Record,
}

/// Prints what came of a run.
pub(crate) fn say(
    ended: &Ended,
    plan: &Plan,
    store: &SqliteStore,
    project: &Project,
    context: &Context,
) -> Result<Exit, Fault> {
    let record = ended.record();
    let waiting: &[Row] = match ended {
        Ended::Parked { waiting, .. } => waiting,
        Ended::Done(_) | Ended::Stopped { .. } | Ended::Attention { .. } => &[],
    };
    let stopped = matches!(ended, Ended::Stopped { .. });
    let exit = if stopped { Exit::Stopped } else { exit(record.state) };
    if context.output.is_json() {
        let waiting = waiting.iter().map(RowView::of).collect();
        context.output.say_json(&Laid { run: &record.run.0, state: record.state, waiting, record })?;
        return Ok(exit);
    }
    let paint = context.output.paint();
    let now = store.now();
    let mut out = format!(
        "\n{}\n{}\n{}",
        record::head(record, now, paint),
        record::steps(record, paint),
        record::times(record, paint)
    );
    if record.state.ended() {
        out.push_str(&record::results(record, plan, paint));
    }
    if let Ended::Attention { reason, .. } = ended {
        out.push_str(&attention(reason, record, project, context));
    }
    if stopped {
        let resume = project.typed(&format!("resume {}", short(&record.run.0)));
        let _ = write!(out, "\nStopped. What was done is kept; go on with:  {}\n", paint.typed(&resume));
    }
    for row in waiting {
        let _ = write!(out, "\n{}", whole(row, now, Arguments::Some, paint));
        out.push_str(&answers(row, project, context));
    }
    context.output.say(&out);
    Ok(exit)
}

/// How the command ends with a run in this state.
pub(crate) fn exit(state: RunState) -> Exit {
    match state {
        RunState::Done => Exit::Done,
        RunState::Failed | RunState::Cancelled => Exit::Failed,
        RunState::Parked | RunState::Attention | RunState::Running => Exit::Parked,
    }
}

/// What can be typed to answer what waits.
pub(crate) fn answers(row: &Row, project: &Project, context: &Context) -> String {
    let id = short(&row.id.0);
    let typed = |arguments: &str| context.output.paint().typed(&project.typed(arguments));
    match row.state {
        RowState::Uncertain => format!(
            "\n  it happened:   {}\n  it did not:    {}\n",
            typed(&format!("settle {id} --happened")),
            typed(&format!("settle {id} --did-not"))
        ),
        _ => format!(
            "\n  yes:  {}\n  no:   {}\n",
            typed(&format!("approve {id}")),
            typed(&format!("reject {id} --reason '…'"))
        ),
    }
}

fn attention(reason: &str, record: &Record, project: &Project, context: &Context) -> String {
    let paint = context.output.paint();
    let lines: Vec<String> = reason.lines().map(|l| format!("  {}", visible(l))).collect();
    let id = short(&record.run.0);
    format!(
        "\n{}\n{}\n\n  once that is put right:  {}\n  or accept the change:    {}   (what was asked is asked again)\n  or stop the run:         {}\n",
        paint.bad("Its plan no longer passes, so nothing was started:"),
        lines.join("\n"),
        paint.typed(&project.typed(&format!("resume {id}"))),
        paint.typed(&project.typed(&format!("resume {id} --accept"))),
        paint.typed(&project.typed(&format!("cancel {id}")))
    )
}
