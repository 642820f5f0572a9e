//! What the tools are: the definitions of each server, as its `tools/list` gave them.

use std::collections::BTreeMap;

use crate::digest::Digest;
use crate::value::{Object, Value, ValueError};

/// The tools of all servers, by server name and tool name.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Catalog {
    servers: BTreeMap<String, Server>,
}

/// One server of a catalog.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Server {
    tools: BTreeMap<String, Definition>,
    /// What the server is: command line or URL, without secrets. Kept for people; part of no digest of a definition.
    pub origin: Option<String>,
    /// It has, or may have, more tools than are listed here: it was not started, or this is the part that a plan uses.
    /// That a tool is missing then says nothing.
    pub partial: bool,
}

/// One tool's definition. Its digest covers the server's name and all of these fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The name that the server gives it.
    pub name: String,
    /// What it says of itself; may be empty.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// MCP annotations: an object, or null where there are none.
    pub annotations: Value,
}

/// Why a saved catalog cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// Not JSON that plangate takes.
    #[error(transparent)]
    Json(#[from] ValueError),
    /// JSON of another shape. `at` is the place, `expected` what should stand there.
    #[error("{at}: expected {expected}")]
    Shape {
        /// The place, for instance `servers.gmail.tools[3]`.
        at: String,
        /// What should stand there.
        expected: &'static str,
    },
    /// One server lists the same tool twice.
    #[error("server {server:?} lists the tool {tool:?} twice")]
    Twice {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
}

impl Catalog {
    /// A catalog without servers.
    pub fn new() -> Catalog {
        Catalog::default()
    }

    /// Reads `{"servers": {NAME: {"tools": [MCP tool definitions]}}}`; a server that has more tools than it lists says
    /// `"partial": true` beside them. Fields of a definition that plangate does not use are passed over.
    pub fn from_json(text: &str) -> Result<Catalog, CatalogError> {
        let value = Value::parse(text)?;
        let Some(Value::Object(servers)) = value.member("servers") else {
            return Err(CatalogError::Shape {
                at: "servers".into(),
                expected: "an object of servers by name",
            });
        };
        let mut catalog = Catalog::new();
        for (name, server) in servers.iter() {
            let at = format!("servers.{name}");
            let Some(Value::List(tools)) = server.member("tools") else {
                return Err(CatalogError::Shape {
                    at: format!("{at}.tools"),
                    expected: "a list of tool definitions",
                });
            };
            let partial = match server.member("partial") {
                None => false,
                Some(Value::Bool(partial)) => *partial,
                Some(_) => {
                    return Err(CatalogError::Shape {
                        at: format!("{at}.partial"),
                        expected: "true or false",
                    });
                }
            };
            let origin = server.member("origin").and_then(Value::text).map(str::to_owned);
            catalog.servers.insert(name.to_owned(), Server { tools: BTreeMap::new(), origin, partial });
            for (i, tool) in tools.iter().enumerate() {
                catalog.insert(name, Definition::from_json(tool, &format!("{at}.tools[{i}]"))?)?;
            }
        }
        Ok(catalog)
    }

    /// Writes what [`from_json`](Catalog::from_json) reads: canonical JSON, servers and tools by name.
    pub fn to_json(&self) -> String {
        let servers = self.servers.iter().map(|(name, server)| {
            let mut members = Vec::new();
            if let Some(origin) = &server.origin {
                members.push(("origin".to_owned(), Value::from(origin.as_str())));
            }
            if server.partial {
                members.push(("partial".to_owned(), Value::Bool(true)));
            }
            members.push((
                "tools".to_owned(),
                Value::List(server.tools.values().map(Definition::to_json).collect()),
            ));
            (name.clone(), object(members))
        });
        object(vec![("servers".to_owned(), object(servers.collect()))]).to_string()
    }

    /// Adds a tool to a server; the server need not be there yet.
    pub fn insert(&mut self, server: &str, definition: Definition) -> Result<(), CatalogError> {
        let tools = &mut self.servers.entry(server.to_owned()).or_default().tools;
        if tools.contains_key(&definition.name) {
            return Err(CatalogError::Twice { server: server.to_owned(), tool: definition.name });
        }
        tools.insert(definition.name.clone(), definition);
        Ok(())
    }

    /// Adds a server without tools, or says what an existing one is.
    pub fn insert_server(&mut self, server: &str, origin: Option<String>) {
        self.servers.entry(server.to_owned()).or_default().origin = origin;
    }

    /// Says that a server has more tools than are listed here. One that is not there is added, by its name alone.
    pub fn leave_open(&mut self, server: &str) {
        self.servers.entry(server.to_owned()).or_default().partial = true;
    }

    /// A server by name.
    pub fn server(&self, name: &str) -> Option<&Server> {
        self.servers.get(name)
    }

    /// A definition by server and tool.
    pub fn definition(&self, server: &str, tool: &str) -> Option<&Definition> {
        self.servers.get(server)?.tools.get(tool)
    }

    /// The digest of a definition of this catalog.
    pub fn digest(&self, server: &str, tool: &str) -> Option<Digest> {
        Some(self.definition(server, tool)?.digest(server))
    }

    /// All servers by name.
    pub fn servers(&self) -> impl Iterator<Item = (&str, &Server)> {
        self.servers.iter().map(|(name, server)| (name.as_str(), server))
    }

    /// All tools as (server, definition), by name.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &Definition)> {
        self.servers().flat_map(|(name, server)| server.tools().map(move |d| (name, d)))
    }

    /// The catalog of only these tools; what is not there is left out. A server of which not all are among them is partial.
    #[must_use]
    pub fn part<'a>(&self, tools: impl IntoIterator<Item = (&'a str, &'a str)>) -> Catalog {
        let mut part = Catalog::new();
        for (server, tool) in tools {
            if let Some(definition) = self.definition(server, tool) {
                let kept = part.servers.entry(server.to_owned()).or_default();
                kept.tools.insert(tool.to_owned(), definition.clone());
                kept.origin = self.server(server).and_then(|s| s.origin.clone());
            }
        }
        for (name, kept) in &mut part.servers {
            kept.partial =
                self.servers.get(name).is_none_or(|s| s.partial || kept.tools.len() < s.tools.len());
        }
        part
    }
}

