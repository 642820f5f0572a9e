//! Reads the fields of one server.

use std::path::Path;

use plangate_graph::Value;
use plangate_graph::value::Object;

use super::variables::Unexpanded;
use super::{Config, ConfigError, Program, Reach, ServerConfig, origin};

/// One server's fields, being read.
pub(super) struct Fields<'a> {
    pub(super) config: &'a Config,
    pub(super) server: &'a str,
    pub(super) value: &'a Value,
}

impl Fields<'_> {
    pub(super) fn read(&self) -> Result<ServerConfig, ConfigError> {
        if !matches!(self.value, Value::Object(_)) {
            return Err(self.shape("itself", "an object with `command` or `url`"));
        }
        let kind = self.text("type")?;
        match (self.text("command")?, self.text("url")?) {
            (Some(_), Some(_)) => Err(self.shape("url", "`command` or `url`, not both")),
            (None, None) => Err(self.shape("command", "a program to start (or `url`)")),
            (Some(_), None) if kind.is_some_and(|kind| kind != "stdio") => {
                Err(self.shape("type", "\"stdio\" beside `command`"))
            }
            (Some(command), None) => self.program(command),
            (None, Some(url)) => Ok(ServerConfig {
                name: self.server.to_owned(),
                origin: origin::masked_url(url),
                reach: Reach::Http,
            }),
        }
    }

    fn program(&self, command: &str) -> Result<ServerConfig, ConfigError> {
        let mut args = Vec::new();
        let mut shown = Vec::new();
        match self.value.member("args") {
            None | Some(Value::Null) => {}
            Some(Value::List(items)) => {
                for (i, item) in items.iter().enumerate() {
                    let field = format!("args[{i}]");
                    let text = item.text().ok_or_else(|| self.shape(&field, "text"))?;
                    args.push(self.expand(&field, text)?);
                    shown.push(text);
                }
            }
            Some(_) => return Err(self.shape("args", "a list of texts")),
        }
        let mut env = Vec::new();
        for (name, value) in self.object("env")?.iter().flat_map(|o| o.iter()) {
            let field = format!("env.{name}");
            if name.is_empty() || name.contains(['=', '\0']) {
                return Err(self.shape(&field, "a variable's name"));
            }
            let text = value.text().ok_or_else(|| self.shape(&field, "text"))?;
            env.push((name.to_owned(), self.expand(&field, text)?));
        }
        let cwd = match self.text("cwd")? {
            Some(text) => Some(self.folder().join(self.expand("cwd", text)?)),
            None => None,
        };
        let program = self.expand("command", command)?;
        if program.is_empty() {
            return Err(self.shape("command", "a program to start"));
        }
        // With a folder of its own, a relative program would be looked for in one folder or the other by platform.
        let program = match &cwd {
            Some(cwd) if program.contains('/') => cwd.join(program).into_os_string(),
            _ => program.into(),
        };
        Ok(ServerConfig {
            name: self.server.to_owned(),
            origin: origin::command_line(command, shown),
            reach: Reach::Stdio(Program { command: program, args, env, cwd }),
        })
    }

    /// Where a relative `cwd` starts: the folder of the configuration.
    fn folder(&self) -> &Path {
        self.config.path.parent().unwrap_or(Path::new(""))
    }

    fn text(&self, field: &str) -> Result<Option<&str>, ConfigError> {
        match self.value.member(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(_) => Err(self.shape(field, "text")),
        }
    }

    fn object(&self, field: &str) -> Result<Option<&Object>, ConfigError> {
        match self.value.member(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Object(o)) => Ok(Some(o)),
            Some(_) => Err(self.shape(field, "an object of texts")),
        }
    }

    fn expand(&self, field: &str, text: &str) -> Result<String, ConfigError> {
        let (path, server, field) = (self.config.path.clone(), self.server.to_owned(), field.to_owned());
        let expanded = self.config.variables.expand(text).map_err(|e| match e {
            Unexpanded::Unset(variable) => ConfigError::Unset {
                path: path.clone(),
                server: server.clone(),
                field: field.clone(),
                variable,
            },
            Unexpanded::Malformed(text) => ConfigError::NoVariable {
                path: path.clone(),
                server: server.clone(),
                field: field.clone(),
                text,
            },
        })?;
        if expanded.contains('\0') {
            return Err(ConfigError::Shape { path, server, field, expected: "text without a NUL character" });
        }
        Ok(expanded)
    }

    fn shape(&self, field: &str, expected: &'static str) -> ConfigError {
        ConfigError::Shape {
            path: self.config.path.clone(),
            server: self.server.to_owned(),
            field: field.to_owned(),
            expected,
        }
    }
}
