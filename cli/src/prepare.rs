//! From a file to a verified plan: the same steps for `plan`, `check` and `run`.

use std::collections::BTreeSet;
use std::path::Path;

use plangate_compiler::{Colour, Diagnostic, Options};
use plangate_graph::plan::Note;
use plangate_graph::problem::{Problem, Severity};
use plangate_graph::{Author, Catalog, Plan, Value, VerifiedPlan};

use crate::document::{Document, Kind};
use crate::exit::Exit;
use crate::fault::Fault;
use crate::output::Output;
use crate::project::Project;
use crate::render::paint::Paint;
use crate::render::problems;
use crate::rules;
use crate::servers::{Running, Servers, saved};

/// A plan that passed, with what it was held against.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// The plan.
    pub(crate) plan: VerifiedPlan,
    /// What there is to say about it: no errors.
    pub(crate) findings: Findings,
    /// Rules of the policy that are void.
    pub(crate) void: Vec<Problem>,
    /// The servers that it uses, unless a saved catalog stood for them.
    pub(crate) running: Option<Running>,
}

/// What a file is held against, and for whom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Against<'a> {
    /// Its project.
    pub(crate) project: &'a Project,
    /// A saved catalog, instead of servers.
    pub(crate) catalog: Option<&'a Path>,
    /// Servers that are needed besides those of the plan: the writer's.
    pub(crate) also: Option<&'a str>,
    /// Who wrote it, if somebody says so. A recipe that people read counts as a person's; a plan, which anybody can have
    /// edited unseen, as a model's.
    pub(crate) author: Option<Author>,
}

/// What was found in a recipe or plan, drawn when somebody looks.
#[derive(Clone, Debug)]
pub(crate) enum Findings {
    /// In a recipe.
    Recipe(Vec<Diagnostic>),
    /// In a plan.
    Plan(Vec<Problem>),
}

impl Findings {
    /// As a JSON array.
    pub(crate) fn to_json(&self) -> Result<Value, Fault> {
        let text = match self {
            Findings::Recipe(diagnostics) => plangate_compiler::to_json(diagnostics),
            Findings::Plan(problems) => serde_json::to_string(problems).map_err(|e| internal(&e))?,
        };
        Value::parse(&text).map_err(|e| internal(&e))
    }

    /// For people.
    pub(crate) fn drawn(&self, document: &Document, paint: Paint) -> String {
        match self {
            Findings::Recipe(diagnostics) => {
                let colour = if paint.is_on() { Colour::Ansi } else { Colour::Plain };
                plangate_compiler::render(diagnostics, &document.text, &document.name, colour)
            }
            Findings::Plan(problems) => problems::drawn(problems, paint),
        }
    }

    /// Those that are not among a plan's notes, which its card shows.
    pub(crate) fn without(&self, notes: &[Note]) -> Findings {
        let shown = |code: &str, message: &str| notes.iter().any(|n| n.code == code && n.message == message);
        match self {
            Findings::Recipe(found) => {
                Findings::Recipe(found.iter().filter(|d| !shown(d.code, &d.message)).cloned().collect())
            }
            Findings::Plan(found) => {
                Findings::Plan(found.iter().filter(|p| !shown(p.code, &p.message)).cloned().collect())
            }
        }
    }

    /// How many are errors, and how many warnings.
    pub(crate) fn count(&self) -> (usize, usize) {
        let severities: Vec<Severity> = match self {
            Findings::Recipe(found) => found.iter().map(|d| d.severity).collect(),
            Findings::Plan(found) => found.iter().map(|p| p.severity).collect(),
        };
        let count = |wanted| severities.iter().filter(|s| **s == wanted).count();
        (count(Severity::Error), count(Severity::Warning))
    }
}

/// Why there is no verified plan.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// Something is wrong with the file; nothing was started but what listing tools takes.
    Refused(Findings),
    /// Something else is in the way.
    Fault(Fault),
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Stopped {
        Stopped::Fault(fault)
    }
}

impl Stopped {
    /// As the fault that ends the command.
    pub(crate) fn into_fault(self, document: &Document, against: Against<'_>, output: &Output) -> Fault {
        match self {
            Stopped::Fault(fault) => fault,
            Stopped::Refused(findings) => {
                let (errors, _) = findings.count();
                let what = if errors == 1 { "1 error".to_owned() } else { format!("{errors} errors") };
                let message = format!("{what} in {}; nothing was run", document.name);
                let mut fault = Fault::new(Exit::Refused, "refused", message);
                if against.catalog.is_none() && against.project.servers.is_none() {
                    let folder = against.project.folder.join(crate::project::SERVERS);
                    fault = fault.help(format!("there are no servers: {} does not exist", folder.display()));
                }
                match findings.to_json() {
                    Ok(json) => fault.about(findings.drawn(document, output.remark_paint()), json),
                    Err(fault) => fault,
                }
            }
        }
    }
}