impl Server {
    /// Its tools by name.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &Definition> {
        self.tools.values()
    }
}

impl Definition {
    /// The digest over the server's name and every field, length by length.
    pub fn digest(&self, server: &str) -> Digest {
        Digest::of_parts([
            server.as_bytes(),
            self.name.as_bytes(),
            self.description.as_bytes(),
            &self.input_schema.canonical(),
            &self.annotations.canonical(),
        ])
    }

    /// Reads one MCP tool definition; `at` is its place, for the error.
    pub fn from_json(tool: &Value, at: &str) -> Result<Definition, CatalogError> {
        let name = tool.member("name").and_then(Value::text).filter(|name| !name.is_empty());
        let name =
            name.ok_or_else(|| CatalogError::Shape { at: format!("{at}.name"), expected: "a name" })?;
        let description = match tool.member("description") {
            None | Some(Value::Null) => "",
            Some(Value::Text(text)) => text,
            Some(_) => return Err(CatalogError::Shape { at: format!("{at}.description"), expected: "text" }),
        };
        let empty = || Value::Object(Object::default());
        Ok(Definition {
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema: tool.member("inputSchema").cloned().unwrap_or_else(empty),
            annotations: tool.member("annotations").cloned().unwrap_or_default(),
        })
    }

    /// The MCP tool definition.
    pub fn to_json(&self) -> Value {
        let mut members = vec![
            ("name".to_owned(), Value::from(self.name.as_str())),
            ("inputSchema".to_owned(), self.input_schema.clone()),
        ];
        if !self.description.is_empty() {
            members.push(("description".to_owned(), Value::from(self.description.as_str())));
        }
        if self.annotations != Value::Null {
            members.push(("annotations".to_owned(), self.annotations.clone()));
        }
        object(members)
    }
}

/// An object whose keys are known to differ.
fn object(members: Vec<(String, Value)>) -> Value {
    Value::Object(Object::new(members).unwrap_or_default())
}
