//! What every command is given.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use plangate_approval::SqliteStore;

use crate::document::Document;
use crate::fault::Fault;
use crate::output::Output;
use crate::project::Project;
use crate::telling::Telling;

/// What every command is given: where it prints, and the folder that the command line names.
#[derive(Debug)]
pub(crate) struct Context {
    /// Where it prints.
    pub(crate) output: Arc<Output>,
    /// `-C`
    pub(crate) folder: Option<PathBuf>,
    /// Who is told what it does.
    pub(crate) telling: Mutex<Option<Telling>>,
}

impl Context {
    /// The project of a recipe or plan.
    pub(crate) fn project_of(&self, document: &Document) -> Result<Project, Fault> {
        Project::find(self.folder.as_deref(), document.path())
    }

    /// What the command does in this store from now on is told to the webhooks of the settings.
    pub(crate) fn tell(&self, project: &Project, store: &Arc<SqliteStore>) -> Result<(), Fault> {
        let mut telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        if telling.is_none() {
            *telling = Telling::start(project, store)?;
        }
        Ok(())
    }

    /// The command is done: receivers have a moment left.
    pub(crate) fn told(&self) {
        let telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(telling) = telling {
            telling.finish(self);
        }
    }

    /// The project of the current folder.
    pub(crate) fn project(&self) -> Result<Project, Fault> {
        Project::find(self.folder.as_deref(), None)
    }
}
