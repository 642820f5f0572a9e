//! What every command is given.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::document::Document;
use crate::fault::Fault;
use crate::output::Output;
use crate::project::Project;

/// What every command is given: where it prints, and the folder that the command line names.
#[derive(Debug)]
pub(crate) struct Context {
    /// Where it prints.
    pub(crate) output: Arc<Output>,
    /// `-C`
    pub(crate) folder: Option<PathBuf>,
}

impl Context {
    /// The project of a recipe or plan.
    pub(crate) fn project_of(&self, document: &Document) -> Result<Project, Fault> {
        Project::find(self.folder.as_deref(), document.path())
    }

    /// The project of the current folder.
    pub(crate) fn project(&self) -> Result<Project, Fault> {
        Project::find(self.folder.as_deref(), None)
    }

    /// How plangate is called from here with these arguments, as it can be typed.
    pub(crate) fn typed(&self, project: &Project, arguments: &str) -> String {
        let folder = if project.elsewhere && !found_below(&project.folder) {
            format!(" -C {}", quoted(&project.folder.display().to_string()))
        } else {
            String::new()
        };
        format!("{} {arguments}{folder}", program())
    }
}

/// A folder directly below the current one is found without being named, if it is the only one.
fn found_below(folder: &Path) -> bool {
    Project::find(None, None).is_ok_and(|found| found.folder == folder)
}

/// What was typed to start this program.
fn program() -> String {
    let typed = std::env::args_os().next().map(|a| a.to_string_lossy().into_owned());
    let typed = typed.filter(|t| !t.is_empty()).unwrap_or_else(|| "plangate".to_owned());
    // Started by `cargo run`, as its environment says: the program lies where nobody types.
    if std::env::var_os("CARGO").is_some() && typed.contains("target/") {
        return "cargo run --".to_owned();
    }
    quoted(&typed)
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_can_be_typed() {
        assert_eq!(quoted("a/b-c.recipe"), "a/b-c.recipe");
        assert_eq!(quoted("it's here"), "'it'\\''s here'");
        assert_eq!(quoted(""), "''");
    }
}
