//! `plangate resume`: lets a run go on.

use crate::args::ResumeArgs;
use crate::context::Context;
use crate::engine;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::outcome;
use crate::store;

/// Goes on with a stored run. One that has ended only says how.
pub(crate) fn resume(args: &ResumeArgs, context: &Context) -> Result<Exit, Fault> {
    let project = context.project()?;
    let store = store::open(&project)?;
    context.tell(&project, &store)?;
    let run = store::find_run(&store, &args.run)?;
    let (plan, _) = engine::documents(&store, &run)?;
    let ended = engine::resume(&run.id, store.clone(), &project, context, args.accept)?;
    outcome::say(&ended, &plan, &store, &project, context)
}
