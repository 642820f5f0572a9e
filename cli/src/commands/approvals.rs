//! `plangate approvals`: what waits for people.

use plangate_approval::{Row, RowState, Storage as _};
use serde::Serialize;

use crate::args::ApprovalsArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::render::put::Put as _;
use crate::render::row::line;
use crate::store::{self, short};
use crate::view::RowView;

/// Lists approvals, the oldest first: whatever has waited longest is looked at first.
pub(crate) fn approvals(args: &ApprovalsArgs, context: &Context) -> Result<Exit, Fault> {
    #[derive(Serialize)]
    struct Whole {
        approvals: Vec<RowView>,
    }
    let project = context.project()?;
    let store = store::open(&project)?;
    let mut rows =
        if args.all { store::rows(&store, None)? } else { store.waiting().map_err(|e| store::fault(&e))? };
    if !args.all {
        rows.retain(|row| matches!(row.state, RowState::Pending | RowState::Uncertain));
    }
    if context.output.is_json() {
        context.output.say_json(&Whole { approvals: rows.iter().map(RowView::of).collect() })?;
        return Ok(Exit::Done);
    }
    let paint = context.output.paint();
    let now = store.now();
    let waiting = rows.iter().filter(|r| matches!(r.state, RowState::Pending | RowState::Uncertain)).count();
    let mut out = match (waiting, args.all) {
        (0, _) => "Nothing waits for an answer.\n".to_owned(),
        (1, _) => "One waits for an answer.\n".to_owned(),
        (n, _) => format!("{n} wait for an answer.\n"),
    };
    if !rows.is_empty() {
        out.push('\n');
        out.extend(rows.iter().map(|row| line(row, now, paint)));
        out.put(format_args!("\n{}\n", paint.dim(&hint(&rows, &project.typed("show ID")))));
    }
    context.output.say(&out);
    Ok(Exit::Done)
}

fn hint(rows: &[Row], show: &str) -> String {
    match rows {
        [one] => format!("all of it: {}", show.replace("ID", short(&one.id.0))),
        _ => format!("all of one: {show}"),
    }
}
