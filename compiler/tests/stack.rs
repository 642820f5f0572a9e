//! Compiling on a stack that is as small as those of coroutines.

use plangate_compiler::{Options, compile};
use plangate_graph::{Catalog, Policy};

/// Less than pest, built with its `std` feature, wants to see left of the thread's own stack before it parses anything.
const SMALL: usize = 60 * 1024;

#[test]
fn what_is_left_of_the_stack_does_not_matter() {
    let catalog = Catalog::from_json(
        r#"{"servers": {"mail": {"tools": [{"name": "list_messages", "inputSchema": {"type": "object"}}]}}}"#,
    )
    .unwrap();
    let policy = Policy::default();
    let recipe = "together:\n  mail: mail.list_messages {\"of\":\"me\"}\nthen:\n  say: what came, from {mail.messages}\n";
    let here = compile(recipe, &Options::new(&catalog, &policy));
    let there = std::thread::scope(|scope| {
        let small = std::thread::Builder::new().stack_size(SMALL);
        let thread = small.spawn_scoped(scope, || compile(recipe, &Options::new(&catalog, &policy))).unwrap();
        thread.join().unwrap()
    });
    assert_eq!(there.diagnostics, here.diagnostics);
    assert_eq!(there.plan.unwrap().to_json(), here.plan.unwrap().to_json());
}
