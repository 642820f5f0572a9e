//! `plangate cancel`: stops a run.

use plangate_approval::{RunState, Storage as _};
use plangate_executor::Record;
use serde::Serialize;

use crate::args::CancelArgs;
use crate::context::Context;
use crate::engine;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::outcome;
use crate::render::state::of_run;
use crate::store::{self, short};
use crate::trace;
use crate::view::RunView;
use crate::who::myself;

/// Cancels what nobody has claimed; calls under way are asked to stop, and what came of them is recorded.
pub(crate) fn cancel(args: &CancelArgs, context: &Context) -> Result<Exit, Fault> {
    #[derive(Serialize)]
    struct Whole {
        run: RunView,
    }
    let project = context.project()?;
    let store = store::open(&project)?;
    context.tell(&project, &store)?;
    let found = store::find_run(&store, &args.run)?;
    if found.state.ended() {
        let message = format!("run {} has ended: it is {}", short(&found.id.0), found.state);
        return Err(Fault::new(Exit::TooLate, "ended", message).help("nothing was changed"));
    }
    let run = store
        .cancel(&found.id, &myself(&project.config.policy), args.reason.as_deref())
        .map_err(|e| store::fault(&e))?;
    if !run.state.ended() && !run.driven {
        // Nobody is there to lay it down.
        let (plan, _) = engine::documents(&store, &run)?;
        let ended = engine::resume(&run.id, store.clone(), &project, context, false)?;
        outcome::say(&ended, &plan, &store, &project, context)?;
        return Ok(Exit::Done);
    }
    if run.state.ended() {
        let record = Record::read(&*store, &run.id).map_err(|e| {
            let message = format!("the record of run {} cannot be read: {e}", short(&run.id.0));
            Fault::new(Exit::Unusable, "store", message)
        })?;
        trace::note_record(&record, store.now(), &project, &context.output);
    }
    if context.output.is_json() {
        context.output.say_json(&Whole { run: RunView::of(&run) })?;
        return Ok(Exit::Done);
    }
    let paint = context.output.paint();
    let words = match run.state {
        RunState::Cancelled => format!("{}   run {}\n", of_run(run.state, paint), short(&run.id.0)),
        _ => format!(
            "run {} is asked to stop; what its calls under way bring is still recorded\n",
            short(&run.id.0)
        ),
    };
    context.output.say(&words);
    Ok(Exit::Done)
}
