//! What no code outside can do. The cases lie in `tests/sealed`, each with what the compiler says.
#![allow(missing_docs, reason = "tests")]

#[test]
fn reads_and_permits_cannot_be_forged_copied_or_used_twice() {
    trybuild::TestCases::new().compile_fail("tests/sealed/*.rs");
}
