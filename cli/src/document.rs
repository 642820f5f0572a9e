//! The file that a command is about: a recipe, or a plan that was compiled before.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::exit::Exit;
use crate::fault::Fault;

/// A recipe or an `actions.json`, as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Document {
    /// Its text.
    pub(crate) text: String,
    /// What its reader calls it.
    pub(crate) name: String,
    /// What it is.
    pub(crate) kind: Kind,
    path: Option<PathBuf>,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A recipe.
    Recipe,
    /// A plan: `actions.json`.
    Actions,
}

impl Document {
    /// Reads a file; `-` is standard input. A text that begins with `{` is a plan, which no recipe does.
    pub(crate) fn read(path: &Path) -> Result<Document, Fault> {
        let from_stdin = path.as_os_str() == "-";
        let name = if from_stdin { "standard input".to_owned() } else { path.display().to_string() };
        let mut bytes = Vec::new();
        let read = if from_stdin {
            std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
        } else {
            std::fs::read(path).map(|read| bytes = read)
        };
        read.map_err(|e| {
            let fault = Fault::new(Exit::NotFound, "no-file", format!("{name} cannot be read: {e}"));
            match neighbours(path).as_slice() {
                [] => fault,
                found => fault.help(format!("there are: {}", found.join(", "))),
            }
        })?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let at = e.utf8_error().valid_up_to();
            Fault::new(Exit::Refused, "not-utf8", format!("{name} is not UTF-8 from byte {at} on"))
                .help("save it as UTF-8")
        })?;
        let kind = if text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
            Kind::Actions
        } else {
            Kind::Recipe
        };
        Ok(Document { text, name, kind, path: (!from_stdin).then(|| path.to_owned()) })
    }

    /// Where it lies, for finding its project.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The file's name alone, as runs are titled.
    pub(crate) fn title(&self) -> String {
        let name = self.path.as_ref().and_then(|p| p.file_name());
        name.map_or_else(|| self.name.clone(), |n| n.to_string_lossy().into_owned())
    }
}

/// Recipes and plans that lie where the file was looked for.
fn neighbours(path: &Path) -> Vec<String> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "recipe")).collect();
    found.sort();
    found.iter().take(8).map(|p| p.strip_prefix(".").unwrap_or(p).display().to_string()).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    #[test]
    fn what_begins_with_a_brace_is_a_plan() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str, text: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            Document::read(&path)
        };
        assert_eq!(read("a.recipe", b"# x\n").unwrap().kind, Kind::Recipe);
        assert_eq!(read("b", b"\n {\"format\"").unwrap().kind, Kind::Actions);
        assert_eq!(read("a.recipe", b"x").unwrap().title(), "a.recipe");
        let fault = read("c.recipe", b"a\xffb").unwrap_err();
        assert!(fault.message.ends_with("is not UTF-8 from byte 1 on"), "{fault:?}");
        let missing = Document::read(&folder.path().join("none.recipe")).unwrap_err();
        assert_eq!(missing.exit, Exit::NotFound);
        assert!(missing.help.unwrap().contains("a.recipe"));
    }
}
