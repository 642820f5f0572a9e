//! Where the libraries lie that were built with the tests.

use std::path::PathBuf;

/// The shared library.
pub(crate) fn shared() -> PathBuf {
    beside("libplangate.so")
}

/// The static library.
#[allow(dead_code, reason = "not every test links it")]
pub(crate) fn archive() -> PathBuf {
    beside("libplangate.a")
}

fn beside(name: &str) -> PathBuf {
    // Tests lie in `deps`, with the libraries that they were built with.
    let path = std::env::current_exe().expect("a test has a path").with_file_name(name);
    assert!(path.is_file(), "{} is not there", path.display());
    path
}
