//! The folder that a command works in: its `plangate.toml`, its `.mcp.json`, its store.

use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::exit::Exit;
use crate::fault::Fault;

/// Name of the configuration file.
pub(crate) const CONFIG: &str = "plangate.toml";
/// Name of the file that says what the servers are.
pub(crate) const SERVERS: &str = ".mcp.json";
/// Folder of the default store, beside the configuration.
pub(crate) const STATE: &str = ".plangate";

/// A folder with a configuration, servers and a store; each of them may be missing.
#[derive(Debug)]
pub(crate) struct Project {
    /// The folder, as it is shown: relative to the current one where it lies below.
    pub(crate) folder: PathBuf,
    /// What stands in `plangate.toml`, or the defaults.
    pub(crate) config: Config,
    /// `.mcp.json`, where there is one.
    pub(crate) servers: Option<PathBuf>,
    /// The store; it need not exist yet.
    pub(crate) store: PathBuf,
    /// The folder was found only through the recipe or below the current one: commands name it.
    pub(crate) elsewhere: bool,
}

impl Project {
    /// The folder for a command.
    ///
    /// `said` is the `-C` of the command line and wins. Otherwise it is the nearest folder with a `plangate.toml` or an
    /// `.mcp.json`, from the recipe's folder upwards, then from the current folder upwards. Neither search leaves the
    /// repository (a folder with `.git`). Without any, it is the one folder directly below that holds a store, if just one
    /// does; then the recipe's folder, or the current one.
    pub(crate) fn find(said: Option<&Path>, recipe: Option<&Path>) -> Result<Project, Fault> {
        if let Some(folder) = said {
            if !folder.is_dir() {
                let message = format!("-C names {}, which is no folder", folder.display());
                return Err(Fault::new(Exit::NotFound, "no-folder", message));
            }
            return Project::open(folder, true);
        }
        let current = Path::new(".");
        let near = recipe.map(folder_of);
        if let Some(found) = near.as_deref().and_then(nearest) {
            let elsewhere = nearest(current).is_none_or(|own| !same(&own, &found));
            return Project::open(&found, elsewhere);
        }
        if let Some(found) = nearest(current) {
            return Project::open(&found, false);
        }
        match near {
            Some(folder) => Project::open(&folder, !same(&folder, current)),
            None => match stores_below(current).as_slice() {
                [one] if !current.join(STATE).join("state.db").exists() => Project::open(one, true),
                [] | [_] => Project::open(current, false),
                several => {
                    let names: Vec<String> = several.iter().map(|p| p.display().to_string()).collect();
                    let message = format!("several folders here hold a store: {}", names.join(", "));
                    Err(Fault::new(Exit::Usage, "which-folder", message).help(format!(
                        "say which with -C, for instance -C {}",
                        names.first().map_or("", |n| n)
                    )))
                }
            },
        }
    }

    fn open(folder: &Path, elsewhere: bool) -> Result<Project, Fault> {
        let folder = shown(folder);
        let file = folder.join(CONFIG);
        let config = if file.exists() { Config::read(&file)? } else { Config::default() };
        let servers = Some(folder.join(SERVERS)).filter(|path| path.exists());
        let store =
            config.store.as_ref().map_or_else(|| folder.join(STATE).join("state.db"), |p| folder.join(p));
        Ok(Project { folder, config, servers, store, elsewhere })
    }
}

/// Upwards from a folder to the first that holds a configuration or servers, not beyond the repository.
fn nearest(from: &Path) -> Option<PathBuf> {
    let start = from.canonicalize().ok()?;
    for folder in start.ancestors() {
        if folder.join(CONFIG).is_file() || folder.join(SERVERS).is_file() {
            return Some(folder.to_owned());
        }
        if folder.join(".git").exists() {
            return None;
        }
    }
    None
}

/// Folders directly below that hold a default store.
fn stores_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|e| e.path()).filter(|p| p.join(STATE).join("state.db").is_file()).collect();
    found.sort();
    found
}

fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// A path as people write it: relative to the current folder where it lies in it.
pub(crate) fn shown(path: &Path) -> PathBuf {
    let (Ok(whole), Ok(current)) =
        (path.canonicalize(), std::env::current_dir().and_then(|p| p.canonicalize()))
    else {
        return path.to_owned();
    };
    match whole.strip_prefix(&current) {
        Ok(below) => below.to_owned(),
        Err(_) => whole,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, if file.ends_with("toml") { "" } else { "{}" }).unwrap();
        }
        folder
    }

    #[test]
    fn the_folder_of_the_recipe_wins_and_the_search_goes_upwards() {
        let tree = tree(&["a/.mcp.json", "a/b/c/x.recipe", "a/d/plangate.toml", "a/d/x.recipe"]);
        let root = tree.path().canonicalize().unwrap();
        let found = Project::find(None, Some(&root.join("a/b/c/x.recipe"))).unwrap();
        assert_eq!(found.folder, root.join("a"));
        assert_eq!(found.servers, Some(root.join("a/.mcp.json")));
        assert_eq!(found.store, root.join("a/.plangate/state.db"));
        assert!(found.elsewhere);
        assert_eq!(Project::find(None, Some(&root.join("a/d/x.recipe"))).unwrap().folder, root.join("a/d"));
    }

    #[test]
    fn the_search_stays_in_the_repository() {
        let tree = tree(&[".mcp.json", "repo/.git/HEAD", "repo/x.recipe"]);
        let recipe = tree.path().join("repo/x.recipe");
        assert_eq!(nearest(&folder_of(&recipe)), None);
    }

    #[test]
    fn stores_are_found_directly_below() {
        let tree = tree(&["one/.plangate/state.db", "two/plangate.toml", "three/x/.plangate/state.db"]);
        assert_eq!(stores_below(tree.path()), [tree.path().join("one")]);
    }
}
