//! Gives the shared library its name and keeps it loaded once it is.

use std::path::Path;

fn main() {
    let source = Path::new("src/version.rs");
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rerun-if-changed=build.rs");
    let text = std::fs::read_to_string(source).unwrap_or_default();
    let abi = text
        .lines()
        .find_map(|line| line.strip_prefix("pub const PLANGATE_ABI_VERSION: u32 = ")?.strip_suffix(';'));
    let Some(abi) = abi else {
        println!("cargo::error=src/version.rs does not say PLANGATE_ABI_VERSION");
        return;
    };
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") == "linux" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libplangate.so.{abi}");
        // Threads that ran here still have thread-local values to drop after a dlclose.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
