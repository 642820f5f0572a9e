//! `plangate approve` and `plangate reject`: one person's answer, and what comes of it.

use std::sync::Arc;

use plangate_approval::{Decision, Person, Row, RowState, SqliteStore, Storage as _, StoreError};
use plangate_graph::card::visible::visible;
use serde::Serialize;

use crate::args::{ApproveArgs, RejectArgs, Several};
use crate::commands::{batch, edit};
use crate::context::Context;
use crate::engine;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::outcome;
use crate::project::Project;
use crate::render::row::{Arguments, before, outcome_words, whole, words};
use crate::render::time::{moment, relative};
use crate::store::{self, short};
use crate::view::RowView;
use crate::who::myself;

/// An answer, as it was typed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Answer<'a> {
    pub(super) which: &'a Several,
    pub(super) yes: bool,
    /// Other arguments, as they were typed.
    pub(super) edit: Option<&'a str>,
    pub(super) said: Option<&'a str>,
    /// Only if the digest is this one.
    pub(super) digest: Option<&'a str>,
}

/// Says yes.
pub(crate) fn approve(args: &ApproveArgs, context: &Context) -> Result<Exit, Fault> {
    let answer = Answer {
        which: &args.which,
        yes: true,
        edit: args.edit.as_deref(),
        said: args.note.as_deref(),
        digest: args.digest.as_deref(),
    };
    decide(answer, context)
}

/// Says no.
pub(crate) fn reject(args: &RejectArgs, context: &Context) -> Result<Exit, Fault> {
    let answer = Answer {
        which: &args.which,
        yes: false,
        edit: None,
        said: args.reason.as_deref(),
        digest: args.digest.as_deref(),
    };
    decide(answer, context)
}

fn decide(answer: Answer<'_>, context: &Context) -> Result<Exit, Fault> {
    let project = context.project()?;
    let store = store::open(&project)?;
    context.tell(&project, &store)?;
    let [id] = answer.which.ids.as_slice() else { return batch::decide(answer, &store, &project, context) };
    let mut row = store::find_row(&store, id, &[RowState::Pending])?;
    if let Some(wanted) = answer.digest {
        same_digest(&row, wanted)?;
    }
    show(&row, &store, &project, context)?;
    let edited = match answer.edit {
        None => false,
        Some(typed) => {
            row = edit::edit(&row, typed, answer.said, &store, &project)?;
            if !context.output.is_json() {
                let paint = context.output.paint();
                context.output.say(&format!("\n{}\n", paint.good("✎ edited; it is now:")));
                context.output.say(&whole(&row, store.now(), Arguments::All, paint));
                store::shown(&store, &row, &project)?;
            }
            true
        }
    };
    let decision = Decision {
        row: row.id.clone(),
        seen: row.digest,
        by: myself(&project.config.policy),
        yes: answer.yes,
        reason: answer.said.map(str::to_owned),
    };
    let decided = match store.decide(&decision) {
        Ok(decided) => decided,
        // Whoever edited it may be somebody who does not decide it.
        Err(StoreError::NotAllowed(why)) if edited => return edit::only_edited(&row, &why, context),
        Err(e) => return Err(refusal(&e, &store, &row, &project)),
    };
    say_decided(&decided, &decision.by, answer, context);
    go_on(&decided, answer.which.no_resume, &store, &project, context)
}

/// Shows the whole of an approval that waits to a person who answers it, and writes down that it was shown.
pub(super) fn show(
    row: &Row,
    store: &SqliteStore,
    project: &Project,
    context: &Context,
) -> Result<(), Fault> {
    if context.output.is_json() || row.state != RowState::Pending {
        return Ok(());
    }
    let (now, paint) = (store.now(), context.output.paint());
    context.output.say(&whole(row, now, Arguments::All, paint));
    context.output.say(&before(&store::before(store, row)?, now, paint));
    store::shown(store, row, project)
}

