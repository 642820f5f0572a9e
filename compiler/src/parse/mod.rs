//! From text to [`Recipe`]: lines are put together to blocks and steps. Never fails; says everything that is wrong.

mod arguments;
mod blocks;
mod checks;
mod headers;
mod inputs;
mod json;
mod lines;
mod settings;
mod steps;
mod text;

use plangate_graph::Catalog;
use plangate_graph::lower::is_name;

use crate::characters::{Region, clean_name, shown, sweep};
use crate::diagnostic::{Finding, code};
use crate::grammar;
use crate::recipe::{Name, Recipe};
use crate::source::{Place, Source};
use blocks::Open;
use lines::Line;

/// Words that begin a setting and therefore name no step.
const RESERVED: [&str; 4] = ["need", "timeout", "retry", "after"];

/// Parses. Linear in the text. The catalog says which first words are calls.
pub(crate) fn parse(source: &Source<'_>, catalog: &Catalog) -> (Recipe, Vec<Finding>) {
    let (lines, regions) = lines::lines(source);
    let mut parser = Parser {
        source,
        catalog,
        lines,
        next: 0,
        open: None,
        inputs_at: None,
        recipe: Recipe::default(),
        findings: Vec::new(),
        regions,
    };
    while let Some(line) = parser.take() {
        if line.indent == 0 {
            parser.margin_line(line);
        } else {
            parser.block_line(line);
        }
    }
    parser.close_block();
    parser.whole();
    parser.regions.sort_by_key(|region| region.place);
    parser.findings.extend(sweep(source, &parser.regions));
    parser.recipe.broken = parser.findings.iter().any(|f| f.severity == crate::Severity::Error);
    (parser.recipe, parser.findings)
}

/// The lines not read yet, and what came of those that were.
struct Parser<'s> {
    source: &'s Source<'s>,
    catalog: &'s Catalog,
    lines: Vec<Line>,
    /// Index of the next line.
    next: usize,
    open: Option<Open>,
    /// The header of `inputs:`.
    inputs_at: Option<Place>,
    recipe: Recipe,
    findings: Vec<Finding>,
    regions: Vec<Region>,
}

impl<'s> Parser<'s> {
    fn peek(&self) -> Option<Line> {
        self.lines.get(self.next).copied()
    }

    fn take(&mut self) -> Option<Line> {
        let line = self.peek()?;
        self.next += 1;
        Some(line)
    }

    /// The next line, if it is indented deeper than this.
    fn take_deeper(&mut self, indent: usize) -> Option<Line> {
        self.peek().filter(|line| line.indent > indent)?;
        self.take()
    }

    fn slice(&self, place: Place) -> &'s str {
        self.source.slice(place)
    }

    fn report(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    fn name(&self, place: Place) -> Name {
        Name { text: clean_name(self.slice(place)), place }
    }

    /// A name, or nothing and a finding about it. What the grammar takes for a name may still be none for the graph.
    fn checked_name(&mut self, place: Place) -> Option<Name> {
        let place = self.source.trim(place);
        let name = self.name(place);
        if grammar::is_name(self.slice(place)) && is_name(&name.text) {
            return Some(name);
        }
        self.report(not_a_name(self.slice(place), place));
        None
    }

    /// Passes over what belongs to a line that could not be read.
    fn skip_deeper(&mut self, indent: usize) {
        while self.take_deeper(indent).is_some() {}
    }

    /// What is wrong with the recipe as a whole.
    fn whole(&mut self) {
        if self.recipe.items.is_empty() && self.findings.is_empty() {
            let end = Place::new(self.source.text().len(), self.source.text().len());
            let at = if self.inputs_at.is_some() { end } else { end.before() };
            self.report(
                Finding::error(code::EMPTY_RECIPE, "the recipe has no step")
                    .at(at, "nothing to run")
                    .help("write a block with a step: `then:` and below it, indented, `name: server.tool {…}` or `name: a sentence`"),
            );
        }
    }
}

fn not_a_name(text: &str, place: Place) -> Finding {
    let name = Finding::error(code::NOT_A_NAME, format!("{} is not a name", shown(text)))
        .at(place, "a name stands here")
        .help("a name begins with a letter or `_` and goes on with letters, digits, `_` and `-`");
    let better: String = text
        .trim()
        .chars()
        .map(|c| if c.is_whitespace() { '-' } else { c })
        .filter(|c| !matches!(c, '"' | '\'' | '`' | '*'))
        .collect();
    if better != text && grammar::is_name(&better) { name.fix(place, better) } else { name }
}
