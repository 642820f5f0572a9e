//! The policy of a project, held against the servers that there are.

use plangate_graph::Catalog;
use plangate_graph::problem::{Problem, Severity};

use crate::exit::Exit;
use crate::fault::Fault;
use crate::output::Output;
use crate::project::Project;
use crate::render::problems::drawn;
use crate::servers::Servers;

/// Before any server is started: what the names of the servers and the roles show.
pub(crate) fn hold_by_name(project: &Project, servers: &Servers) -> Result<(), Fault> {
    settled(project.config.policy.check(&servers.names_only()), project).map(|_| ())
}

/// With the tools that are known; servers that are configured and not among them count by their name. Gives the warnings.
pub(crate) fn hold(project: &Project, servers: &Servers, catalog: &Catalog) -> Result<Vec<Problem>, Fault> {
    let mut known = catalog.clone();
    servers.names().filter(|name| catalog.server(name).is_none()).for_each(|name| known.leave_open(name));
    settled(project.config.policy.check(&known), project)
}

/// Says which rules are void, beside what a command has to say.
pub(crate) fn remark(warnings: &[Problem], output: &Output) {
    if !output.is_json() {
        output.remark(&drawn(warnings, output.remark_paint()));
    }
}

/// Nothing is planned or run under a policy that cannot be meant.
fn settled(found: Vec<Problem>, project: &Project) -> Result<Vec<Problem>, Fault> {
    let (errors, warnings): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|problem| problem.severity == Severity::Error);
    let Some(first) = errors.first() else { return Ok(warnings) };
    let more = match errors.len() {
        1 => String::new(),
        n => format!(" (and {} more)", n - 1),
    };
    let fault = Fault::new(Exit::Config, "policy", format!("{}{more}", first.message));
    let fault = errors.iter().skip(1).fold(fault, |fault, wrong| fault.detail(&wrong.message));
    let file = project.config.file.as_ref().map(|file| file.display().to_string()).unwrap_or_default();
    let help = first.help.as_deref().unwrap_or_default();
    Err(fault.at(file).help(format!("{help}; `plangate explain {}` says more", first.code)))
}
