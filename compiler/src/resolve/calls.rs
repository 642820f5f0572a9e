//! Servers and tools, looked up in the catalog.

use plangate_graph::catalog::Server;

use super::Resolver;
use crate::characters::{is_hidden, shown};
use crate::diagnostic::{Finding, code};
use crate::recipe::{Call, Sentence};
use crate::source::Place;

/// No more names than this in a help.
const LISTED: usize = 8;

impl<'r> Resolver<'r> {
    /// Server and tool of a call, or nothing and a finding.
    pub(super) fn tool(&mut self, call: &Call) -> Option<(String, String)> {
        let place = call.tool;
        let written = self.source.slice(place);
        let text: String = written.chars().filter(|c| !is_hidden(*c)).collect();
        if text.contains(['{', '}']) {
            self.findings.push(
                Finding::error(code::TEMPLATE_IN_TOOL, "server and tool are never made of values")
                    .at(place, "")
                    .help("write them out: what is approved must be what is called; to choose between tools, write a `check:` for each"),
            );
            return None;
        }
        if !text.contains('.') {
            self.no_server(&text, place);
            return None;
        }
        let dots = text.rmatch_indices('.').map(|(at, _)| at);
        let known =
            dots.into_iter().find(|at| text.get(..*at).is_some_and(|s| self.catalog.server(s).is_some()));
        let at = known.or_else(|| text.find('.'))?;
        let (server, tool) = (text.get(..at)?, text.get(at + 1..)?);
        if self.catalog.definition(server, tool).is_some() {
            return Some((server.to_owned(), tool.to_owned()));
        }
        // Hidden characters move the dot; then the whole word is pointed at.
        let (server_at, tool_at) = if written == text {
            let dot = place.start + at;
            (Place::new(place.start, dot), Place::new(dot + 1, place.end))
        } else {
            (place, place)
        };
        let finding = match known {
            Some(_) => self.unknown_tool(server, tool, tool_at, call.args.is_none()),
            None => self.unknown_server(server, tool, server_at),
        };
        self.findings.push(finding);
        None
    }

    fn no_server(&mut self, tool: &str, place: Place) {
        let finding =
            Finding::error(code::NO_SERVER, format!("{} names no server", shown(tool))).at(place, "");
        let having = self.servers_having(tool);
        self.findings.push(match having.as_slice() {
            [server] => finding
                .help(format!("did you mean `{server}.{tool}`?"))
                .fix(place, format!("{server}.{tool}")),
            [] => finding
                .help("a call is written `server.tool {…}`; a sentence has no `{\"` behind its first word"),
            _ => finding.help(format!("it is a tool of {}: write `server.tool`", having.join(", "))),
        });
    }

    fn unknown_server(&mut self, server: &str, tool: &str, at: Place) -> Finding {
        let finding =
            Finding::error(code::UNKNOWN_SERVER, format!("there is no server {}", shown(server))).at(at, "");
        let near = self.suggester.nearest(server, self.catalog.servers().map(|(name, _)| name));
        if let Some(near) = near.filter(|near| self.catalog.definition(near.name, tool).is_some()) {
            let finding = finding.help(format!("did you mean `{}.{tool}`?", near.name));
            return if near.certain { finding.fix(at, near.name) } else { finding };
        }
        // Another server's tool of the same name may be another thing altogether: no fix.
        if let [only] = self.servers_having(tool).as_slice() {
            return finding.help(format!("`{only}` has such a tool: `{only}.{tool}`"));
        }
        if let Some(near) = near {
            return finding.help(format!("did you mean `{}`?", near.name));
        }
        let names: Vec<&str> = self.catalog.servers().map(|(name, _)| name).take(LISTED + 1).collect();
        finding.help(match names.as_slice() {
            [] => "the catalog has no server".to_owned(),
            _ => format!("servers are: {}", listed(&names)),
        })
    }

    fn unknown_tool(&mut self, server: &str, tool: &str, at: Place, bare: bool) -> Finding {
        let finding =
            Finding::error(code::UNKNOWN_TOOL, format!("the server `{server}` has no tool {}", shown(tool)))
                .at(at, "");
        let catalog = self.catalog;
        let names = || {
            let tools = catalog.server(server).into_iter().flat_map(Server::tools);
            tools.map(|definition| definition.name.as_str())
        };
        if let Some(near) = self.suggester.nearest(tool, names()) {
            let finding = finding.help(format!("did you mean `{server}.{}`?", near.name));
            return if near.certain { finding.fix(at, near.name) } else { finding };
        }
        let names: Vec<&str> = names().take(LISTED + 1).collect();
        let mut help = match (self.servers_having(tool).as_slice(), names.as_slice()) {
            ([other, ..], _) => format!("`{other}` has one: `{other}.{tool}`"),
            (_, []) => "it has no tools".to_owned(),
            _ => format!("its tools are: {}", listed(&names)),
        };
        if bare {
            help.push_str("; a sentence begins with a word that names no server");
        }
        finding.help(help)
    }

    /// Servers that have a tool of this name.
    fn servers_having(&mut self, tool: &str) -> Vec<&'r str> {
        let catalog = self.catalog;
        if !self.suggester.spend(catalog.servers().count()) {
            return Vec::new();
        }
        let servers = catalog.servers().map(|(name, _)| name);
        servers.filter(|server| catalog.definition(server, tool).is_some()).take(LISTED).collect()
    }

    /// A sentence that begins like a call with a slip in it.
    pub(super) fn warn_call_like(&mut self, sentence: &Sentence) {
        let Some(place) = sentence.word else { return };
        let word = self.source.slice(place);
        let Some((server, tool)) = word.split_once('.') else { return };
        if server.is_empty() || tool.is_empty() || self.catalog.server(server).is_some() {
            return;
        }
        let near = self.suggester.nearest(server, self.catalog.servers().map(|(name, _)| name));
        let near = near.map(|near| near.name).filter(|name| self.catalog.definition(name, tool).is_some());
        let meant = near.or_else(|| {
            let having = self.servers_having(tool);
            having.first().copied().filter(|_| sentence.single)
        });
        if let Some(meant) = meant {
            let finding =
                Finding::warning(code::LOOKS_LIKE_CALL, format!("{} is read as a sentence", shown(word)))
                    .at(place, "it looks like a call")
                    .help(format!("a call is written `{meant}.{tool} {{…}}`"));
            self.findings.push(finding);
        }
    }
}

fn listed(names: &[&str]) -> String {
    let some = names.get(..names.len().min(LISTED)).unwrap_or_default().join(", ");
    if names.len() > LISTED { format!("{some}, …") } else { some }
}
