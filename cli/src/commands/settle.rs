//! `plangate settle`: a person's word on a call whose outcome is not known.

use plangate_approval::row::Settled;
use plangate_approval::storage::Settlement;
use plangate_approval::{RowState, Storage as _, StoreError};
use plangate_graph::Value;
use plangate_graph::card::visible::visible;

use crate::args::SettleArgs;
use crate::commands::decide::go_on;
use crate::context::Context;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::render::row::{Arguments, whole, words};
use crate::render::time::{moment, relative};
use crate::store;
use crate::who::myself;

/// Records it, and lets the run go on.
pub(crate) fn settle(args: &SettleArgs, context: &Context) -> Result<Exit, Fault> {
    let value = match &args.value {
        None => None,
        Some(text) => Some(Value::parse(text).map_err(|e| {
            Fault::new(Exit::Usage, "value", format!("--value is no JSON: {e}"))
                .help("a text stands in quotes: --value '\"posted\"'")
        })?),
    };
    let project = context.project()?;
    let store = store::open(&project)?;
    context.tell(&project, &store)?;
    let row = store::find_row(&store, &args.which.id, &[RowState::Uncertain])?;
    let now = store.now();
    let Some(claim) = row.claim.clone() else {
        let message = format!("its call was never made: it {}", words(row.state));
        return Err(Fault::new(Exit::TooLate, "not-called", message).help("there is nothing to settle"));
    };
    if !context.output.is_json() {
        context.output.say(&whole(&row, now, Arguments::All, context.output.paint()));
        store::shown(&store, &row, &project)?;
    }
    let by = myself(&project.config.policy);
    let who = by.to_string();
    let settled = Settled { by, happened: args.word.happened, value, note: args.note.clone(), at: now };
    let settled = store.settle(&row.id, &Settlement { claim, settled }).map_err(|e| match &e {
        StoreError::InFlight { until } => {
            let message = format!("the call may still be under way until {}", moment(*until, now));
            Fault::new(Exit::Busy, "in-flight", message)
                .help(format!("that it did not happen can be said {}", relative(*until, now)))
        }
        _ => store::fault(&e).detail(words(row.state)),
    })?;
    if !context.output.is_json() {
        let word = if args.word.happened { "it happened" } else { "it did not happen" };
        context.output.say(&format!("\n{word}, says {}\n", visible(&who)));
    }
    go_on(&settled, args.which.no_resume, &store, &project, context)
}
