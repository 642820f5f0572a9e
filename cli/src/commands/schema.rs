//! `plangate schema`: the JSON Schema of `actions.json`.

use crate::context::Context;
use crate::exit::Exit;

/// Prints it; it is JSON anyway.
pub(crate) fn schema(context: &Context) -> Exit {
    context.output.say(&format!("{}\n", plangate_graph::json::schema()));
    Exit::Done
}
