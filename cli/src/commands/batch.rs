//! One answer to several approvals: a result for each, and then their runs go on.

use std::collections::BTreeSet;
use std::sync::Arc;

use plangate_approval::{Decision, RowState, RunId, SqliteStore, Storage as _};
use plangate_graph::card::visible::visible;
use serde::Serialize;

use crate::commands::decide::{Answer, refusal, show};
use crate::context::Context;
use crate::engine;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::outcome;
use crate::project::Project;
use crate::render::row::step;
use crate::render::state::of_run;
use crate::store::{self, short};
use crate::view::RowView;
use crate::who::myself;

/// What came of one id.
#[derive(Serialize)]
struct Answered<'a> {
    id: &'a str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<RowView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Fault>,
}

/// What came of one run.
#[derive(Serialize)]
struct Went {
    run: String,
    state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Fault>,
}

#[derive(Serialize)]
struct Whole<'a> {
    results: Vec<Answered<'a>>,
    runs: Vec<Went>,
}

/// Decides each in turn; what is refused of one does not keep the others. Ends with the first refusal's status, or with
/// that of the first run that did not end well.
pub(super) fn decide(
    answer: Answer<'_>,
    store: &Arc<SqliteStore>,
    project: &Project,
    context: &Context,
) -> Result<Exit, Fault> {
    if answer.edit.is_some() || answer.digest.is_some() {
        let message = "--edit and --digest are about one approval";
        return Err(Fault::new(Exit::Usage, "several", message).help("give one id"));
    }
    let paint = context.output.paint();
    let mut exit = Exit::Done;
    let (mut results, mut runs, mut told) = (Vec::new(), BTreeSet::new(), Vec::new());
    for id in &answer.which.ids {
        match one(id, answer, store, project, context) {
            Ok((row, by)) => {
                let word = if answer.yes { paint.good("✓ yes") } else { paint.bad("✗ no") };
                told.push(format!("{word}  {}  {}   by {}\n", short(&row.id.0), step(&row), visible(&by)));
                if row.state != RowState::Pending {
                    runs.insert(row.run.clone());
                }
                results.push(Answered { id, ok: true, approval: Some(RowView::of(&row)), error: None });
            }
            Err(fault) => {
                told.push(format!("{id}: {}", fault.to_text(paint)));
                exit = first(exit, fault.exit);
                results.push(Answered { id, ok: false, approval: None, error: Some(fault) });
            }
        }
    }
    if !context.output.is_json() {
        context.output.say(&format!("{}{}", if runs.is_empty() { "" } else { "\n" }, told.concat()));
    }
    let mut went = Vec::new();
    for run in runs.iter().filter(|_| !answer.which.no_resume) {
        match go_on(run, store, project, context) {
            Ok((state, end)) => {
                exit = first(exit, end);
                went.push(Went { run: run.0.clone(), state, error: None });
            }
            Err(fault) => {
                if !context.output.is_json() {
                    context.output.say(&format!("run {}: {}", short(&run.0), fault.to_text(paint)));
                }
                exit = first(exit, fault.exit);
                let state = store::run(store, run)?.state.to_string();
                went.push(Went { run: run.0.clone(), state, error: Some(fault) });
            }
        }
    }
    if context.output.is_json() {
        context.output.say_json(&Whole { results, runs: went })?;
    }
    Ok(exit)
}

fn one(
    id: &str,
    answer: Answer<'_>,
    store: &Arc<SqliteStore>,
    project: &Project,
    context: &Context,
) -> Result<(plangate_approval::Row, String), Fault> {
    let row = store::find_row(store, id, &[RowState::Pending])?;
    show(&row, store, project, context)?;
    let by = myself(&project.config.policy);
    let who = by.to_string();
    let reason = answer.said.map(str::to_owned);
    let decision = Decision { row: row.id.clone(), seen: row.digest, by, yes: answer.yes, reason };
    let decided = store.decide(&decision).map_err(|e| refusal(&e, store, &row, project))?;
    Ok((decided, who))
}

/// Lets one run go on, unless somebody drives it.
fn go_on(
    id: &RunId,
    store: &Arc<SqliteStore>,
    project: &Project,
    context: &Context,
) -> Result<(String, Exit), Fault> {
    let run = store::run(store, id)?;
    if run.driven {
        if !context.output.is_json() {
            context
                .output
                .say(&format!("run {}: another process drives it and takes this up\n", short(&id.0)));
        }
        return Ok((run.state.to_string(), Exit::Done));
    }
    let (plan, _) = engine::documents(store, &run)?;
    let ended = engine::resume(id, Arc::clone(store), project, context, false)?;
    let state = ended.record().state;
    if context.output.is_json() {
        return Ok((state.to_string(), outcome::exit(state)));
    }
    context.output.say(&format!("\nrun {}: {}\n", short(&id.0), of_run(state, context.output.paint())));
    Ok((state.to_string(), outcome::say(&ended, &plan, store, project, context)?))
}

fn first(before: Exit, now: Exit) -> Exit {
    if before == Exit::Done { now } else { before }
}
