//! `plangate approve ID --edit`: other arguments for a call that waits, held against schema and policy first.

use plangate_approval::{Row, SqliteStore};
use plangate_executor::{EditError, Present};
use plangate_graph::Value;
use plangate_graph::card::visible::visible;
use serde::Serialize;

use crate::context::Context;
use crate::engine;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::project::Project;
use crate::store::{self, short};
use crate::view::RowView;
use crate::who::myself;

/// Edits what was shown. `typed` is a JSON object, or `@` and the name of a file with one in it.
pub(super) fn edit(
    row: &Row,
    typed: &str,
    note: Option<&str>,
    store: &SqliteStore,
    project: &Project,
) -> Result<Row, Fault> {
    let args = arguments(typed)?;
    let run = store::run(store, &row.run)?;
    let (_, catalog) = engine::documents(store, &run)?;
    let present = Present { catalog, policy: project.config.policy.clone() };
    let by = myself(&project.config.policy);
    plangate_executor::edit(store, &row.id, row.digest, &by, &args, note, Some(&present)).map_err(|e| match e
    {
        EditError::Store(e) => store::fault(&e),
        EditError::Refused(why) => Fault::new(Exit::Refused, "edit", format!("not edited: {why}"))
            .help(format!("it waits as it did: `plangate show {}`", short(&row.id.0))),
        EditError::Run(e) => Fault::new(Exit::Unusable, "store", e.to_string()),
    })
}

/// The edit stands, and its editor may not decide it.
pub(super) fn only_edited(row: &Row, why: &str, context: &Context) -> Result<Exit, Fault> {
    #[derive(Serialize)]
    struct Only {
        approval: RowView,
        not_decided: String,
    }
    if context.output.is_json() {
        context.output.say_json(&Only { approval: RowView::of(row), not_decided: why.to_owned() })?;
    } else {
        context.output.say(&format!("it waits for others: {}\n", visible(why)));
    }
    Ok(Exit::Parked)
}

fn arguments(typed: &str) -> Result<Value, Fault> {
    let (text, place) = match typed.strip_prefix('@') {
        None => (typed.to_owned(), "--edit"),
        Some(file) => {
            let read = std::fs::read_to_string(file).map_err(|e| {
                Fault::new(Exit::NotFound, "edit", format!("the file of --edit cannot be read: {e}")).at(file)
            })?;
            (read, file)
        }
    };
    let wrong = |why: String| {
        Fault::new(Exit::Usage, "edit", format!("the arguments of --edit {why}")).at(place).help(
            "all of them, as one JSON object: --edit '{\"channel\":\"#ops\"}'; --edit @FILE reads a file",
        )
    };
    match Value::parse(text.trim()) {
        Ok(args @ Value::Object(_)) => Ok(args),
        Ok(other) => Err(wrong(format!("are {}, not an object", other.kind()))),
        Err(e) => Err(wrong(format!("are no JSON: {e}"))),
    }
}
