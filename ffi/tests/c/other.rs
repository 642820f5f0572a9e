//! Another Rust library in the same program.
#![crate_type = "staticlib"]

/// Panics inside, and says that it did by one more.
#[unsafe(no_mangle)]
pub extern "C" fn other_panics(n: i32) -> i32 {
    match std::panic::catch_unwind(|| if n > 0 { std::panic::resume_unwind(Box::new(n)) } else { n }) {
        Ok(n) => n,
        Err(panic) => panic.downcast_ref::<i32>().map_or(0, |n| n + 1),
    }
}
