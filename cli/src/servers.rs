//! Where tools come from: the servers of an `.mcp.json`, or a saved catalog.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plangate_graph::Catalog;
use plangate_mcp_client::{Config, McpError, McpTools, Options, RefusedTool};

use crate::exit::Exit;
use crate::fault::Fault;
use crate::output::Output;
use crate::project::Project;
use crate::render::starting::Starting;

/// The servers of a project, by name; none of them is started by looking.
#[derive(Clone, Debug)]
pub(crate) struct Servers {
    config: Option<Config>,
    /// The file, or where it would be.
    file: PathBuf,
}

/// Servers that run, with their tools.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    /// For the executor.
    pub(crate) tools: Arc<McpTools>,
    /// The tools that could be read.
    pub(crate) catalog: Catalog,
    /// Tools whose definition is broken.
    pub(crate) refused: Vec<RefusedTool>,
    /// Servers that could not be started.
    pub(crate) failed: Vec<McpError>,
}

impl Servers {
    /// The servers of a project. A project without `.mcp.json` has none.
    pub(crate) fn of(project: &Project) -> Result<Servers, Fault> {
        let file = project.folder.join(crate::project::SERVERS);
        let config = match &project.servers {
            None => None,
            Some(path) => Some(Config::read(path).map_err(|e| {
                Fault::new(Exit::Config, "servers", e.to_string()).at(path.display().to_string())
            })?),
        };
        Ok(Servers { config, file })
    }

    /// Their names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.config.iter().flat_map(Config::names)
    }

    /// A catalog that knows the servers by name and no tool: what is needed to tell calls from sentences.
    pub(crate) fn names_only(&self) -> Catalog {
        let mut catalog = Catalog::new();
        self.names().for_each(|name| catalog.leave_open(name));
        catalog
    }

    /// Those whose name stands in front of a dot where a step of the recipe begins; comments do not count.
    pub(crate) fn named_in(&self, recipe: &str) -> BTreeSet<String> {
        let begins = |line: &str, name: &str| {
            let line = line.trim_start();
            !line.starts_with('#')
                && line.split_once(':').is_some_and(|(_, step)| {
                    step.trim_start().strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
                })
        };
        self.names().filter(|name| recipe.lines().any(|line| begins(line, name))).map(str::to_owned).collect()
    }

    /// Starts these servers, all at once, and waits until each is ready or has failed. Names that are not configured are
    /// failures too.
    pub(crate) fn start(
        &self,
        names: &BTreeSet<String>,
        project: &Project,
        output: &Output,
    ) -> Result<Running, Fault> {
        let config = match &self.config {
            Some(config) => config,
            None if names.is_empty() => &nothing(&self.file)?,
            None => return Err(self.none_configured(names)),
        };
        let watch = Starting::new(output, names.len());
        let options = Options {
            startup_timeout: project.config.limits.startup,
            progress: Some(watch.observer()),
            ..Options::default()
        };
        let started = McpTools::start(config, names.iter().map(String::as_str), options)
            .map_err(|e| Fault::new(Exit::Internal, "servers", format!("no servers can be started: {e}")))?;
        watch.finish();
        let catalog = started.tools.catalog();
        let refused = started.tools.refused();
        Ok(Running { tools: Arc::new(started.tools), catalog, refused, failed: started.failed })
    }

    fn none_configured(&self, names: &BTreeSet<String>) -> Fault {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let message = format!("no servers are configured, and {} is needed", names.join(", "));
        Fault::new(Exit::Server, "no-servers", message)
            .at(self.file.display().to_string())
            .help("write an .mcp.json there: {\"mcpServers\": {\"name\": {\"command\": \"program\", \"args\": []}}}")
    }
}

impl Running {
    /// An error unless all of them are ready.
    pub(crate) fn all_ready(&self) -> Result<(), Fault> {
        failure(&self.failed).map_or(Ok(()), Err)
    }
}

/// What to say of servers that could not be started: their names, what was tried, their last words.
pub(crate) fn failure(failed: &[McpError]) -> Option<Fault> {
    let fault = match failed {
        [] => return None,
        [one] => {
            let text = one.to_string();
            let (message, rest) = text.split_once('\n').unwrap_or((text.as_str(), ""));
            Fault::new(Exit::Server, "server", message).detail(undented(rest))
        }
        several => {
            let names: Vec<&str> = several.iter().map(|e| e.server.as_str()).collect();
            let message = format!("{} servers cannot be used: {}", several.len(), names.join(", "));
            let all: Vec<String> = several.iter().map(ToString::to_string).collect();
            Fault::new(Exit::Server, "server", message).detail(all.join("\n"))
        }
    };
    Some(fault.help("nothing was run; `plangate tools` starts every server and shows what each offers"))
}

fn undented(text: &str) -> String {
    text.lines().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

fn nothing(file: &Path) -> Result<Config, Fault> {
    Config::parse("{\"mcpServers\":{}}", file, plangate_mcp_client::Variables::none())
        .map_err(|e| Fault::new(Exit::Internal, "servers", e.to_string()))
}

/// A catalog that was saved.
pub(crate) fn saved(path: &Path) -> Result<Catalog, Fault> {
    let text = std::fs::read_to_string(path).map_err(|e| {
        Fault::new(Exit::NotFound, "no-file", format!("the catalog cannot be read: {e}"))
            .at(path.display().to_string())
            .help("`plangate tools --save FILE` writes one")
    })?;
    Catalog::from_json(&text).map_err(|e| {
        Fault::new(Exit::Config, "catalog", format!("the catalog is none: {e}"))
            .at(path.display().to_string())
            .help("`plangate tools --save FILE` writes one")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    #[test]
    fn servers_are_found_where_steps_begin() {
        let text = r#"{"mcpServers":{"gmail":{"command":"x"},"mail":{"command":"x"},"slack":{"command":"x"},"git":{"command":"x"}}}"#;
        let file = PathBuf::from(".mcp.json");
        let config = Config::parse(text, &file, plangate_mcp_client::Variables::none()).unwrap();
        let servers = Servers { config: Some(config), file };
        let recipe = "together:\n  a: gmail.list {}\n  # b: slack.read {}\n  c: talk about git.log\nask me:\n  - ok?\n    d:   mail.send {}\n";
        assert_eq!(servers.named_in(recipe), BTreeSet::from(["gmail".to_owned(), "mail".to_owned()]));
    }
}
