//! Where the workspace lies, for tests that look at it as a whole, and plans of others for tests to compile.

pub mod corpora;

use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Data that lies beside the checkout and is no part of it; nothing where it is absent.
pub fn shared(path: &str) -> Option<PathBuf> {
    let beside = std::env::var_os("PLANGATE_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    Some(beside.join(path)).filter(|found| found.exists())
}
