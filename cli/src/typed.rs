//! What can be typed next, as it stands.

use std::path::Path;

use crate::project::Project;

impl Project {
    /// How plangate is called from here with these arguments: as it was called now, and with the folder where that is not
    /// found by itself.
    pub(crate) fn typed(&self, arguments: &str) -> String {
        let folder = if self.elsewhere && !found_below(&self.folder) {
            format!(" -C {}", quoted(&self.folder.display().to_string()))
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
