//! The executor of a project: its store, its servers, its writer, its limits; and how a run is started or goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use plangate_approval::{Run, RunId, SqliteStore, StepState, Storage as _};
use plangate_executor::{
    Ended, Executor, Observer, Options, Present, Record, RunError, Start, Tools, Writer,
};
use plangate_graph::outline::Body;
use plangate_graph::{Catalog, Plan, Value, VerifiedPlan};

use crate::config::WriterChoice;
use crate::context::Context;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::project::Project;
use crate::render::progress::Progress;
use crate::rules;
use crate::servers::{Running, Servers};
use crate::signals;
use crate::store;
use crate::trace;
use crate::who::myself;
use crate::writer::command::Program;
use crate::writer::outline::Outline;
use crate::writer::tool::Tool;

/// How a run is started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin<'a> {
    /// Values of its inputs.
    pub(crate) inputs: &'a Value,
    /// What people call it.
    pub(crate) title: &'a str,
    /// While a row is pending, no effect is claimed.
    pub(crate) hold_siblings: bool,
    /// How long it may be driven, where that is not left to the configuration.
    pub(crate) deadline: Option<Duration>,
}

/// Starts a run and drives it until it ends or waits for people.
pub(crate) fn run(
    plan: &VerifiedPlan,
    running: &Running,
    begin: Begin<'_>,
    store: Arc<SqliteStore>,
    project: &Project,
    context: &Context,
) -> Result<Ended, Fault> {
    let writer = writer(plan.plan(), running, project)?;
    let progress = Arc::new(Progress::new(plan.plan(), &context.output));
    let options = options(project, &running.catalog, &progress, begin.hold_siblings, context)?;
    let options = Options { deadline: begin.deadline.or(options.deadline), ..options };
    let tools: Arc<dyn Tools> = Arc::clone(&running.tools) as Arc<dyn Tools>;
    let executor = Executor::new(store, tools, writer, options);
    let start = Start {
        inputs: begin.inputs.clone(),
        requester: myself(&project.config.policy),
        title: begin.title.to_owned(),
    };
    let ended = executor.run(plan, start);
    progress.finish();
    running.tools.shutdown();
    let ended = ended.map_err(|e| fault(e, progress.run().as_ref(), project))?;
    trace::note(&ended, executor.store().now(), project, &context.output);
    Ok(ended)
}

/// Goes on with a stored run, and accepts what changed of tools and policy if that is said: starts the servers of the steps that have not ended, and drives it.
pub(crate) fn resume(
    id: &RunId,
    store: Arc<SqliteStore>,
    project: &Project,
    context: &Context,
    accept: bool,
) -> Result<Ended, Fault> {
    let run = store::run(&store, id)?;
    let (plan, catalog) = documents(&store, &run)?;
    let left = left(&store, id, &plan)?;
    let servers = Servers::of(project)?;
    rules::hold_by_name(project, &servers)?;
    let mut needed: BTreeSet<String> = left.servers;
    if left.sentences {
        needed.extend(writer_server(project).map(str::to_owned));
    }
    let running = servers.start(&needed, project, &context.output)?;
    running.all_ready().map_err(|fault| later(fault, id, project))?;
    let now = now(&catalog, &running.catalog);
    rules::remark(&rules::hold(project, &servers, &now)?, &context.output);
    let writer = if left.sentences {
        writer(&plan, &running, project)?
    } else {
        Some(Arc::new(Outline) as Arc<dyn Writer>)
    };
    let progress = Arc::new(Progress::new(&plan, &context.output));
    let options = options(project, &running.catalog, &progress, run.hold_siblings, context)?;
    let tools: Arc<dyn Tools> = Arc::clone(&running.tools) as Arc<dyn Tools>;
    let executor = Executor::new(store, tools, writer, options);
    let present = Present { catalog: now, policy: project.config.policy.clone() };
    let ended = if accept {
        executor.accept(id, &myself(&project.config.policy), present)
    } else {
        executor.resume(id, Some(present))
    };
    progress.finish();
    running.tools.shutdown();
    let ended = ended.map_err(|e| fault(e, Some(id), project))?;
    // One that had ended before was not driven.
    if !run.state.ended() {
        trace::note(&ended, executor.store().now(), project, &context.output);
    }
    Ok(ended)
}

/// The server of the writer's tool, where a tool writes.
pub(crate) fn writer_server(project: &Project) -> Option<&str> {
    match &project.config.writer {
        WriterChoice::Tool { server, .. } => Some(server),
        WriterChoice::Outline | WriterChoice::Command(_) => None,
    }
}

/// The plan and the catalog that a run was stored with.
pub(crate) fn documents(store: &SqliteStore, run: &Run) -> Result<(Plan, Catalog), Fault> {
    let broken = |what: &str, why: &dyn std::fmt::Display| {
        Fault::new(
            Exit::Unusable,
            "store",
            format!("the stored {what} of run {} cannot be read: {why}", run.id),
        )
    };
    let text = |digest, what: &str| {
        let bytes = store.document(digest).map_err(|e| store::fault(&e))?;
        String::from_utf8(bytes).map_err(|e| broken(what, &e))
    };
    let plan = Plan::from_json(&text(&run.plan, "plan")?).map_err(|e| broken("plan", &e))?;
    let catalog = Catalog::from_json(&text(&run.catalog, "catalog")?).map_err(|e| broken("catalog", &e))?;
    Ok((plan, catalog))
}