/// What can be said before anything starts: whether the policy can be meant, and whether the file can be read at all.
pub(crate) fn first_look(document: &Document, project: &Project) -> Result<(), Stopped> {
    let servers = Servers::of(project)?;
    rules::hold_by_name(project, &servers)?;
    match document.kind {
        Kind::Actions => loaded(document).map(|_| ()),
        Kind::Recipe => {
            let (_, found) = plangate_compiler::parse(&document.text, &servers.names_only());
            if found.iter().any(|d| d.severity == Severity::Error) {
                return Err(Stopped::Refused(Findings::Recipe(found)));
            }
            Ok(())
        }
    }
}

fn loaded(document: &Document) -> Result<Plan, Stopped> {
    Plan::from_json(&document.text)
        .map_err(|e| Stopped::Refused(Findings::Plan(vec![Problem::error(e.code, None, e.message)])))
}

/// Reads, compiles and verifies a file. What can be said without tools is said before any server starts.
pub(crate) fn prepare(
    document: &Document,
    against: Against<'_>,
    output: &Output,
) -> Result<Prepared, Stopped> {
    match document.kind {
        Kind::Recipe => recipe(document, against, output),
        Kind::Actions => actions(document, against, output),
    }
}

fn recipe(document: &Document, against: Against<'_>, output: &Output) -> Result<Prepared, Stopped> {
    let servers = Servers::of(against.project)?;
    let (catalog, running) = if let Some(path) = against.catalog {
        (saved(path)?, None)
    } else {
        first_look(document, against.project)?;
        let (catalog, running) = start(&servers, servers.named_in(&document.text), against, output)?;
        (catalog, Some(running))
    };
    let void = rules::hold(against.project, &servers, &catalog)?;
    let policy = &against.project.config.policy;
    let author = against.author.unwrap_or(Author::Person);
    let compiled = plangate_compiler::compile(&document.text, &Options::new(&catalog, policy).author(author));
    let Some(plan) = compiled.plan else {
        return Err(Stopped::Refused(Findings::Recipe(compiled.diagnostics)));
    };
    let plan = plan.verify(&catalog, policy, author).map_err(|p| Stopped::Refused(Findings::Plan(p)))?;
    Ok(Prepared { plan, findings: Findings::Recipe(compiled.diagnostics), void, running })
}

fn actions(document: &Document, against: Against<'_>, output: &Output) -> Result<Prepared, Stopped> {
    let plan = loaded(document)?;
    let servers = Servers::of(against.project)?;
    let (catalog, running) = if let Some(path) = against.catalog {
        (saved(path)?, None)
    } else {
        rules::hold_by_name(against.project, &servers)?;
        let known: BTreeSet<&str> = servers.names().collect();
        let used: BTreeSet<String> = plan
            .calls()
            .map(|(_, call)| call.server.clone())
            .filter(|name| known.contains(name.as_str()))
            .collect();
        let (catalog, running) = start(&servers, used, against, output)?;
        (catalog, Some(running))
    };
    let void = rules::hold(against.project, &servers, &catalog)?;
    let policy = &against.project.config.policy;
    let author = against.author.unwrap_or(Author::Model);
    let plan = plan.verify(&catalog, policy, author).map_err(|p| Stopped::Refused(Findings::Plan(p)))?;
    Ok(Prepared { plan, findings: Findings::Plan(Vec::new()), void, running })
}

/// Starts what is used; the others are in the catalog by name, so that a slip can be told from an invention.
fn start(
    servers: &Servers,
    mut used: BTreeSet<String>,
    against: Against<'_>,
    output: &Output,
) -> Result<(Catalog, Running), Stopped> {
    used.extend(against.also.map(str::to_owned));
    let running = servers.start(&used, against.project, output)?;
    running.all_ready()?;
    let mut catalog = running.catalog.clone();
    servers.names().filter(|name| !used.contains(*name)).for_each(|name| catalog.leave_open(name));
    Ok((catalog, running))
}

fn internal(error: &dyn std::fmt::Display) -> Fault {
    Fault::new(Exit::Internal, "internal", error.to_string())
}
