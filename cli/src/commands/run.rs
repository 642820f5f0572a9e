//! `plangate run`: shows the card, runs, and ends with the record or parks.

use plangate_graph::card::Card;

use crate::args::RunArgs;
use crate::commands::plan::beside_the_card;
use crate::context::Context;
use crate::document::Document;
use crate::engine::{self, Begin};
use crate::exit::Exit;
use crate::fault::Fault;
use crate::inputs;
use crate::outcome;
use crate::prepare::{Against, first_look, prepare};
use crate::render::card::coloured;
use crate::store;

/// Runs a recipe or plan.
pub(crate) fn run(args: &RunArgs, context: &Context) -> Result<Exit, Fault> {
    let output = &context.output;
    let document = Document::read(&args.source.file)?;
    let project = context.project_of(&document)?;
    let against = Against {
        project: &project,
        catalog: None,
        also: engine::writer_server(&project),
        author: args.source.author.map(Into::into),
    };
    first_look(&document, &project).map_err(|s| s.into_fault(&document, against, output))?;
    // Before any server starts: what is wrong with a store must not be found out between two calls.
    let found = store::open_or_look(&project)?;
    let prepared =
        prepare(&document, against, output).map_err(|s| s.into_fault(&document, against, output))?;
    let plan = &prepared.plan;
    let values = inputs::read(&args.inputs, &plan.plan().outline().inputs)?;
    inputs::all_there(&values, &plan.plan().outline().inputs)?;
    let store = match found {
        Some(store) => store,
        None => store::open_or_make(&project)?,
    };
    context.tell(&project, &store)?;
    let card = Card::of(plan, Some(&values));
    if output.is_json() {
        beside_the_card(&prepared, &document, context);
    } else {
        output.say(&coloured(&card.to_text(), output.paint()));
        beside_the_card(&prepared, &document, context);
    }
    let Some(running) = &prepared.running else {
        return Err(Fault::new(Exit::Internal, "internal", "a run without servers"));
    };
    let title = document.title();
    let begin =
        Begin { inputs: &values, title: &title, hold_siblings: args.hold_siblings, deadline: args.deadline };
    let ended = engine::run(plan, running, begin, store.clone(), &project, context)?;
    outcome::say(&ended, plan.plan(), &store, &project, context)
}
