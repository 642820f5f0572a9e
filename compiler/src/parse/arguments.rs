//! The arguments of a call: JSON over one or more lines.

use plangate_graph::value::Value;

use super::Parser;
use super::json::Builder;
use crate::diagnostic::{Finding, code};
use crate::grammar;
use crate::recipe::Arg;
use crate::source::Place;
use crate::tokens::Shape;

impl Parser<'_> {
    /// Reads an object that begins at the start of `from`. Returns it, unless it cannot be read, and what follows it on its last line.
    pub(super) fn arguments(&mut self, from: Place, indent: usize) -> (Option<Arg>, Place) {
        let (value, rest) = self.json_value(from, indent, true);
        match value {
            Some(Arg::Object(_) | Arg::Lit(Value::Object(_))) | None => (value, rest),
            Some(_) => {
                self.report(
                    Finding::error(code::JSON_SYNTAX, "the arguments are no object")
                        .at(Place::new(from.start, rest.start), "")
                        .help("write them by name: `{\"name\": …}`"),
                );
                (None, rest)
            }
        }
    }

    /// Reads a JSON value that begins at the start of `from`. It goes on over lines that are deeper than `indent`, and
    /// over others that can only be JSON. Returns the value, unless something is wrong with it, and what follows it on its last line.
    pub(super) fn json_value(
        &mut self,
        from: Place,
        indent: usize,
        references: bool,
    ) -> (Option<Arg>, Place) {
        let mut builder = Builder::new(self.source, references);
        let mut here = from;
        // Where to go on if the value is never closed: a setting that it swallowed.
        let mut retreat = None;
        loop {
            for token in grammar::json_line(self.slice(here), here.start) {
                if let Some(end) = builder.push(&token) {
                    let (value, findings, regions) = builder.finish();
                    self.findings.extend(findings);
                    self.regions.extend(regions);
                    return (value, Place::new(end, here.end));
                }
            }
            let next = self.peek().filter(|line| line.indent > indent || self.only_json(line.content));
            let Some(line) = next else { break };
            if retreat.is_none() && self.is_setting(line.content) {
                retreat = Some((self.next, builder.last()));
            }
            self.next += 1;
            here = line.content;
        }
        let last = match retreat {
            Some((next, last)) => {
                self.next = next;
                last
            }
            None => builder.last(),
        };
        self.findings.extend(builder.not_closed(last));
        (None, here.after())
    }

    /// A line that is nothing else than the inside or the end of JSON.
    fn only_json(&self, content: Place) -> bool {
        self.slice(content).starts_with(['"', '{', '}', '[', ']', ',', ':'])
    }

    fn is_setting(&self, content: Place) -> bool {
        match grammar::block_line(self.slice(content), content.start) {
            Shape::Step { name, .. } => ["timeout", "retry", "after"].contains(&self.slice(name)),
            _ => false,
        }
    }
}

/// The names of a schema's required arguments, each in backticks with its type.
pub(super) fn required(schema: &Value) -> Vec<String> {
    let Some(Value::List(names)) = schema.member("required") else { return Vec::new() };
    let properties = schema.member("properties");
    names
        .iter()
        .filter_map(Value::text)
        .map(|name| {
            let kind = properties.and_then(|p| p.member(name)).and_then(|p| p.member("type"));
            match kind.and_then(Value::text) {
                Some(kind) => format!("`{name}` ({kind})"),
                None => format!("`{name}`"),
            }
        })
        .collect()
}