/// Lets the run of a row that was decided go on, and prints what came of it.
pub(crate) fn go_on(
    row: &Row,
    no_resume: bool,
    store: &Arc<SqliteStore>,
    project: &Project,
    context: &Context,
) -> Result<Exit, Fault> {
    #[derive(Serialize)]
    struct Only {
        approval: RowView,
    }
    let run = store::run(store, &row.run)?;
    let resume = project.typed(&format!("resume {}", short(&run.id.0)));
    let only = |words: String| -> Result<Exit, Fault> {
        if context.output.is_json() {
            context.output.say_json(&Only { approval: RowView::of(row) })?;
        } else {
            context.output.say(&words);
        }
        Ok(Exit::Done)
    };
    if row.state == RowState::Pending {
        let yes = row.votes.iter().filter(|v| v.yes && row.counts(v)).count();
        return only(format!("{yes} of {} yes: it waits for more people\n", row.terms.quorum));
    }
    if no_resume {
        return only(format!("the run stays parked; let it go on with: {resume}\n"));
    }
    if run.driven {
        return only("another process drives the run and takes this up\n".to_owned());
    }
    let (plan, _) = engine::documents(store, &run)?;
    match engine::resume(&run.id, Arc::clone(store), project, context, false) {
        Ok(ended) => outcome::say(&ended, &plan, store, project, context),
        // Somebody else's process was quicker to take it up.
        Err(fault) if fault.code == "busy" => {
            only("another process drives the run and takes this up\n".to_owned())
        }
        Err(fault) => Err(fault),
    }
}

fn say_decided(row: &Row, by: &Person, answer: Answer<'_>, context: &Context) {
    let by = visible(&by.to_string());
    if context.output.is_json() {
        return;
    }
    let paint = context.output.paint();
    let words = match (answer.yes, row.state) {
        (true, RowState::Pending) => paint.good(&format!("✓ yes from {by}")),
        (true, RowState::Answered) => paint.good(&format!("✓ answered yes by {by}")),
        (true, _) => paint.good(&format!("✓ approved by {by}")),
        (false, _) => paint.bad(&format!("✗ rejected by {by}")),
    };
    context.output.say(&format!("\n{words}\n"));
}

fn same_digest(row: &Row, wanted: &str) -> Result<(), Fault> {
    let stored = row.digest.to_string();
    let hex = |text: &str| text.trim().trim_start_matches("sha256:").to_ascii_lowercase();
    let wanted = hex(wanted);
    if wanted.len() >= 8 && hex(&stored).starts_with(&wanted) {
        return Ok(());
    }
    let message = format!("what waits is not what you saw: its digest is {stored}");
    Err(Fault::new(Exit::TooLate, "changed", message)
        .help(format!("look at it again with `plangate show {}`", short(&row.id.0))))
}

/// Why an answer did not count: what was decided, by whom, when, and what came of it.
pub(super) fn refusal(error: &StoreError, store: &SqliteStore, seen: &Row, project: &Project) -> Fault {
    let fault = store::fault(error);
    let Ok(row) = store.row(&seen.id) else { return fault };
    let now = store.now();
    let at = |time: Option<plangate_approval::Time>| {
        time.map(|t| format!(" at {} ({})", moment(t, now), relative(t, now))).unwrap_or_default()
    };
    match error {
        StoreError::Decided { by, at: when, .. } => {
            let yes = row.votes.iter().any(|v| v.yes) && row.state != RowState::Rejected;
            let word = match (row.state, yes) {
                (RowState::Rejected, _) => "rejected",
                (RowState::Answered, _) => "answered yes",
                _ => "approved",
            };
            let reason =
                row.decision_reason.as_ref().map(|r| format!(": {}", visible(r))).unwrap_or_default();
            let message = format!("already {word} by {}{}{reason}", visible(by), at(*when));
            let fault = Fault::new(Exit::TooLate, "decided", message).detail(words(row.state));
            let fault = match &row.outcome {
                Some(outcome) => fault.detail(format!("{}{}", outcome_words(outcome), at(row.ended_at))),
                None => fault,
            };
            fault.help(next_step(&row, store, project))
        }
        StoreError::Expired { at: when } => {
            let message = format!("it expired{}; nothing was run", at(Some(*when)));
            Fault::new(Exit::TooLate, "expired", message).help("run the recipe again to be asked again")
        }
        _ => fault,
    }
}

/// What can be done about an approval that somebody else has decided.
fn next_step(row: &Row, store: &SqliteStore, project: &Project) -> String {
    match row.state {
        RowState::Uncertain => {
            let settle = project.typed(&format!("settle {} --happened", short(&row.id.0)));
            format!("nothing more was run; say what happened: {settle} (or --did-not)")
        }
        RowState::Approved if store.run(&row.run).is_ok_and(|run| !run.driven) => {
            let resume = project.typed(&format!("resume {}", short(&row.run.0)));
            format!("nothing more was run; the run goes on with: {resume}")
        }
        _ => "nothing more was run".to_owned(),
    }
}
