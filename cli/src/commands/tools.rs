//! `plangate tools`: every tool, what it does outside, and why we think so.

use std::path::Path;

use plangate_graph::Catalog;
use plangate_graph::effect::Effect;
use plangate_mcp_client::RefusedTool;
use serde::Serialize;

use crate::args::ToolsArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::nearest::nearest;
use crate::project::Project;
use crate::render::tools as draw;
use crate::rules;
use crate::servers::{Servers, failure, saved};
use crate::toolbox::{Tool, judged};

/// What the tools are, and what is wrong with the others.
pub(crate) struct Listing {
    /// The tools.
    pub(crate) catalog: Catalog,
    /// Tools whose definition is broken.
    pub(crate) refused: Vec<RefusedTool>,
    /// Servers that could not be started.
    pub(crate) failed: Option<Fault>,
}

/// Lists tools from a saved catalog or from all servers.
pub(crate) fn tools(args: &ToolsArgs, context: &Context) -> Result<Exit, Fault> {
    let project = context.project()?;
    let listing = listing(args.catalog.as_deref(), &project, context)?;
    let policy = &project.config.policy;
    if let Some(path) = &args.save {
        if let Some(failed) = listing.failed {
            return Err(failed.help("a catalog is saved when every server is ready"));
        }
        save(&listing.catalog, path, context)?;
        return Ok(Exit::Done);
    }
    let tools = judged(&listing.catalog, policy);
    match &args.why {
        Some(name) => why(name, &tools, context)?,
        None => all(&tools, &listing, context)?,
    }
    let servers = Servers::of(&project)?;
    rules::remark(&rules::hold(&project, &servers, &listing.catalog)?, &context.output);
    match listing.failed {
        Some(failed) => Err(failed.help("the other servers' tools are listed above")),
        None => Ok(Exit::Done),
    }
}

/// All tools that there are.
pub(crate) fn listing(
    catalog: Option<&Path>,
    project: &Project,
    context: &Context,
) -> Result<Listing, Fault> {
    if let Some(path) = catalog {
        return Ok(Listing { catalog: saved(path)?, refused: Vec::new(), failed: None });
    }
    let servers = Servers::of(project)?;
    let names = servers.names().map(str::to_owned).collect();
    let running = servers.start(&names, project, &context.output)?;
    running.tools.shutdown();
    Ok(Listing { catalog: running.catalog, refused: running.refused, failed: failure(&running.failed) })
}

fn save(catalog: &Catalog, path: &Path, context: &Context) -> Result<(), Fault> {
    std::fs::write(path, catalog.to_json() + "\n").map_err(|e| {
        Fault::new(Exit::Unusable, "write", format!("the catalog cannot be written: {e}"))
            .at(path.display().to_string())
    })?;
    let (servers, tools) = (catalog.servers().count(), catalog.tools().count());
    context.output.remark(&format!("wrote {}: {tools} tools of {servers} servers\n", path.display()));
    Ok(())
}

fn all(tools: &[Tool<'_>], listing: &Listing, context: &Context) -> Result<(), Fault> {
    #[derive(Serialize)]
    struct Row<'a> {
        server: &'a str,
        tool: &'a str,
        effect: Effect,
        gated: bool,
        /// What is broken in its input schema: then it cannot be called.
        #[serde(skip_serializing_if = "Option::is_none")]
        broken: Option<&'a str>,
        evidence: Vec<Sentence<'a>>,
    }
    #[derive(Serialize)]
    struct Sentence<'a> {
        code: &'a str,
        says: &'a str,
    }
    #[derive(Serialize)]
    struct Whole<'a> {
        tools: Vec<Row<'a>>,
    }
    if context.output.is_json() {
        let tools = tools
            .iter()
            .map(|tool| Row {
                server: tool.server,
                tool: &tool.definition.name,
                effect: tool.classification.effect,
                gated: tool.gated(),
                broken: tool.broken.as_deref(),
                evidence: draw::evidence(tool).map(|e| Sentence { code: &e.code, says: &e.says }).collect(),
            })
            .collect();
        return context.output.say_json(&Whole { tools });
    }
    let paint = context.output.paint();
    context.output.say(&draw::listing(tools, &listing.catalog, &listing.refused, paint));
    Ok(())
}

fn why(name: &str, tools: &[Tool<'_>], context: &Context) -> Result<(), Fault> {
    let full = |tool: &Tool<'_>| format!("{}.{}", tool.server, tool.definition.name);
    let Some(tool) = tools.iter().find(|tool| full(tool) == name) else {
        let known: Vec<String> = tools.iter().map(full).collect();
        let fault = Fault::new(Exit::NotFound, "no-tool", format!("there is no tool {name:?}"));
        return Err(match nearest(name, known.iter().map(String::as_str)) {
            Some(meant) => fault.help(format!("did you mean {meant}?")),
            None => fault.help("`plangate tools` lists all of them; write server.tool"),
        });
    };
    if context.output.is_json() {
        return context.output.say_json(&draw::Why::of(tool));
    }
    context.output.say(&draw::why(tool, context.output.paint()));
    Ok(())
}
