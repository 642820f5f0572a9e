//! Versions.
#![expect(unsafe_code, reason = "exports functions, which enter the boundary for a C caller")]

use std::ffi::c_char;

/// Version of this interface. A library of another version has another file name; raised when a function or a struct
/// changes in a way that a caller compiled before would not understand.
pub const PLANGATE_ABI_VERSION: u32 = 1;

/// The version of the library, with its NUL.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// PLANGATE_ABI_VERSION of the library that is loaded. Compare it with that of the header.
#[unsafe(no_mangle)]
pub extern "C" fn plangate_abi_version() -> u32 {
    PLANGATE_ABI_VERSION
}

/// Version of the library, for instance "0.1.0". Lives as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn plangate_version() -> *const c_char {
    VERSION.as_ptr().cast()
}
