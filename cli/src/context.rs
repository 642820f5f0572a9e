//! What every command is given.

use std::path::PathBuf;
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
}
