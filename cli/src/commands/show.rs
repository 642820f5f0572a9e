//! `plangate show`: an approval with all its arguments, or a run with its timeline.

use plangate_approval::{Row, RowState, Run, SqliteStore, Storage as _};
use plangate_executor::Record;
use serde::Serialize;

use crate::args::ShowArgs;
use crate::context::Context;
use crate::engine;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::outcome::answers;
use crate::project::Project;
use crate::render::row::{Arguments, before, line, whole};
use crate::render::{record, timeline};
use crate::store::{self, Found};
use crate::view::{BeforeView, RowView, RunView};

/// Shows whatever the beginning of an id stands for.
pub(crate) fn show(args: &ShowArgs, context: &Context) -> Result<Exit, Fault> {
    let project = context.project()?;
    let store = store::open(&project)?;
    match store::find(&store, &args.id)? {
        Found::Row(row) => of_row(&row, &store, &project, context),
        Found::Run(run) => of_run(&run, &store, context),
    }
}

fn of_row(row: &Row, store: &SqliteStore, project: &Project, context: &Context) -> Result<Exit, Fault> {
    #[derive(Serialize)]
    struct Whole {
        approval: RowView,
        /// What became of the very same call before.
        before: Vec<BeforeView>,
    }
    let earlier = store::before(store, row)?;
    if context.output.is_json() {
        context.output.say_json(&Whole {
            approval: RowView::of(row),
            before: earlier.iter().map(BeforeView::of).collect(),
        })?;
        return Ok(Exit::Done);
    }
    let mut out = whole(row, store.now(), Arguments::All, context.output.paint());
    out.push_str(&before(&earlier, store.now(), context.output.paint()));
    if matches!(row.state, RowState::Pending | RowState::Uncertain) {
        out.push_str(&answers(row, project, context));
    }
    context.output.say(&out);
    store::shown(store, row, project)?;
    Ok(Exit::Done)
}

fn of_run(run: &Run, store: &SqliteStore, context: &Context) -> Result<Exit, Fault> {
    #[derive(Serialize)]
    struct Whole<'a> {
        run: RunView,
        record: &'a Record,
        approvals: Vec<RowView>,
    }
    let told = Record::read(store, &run.id).map_err(|e| {
        Fault::new(Exit::Unusable, "store", format!("the record of run {} cannot be read: {e}", run.id))
    })?;
    let rows = store::rows(store, Some(&run.id))?;
    if context.output.is_json() {
        let approvals = rows.iter().map(RowView::of).collect();
        context.output.say_json(&Whole { run: RunView::of(run), record: &told, approvals })?;
        return Ok(Exit::Done);
    }
    let paint = context.output.paint();
    let now = store.now();
    let (plan, _) = engine::documents(store, run)?;
    let mut out = format!(
        "{}\n{}\n{}",
        record::head(&told, now, paint),
        timeline::drawn(&told, paint),
        record::times(&told, paint)
    );
    if !rows.is_empty() {
        out.push('\n');
        out.extend(rows.iter().map(|row| line(row, now, paint)));
    }
    out.push_str(&record::results(&told, &plan, paint));
    context.output.say(&out);
    Ok(Exit::Done)
}
