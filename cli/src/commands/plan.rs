//! `plangate plan`: what a recipe would do, before anything runs.

use plangate_graph::card::{Card, dot, mermaid};

use crate::args::PlanArgs;
use crate::context::Context;
use crate::document::Document;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::inputs;
use crate::prepare::{Against, Prepared, prepare};
use crate::render::card::coloured;
use crate::rules;

/// Prints the card, or the plan in another form.
pub(crate) fn plan(args: &PlanArgs, context: &Context) -> Result<Exit, Fault> {
    let output = &context.output;
    if output.is_json() && (args.markdown || args.mermaid || args.dot) {
        let message = "--json and --markdown, --mermaid or --dot exclude each other";
        let fault = Fault::new(Exit::Usage, "usage", message);
        return Err(fault.help("take one of them out"));
    }
    let document = Document::read(&args.source.file)?;
    let project = context.project_of(&document)?;
    let against = Against {
        project: &project,
        catalog: args.catalog.as_deref(),
        also: None,
        author: args.source.author.map(Into::into),
    };
    let prepared =
        prepare(&document, against, output).map_err(|s| s.into_fault(&document, against, output))?;
    let plan = &prepared.plan;
    let values = inputs::read(&args.inputs, &plan.plan().outline().inputs)?;
    if let Some(path) = &args.out {
        std::fs::write(path, plan.plan().to_json()).map_err(|e| {
            Fault::new(Exit::Unusable, "write", format!("the plan cannot be written: {e}"))
                .at(path.display().to_string())
        })?;
    }
    if args.actions {
        output.say(&plan.plan().to_json());
    } else if args.mermaid {
        output.say(&mermaid(plan));
    } else if args.dot {
        output.say(&dot(plan));
    } else {
        let card = Card::of(plan, Some(&values));
        if output.is_json() {
            output.say_json(&card)?;
        } else if args.markdown {
            output.say(&card.to_markdown());
        } else {
            output.say(&coloured(&card.to_text(), output.paint()));
        }
    }
    if let Some(path) = &args.out
        && !output.is_json()
    {
        output.remark(&format!("wrote {} ({})\n", path.display(), plan.plan().digest().short()));
    }
    beside_the_card(&prepared, &document, context);
    Ok(Exit::Done)
}

/// What the compiler and the policy have to say and the card does not.
pub(crate) fn beside_the_card(prepared: &Prepared, document: &Document, context: &Context) {
    rules::remark(&prepared.void, &context.output);
    let said = &prepared.findings.without(prepared.plan.plan().notes());
    if !context.output.is_json() {
        context.output.remark(&said.drawn(document, context.output.remark_paint()));
    }
}
