//! Which tools see each other's effects.

use super::typed::Typed;
use crate::policy::Policy;

/// The world of each tool that is called, as a number: all that edges depend on in the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Worlds {
    of_tool: Vec<usize>,
    count: usize,
}

impl Worlds {
    /// As the policy has them.
    pub(crate) fn of(typed: &Typed, policy: &Policy) -> Worlds {
        let of_tool: Vec<&str> = typed.tools_called().map(|(server, _)| policy.world(server)).collect();
        let mut names = of_tool.clone();
        names.sort_unstable();
        names.dedup();
        let number = |name: &str| names.binary_search(&name).unwrap_or(0);
        // Sentences belong to no world and are waited for in every one.
        Worlds { of_tool: of_tool.into_iter().map(number).collect(), count: names.len().max(1) }
    }

    /// All in one, as where a policy says nothing.
    pub(super) fn one(typed: &Typed) -> Worlds {
        Worlds { of_tool: vec![0; typed.tools_called().count()], count: 1 }
    }

    /// The world of a tool.
    pub(super) fn of_tool(&self, tool: usize) -> usize {
        self.of_tool.get(tool).copied().unwrap_or(0)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }
}