/// What a run has still to do.
struct Left {
    servers: BTreeSet<String>,
    sentences: bool,
}

fn left(store: &SqliteStore, run: &RunId, plan: &Plan) -> Result<Left, Fault> {
    let record = Record::read(store, run).map_err(|e| {
        Fault::new(Exit::Unusable, "store", format!("the record of run {run} cannot be read: {e}"))
    })?;
    let states: BTreeMap<&str, StepState> =
        record.steps.iter().map(|step| (step.id.as_str(), step.state)).collect();
    // Ended in another way than done: what stands behind it will not be called.
    let stops = |id: &str| states.get(id).is_some_and(|state| state.ended() && *state != StepState::Done);
    let mut left = Left { servers: BTreeSet::new(), sentences: false };
    for (ix, node) in plan.nodes() {
        let gate = plan.gate_of(ix).map(|gate| plan.node(gate).id.as_str());
        if states.get(node.id.as_str()).is_some_and(|state| state.ended()) || gate.is_some_and(stops) {
            continue;
        }
        match plan.item_of(ix).map(|(_, item)| &item.body) {
            Some(Body::Call(call)) => {
                left.servers.insert(call.server.clone());
            }
            Some(Body::Sentence(_)) => left.sentences = true,
            _ => {}
        }
    }
    Ok(left)
}

/// The tools of now: those of the servers that were started, and of the others what was stored with the run.
fn now(stored: &Catalog, live: &Catalog) -> Catalog {
    let mut catalog = live.clone();
    for (name, server) in stored.servers().filter(|(name, _)| live.server(name).is_none()) {
        catalog.insert_server(name, server.origin.clone());
        if server.partial {
            catalog.leave_open(name);
        }
        for definition in server.tools() {
            // The server was not there, so none of its tools was.
            drop(catalog.insert(name, definition.clone()));
        }
    }
    catalog
}

fn writer(plan: &Plan, running: &Running, project: &Project) -> Result<Option<Arc<dyn Writer>>, Fault> {
    let sentences = plan.outline().items.iter().any(|item| matches!(item.body, Body::Sentence(_)));
    if !sentences {
        return Ok(None);
    }
    Ok(Some(match &project.config.writer {
        WriterChoice::Outline => Arc::new(Outline),
        WriterChoice::Command(command) => Arc::new(Program::new(command, project.folder.clone())),
        WriterChoice::Tool { server, tool } => {
            let tools: Arc<dyn Tools> = Arc::clone(&running.tools) as Arc<dyn Tools>;
            Arc::new(Tool::new(server, tool, &running.catalog, &project.config.policy, tools)?)
        }
    }))
}

fn options(
    project: &Project,
    catalog: &Catalog,
    progress: &Arc<Progress>,
    hold_siblings: bool,
    context: &Context,
) -> Result<Options, Fault> {
    let limits = &project.config.limits;
    let mut caps: BTreeMap<String, usize> = match limits.per_server {
        Some(cap) => catalog.servers().map(|(name, _)| (name.to_owned(), cap)).collect(),
        None => BTreeMap::new(),
    };
    caps.extend(limits.servers.clone());
    Ok(Options {
        workers: limits.workers,
        caps,
        timeout: limits.timeout,
        deadline: limits.deadline,
        hold_siblings,
        stop: Some(signals::stop(&context.output)?),
        observer: Some(Arc::clone(progress) as Arc<dyn Observer>),
        ..Options::default()
    })
}

/// Why a run did not start or was laid down without an end.
fn fault(error: RunError, run: Option<&RunId>, project: &Project) -> Fault {
    let message = error.to_string();
    match error {
        RunError::Inputs(_) => Fault::new(Exit::Usage, "input", message),
        RunError::Arguments(_) => Fault::new(Exit::Refused, "arguments", message)
            .help("nothing was started: change the inputs or the recipe"),
        RunError::NoWriter { .. } => Fault::new(Exit::Config, "writer", message),
        RunError::Busy { .. } => Fault::new(Exit::Busy, "busy", message),
        RunError::Store(e) => keep(store::fault(&e), run, project),
        RunError::LeaseLost(_) => Fault::new(Exit::Busy, "lease-lost", message),
        RunError::Threads(_) | RunError::Fault(_) => {
            keep(Fault::new(Exit::Internal, "internal", message), run, project)
        }
    }
}

/// What was done is kept, and the run can go on.
fn keep(fault: Fault, run: Option<&RunId>, project: &Project) -> Fault {
    match run {
        Some(run) => later(fault, run, project),
        None => fault,
    }
}

fn later(fault: Fault, run: &RunId, project: &Project) -> Fault {
    let resume = project.typed(&format!("resume {}", store::short(&run.0)));
    fault.help(format!("what was done is kept; go on with: {resume}"))
}
