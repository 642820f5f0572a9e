//! The one namespace of inputs, steps and blocks.

use std::collections::HashMap;

use crate::characters::shown;
use crate::diagnostic::{Finding, code};
use crate::recipe::{Name, Recipe};
use crate::source::Place;

/// What a name names; indices into the recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Input(usize),
    Step(usize),
    Block(usize),
}

/// All names of a recipe.
#[derive(Debug)]
pub(super) struct Names<'r> {
    by_name: HashMap<&'r str, (Named, Place)>,
    /// What can be read, in typed order, and where it stands.
    readable: Vec<(&'r str, Place)>,
    /// Steps whose name is another's.
    pub(super) twice: Vec<usize>,
}

impl<'r> Names<'r> {
    /// Collects the names. The one that stands first keeps its name; every other is a finding.
    pub(super) fn of(recipe: &'r Recipe) -> (Names<'r>, Vec<Finding>) {
        let mut all: Vec<(&Name, Named)> = Vec::new();
        all.extend(recipe.inputs.iter().enumerate().map(|(i, input)| (&input.name, Named::Input(i))));
        let blocks = recipe.blocks.iter().enumerate();
        all.extend(blocks.filter_map(|(i, block)| Some((block.name.as_ref()?, Named::Block(i)))));
        let items = recipe.items.iter().enumerate();
        all.extend(items.filter_map(|(i, item)| Some((item.name.as_ref()?, Named::Step(i)))));
        all.sort_by_key(|(name, _)| name.place);

        let mut names =
            Names { by_name: HashMap::with_capacity(all.len()), readable: Vec::new(), twice: Vec::new() };
        let mut findings = Vec::new();
        for (name, named) in all {
            if let Some((first, place)) = names.by_name.get(name.text.as_str()) {
                findings.push(
                    Finding::error(code::NAME_TWICE, format!("the name {} stands twice", shown(&name.text)))
                        .at(name.place, format!("{} of this name", what(named)))
                        .at(*place, format!("{} of this name", what(*first)))
                        .help("inputs, steps and blocks share their names; give one of them another"),
                );
                if let Named::Step(index) = named {
                    names.twice.push(index);
                }
                continue;
            }
            names.by_name.insert(&name.text, (named, name.place));
            if !matches!(named, Named::Block(_)) {
                names.readable.push((&name.text, name.place));
            }
        }
        (names, findings)
    }

    pub(super) fn find(&self, name: &str) -> Option<(Named, Place)> {
        self.by_name.get(name).copied()
    }

    /// A name that nothing has, for a step that has none.
    pub(super) fn unused(&self, index: usize) -> String {
        let mut name = format!("_{index}");
        while self.by_name.contains_key(name.as_str()) {
            name.insert(0, '_');
        }
        name
    }

    /// Inputs and steps that stand above a place, in typed order.
    pub(super) fn above(&self, place: Place) -> impl Iterator<Item = &'r str> {
        let count = self.readable.partition_point(|(_, at)| at.start < place.start);
        self.readable.iter().take(count).map(|(name, _)| *name)
    }
}

fn what(named: Named) -> &'static str {
    match named {
        Named::Input(_) => "an input",
        Named::Step(_) => "a step",
        Named::Block(_) => "a block",
    }
}
