//! What each tool of a catalog does outside, and whether it is asked, for a call whose arguments are not known.

use plangate_graph::catalog::Definition;
use plangate_graph::effect::{Classification, Evidence, classify};
use plangate_graph::policy::{Asking, AskingOf};
use plangate_graph::schema::InputSchema;
use plangate_graph::{Author, Catalog, Policy};

/// A tool, judged.
#[derive(Clone, Debug)]
pub(crate) struct Tool<'a> {
    /// Its server.
    pub(crate) server: &'a str,
    /// Its definition.
    pub(crate) definition: &'a Definition,
    /// What it does.
    pub(crate) classification: Classification,
    /// Whether it is asked.
    pub(crate) asking: Asking,
    /// What is broken in its input schema, in a sentence. Then no call of it passes.
    pub(crate) broken: Option<String>,
}

impl Tool<'_> {
    /// Whether somebody is asked; what may not be called at all counts, too.
    pub(crate) fn gated(&self) -> bool {
        !matches!(self.asking, Asking::Through(_))
    }

    /// Why it is asked or not.
    pub(crate) fn why(&self) -> &Evidence {
        match &self.asking {
            Asking::Ask(why) | Asking::Through(why) | Asking::Deny(why) => why,
        }
    }
}

/// All tools of a catalog, by server and name.
pub(crate) fn judged<'a>(catalog: &'a Catalog, policy: &Policy) -> Vec<Tool<'a>> {
    catalog.tools().map(|(server, definition)| of(server, definition, policy)).collect()
}

fn of<'a>(server: &'a str, definition: &'a Definition, policy: &Policy) -> Tool<'a> {
    let classification = classify(server, definition, None, policy);
    let call = AskingOf {
        server,
        definition,
        classification: &classification,
        args: None,
        final_args: None,
        without_asking: false,
    };
    let asking = policy.asking(&call, Author::Person);
    let broken = InputSchema::new(&definition.input_schema).err();
    Tool { server, definition, classification, asking, broken }
}
