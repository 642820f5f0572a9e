//! `plangate guide`: what a model needs to write recipes here.

use plangate_graph::Value;
use plangate_graph::effect::Effect;
use serde::Serialize;

use crate::args::GuideArgs;
use crate::commands::tools::listing;
use crate::context::Context;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::render::arguments;
use crate::toolbox::judged;

/// Prints the language on a page and every tool with its arguments. An author without a catalog invents tools.
pub(crate) fn guide(args: &GuideArgs, context: &Context) -> Result<Exit, Fault> {
    #[derive(Serialize)]
    struct Whole<'a> {
        language: &'a str,
        tools: Vec<Entry<'a>>,
    }
    #[derive(Serialize)]
    struct Entry<'a> {
        server: &'a str,
        tool: &'a str,
        description: &'a str,
        effect: Effect,
        gated: bool,
        #[serde(rename = "inputSchema")]
        input_schema: &'a Value,
    }
    let project = context.project()?;
    let listing = listing(args.catalog.as_deref(), &project, context)?;
    if let Some(failed) = listing.failed {
        return Err(
            failed.help("a guide names every tool: mend the server, or save a catalog and use --catalog")
        );
    }
    let tools = judged(&listing.catalog, &project.config.policy);
    let language = plangate_compiler::language_guide();
    if context.output.is_json() {
        let tools = tools
            .iter()
            .map(|t| Entry {
                server: t.server,
                tool: &t.definition.name,
                description: &t.definition.description,
                effect: t.classification.effect,
                gated: t.gated(),
                input_schema: &t.definition.input_schema,
            })
            .collect();
        context.output.say_json(&Whole { language, tools })?;
        return Ok(Exit::Done);
    }
    context.output.say(&format!("{}\n\n{}", language.trim_end(), arguments::page(&tools)));
    Ok(Exit::Done)
}
