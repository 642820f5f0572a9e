//! Demo servers: a calendar, a mailbox and a chat, as real MCP servers over standard input and output.
//!
//! They take as long as the real ones do, hold a morning's worth of data, and do nothing outside of this machine. The
//! one thing that they do where it can be seen is a post to the chat: it is a line in a file.

mod calendar;
mod mail;
mod server;
mod slack;
mod transport;

use std::time::Duration;

use plangate_graph::Value;

/// The names that [`serve`] knows.
pub(crate) const NAMES: [&str; 3] = ["google-calendar", "gmail", "slack"];

/// Why a demo server did not run to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DemoError {
    /// No demo server has this name.
    #[error("no demo server {0:?}; there are {names}", names = NAMES.join(", "))]
    Unknown(String),
    /// What this program holds for it is not what it must be.
    #[error("the data of this demo server: {0}")]
    Data(String),
    /// The system refused.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The client did not speak as MCP says.
    #[error("{0}")]
    Protocol(String),
}

/// Serves one of [`NAMES`] on standard input and output, until the input ends.
pub(crate) fn serve(name: &str) -> Result<(), DemoError> {
    let service: Box<dyn Service> = match name {
        "google-calendar" => Box::new(calendar::Calendar::new()?),
        "gmail" => Box::new(mail::Mail::new()?),
        "slack" => Box::new(slack::Slack::new()?),
        other => return Err(DemoError::Unknown(other.to_owned())),
    };
    let tools = serde_json::from_str(service.tools()).map_err(|e| DemoError::Data(e.to_string()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(server::run(server::Server { name: name.to_owned(), service, tools }));
    // A read of standard input cannot be called back; nothing waits for it any more.
    runtime.shutdown_background();
    served
}

/// What a demo server does.
trait Service: Send + Sync {
    /// Its tools: a JSON list of MCP definitions.
    fn tools(&self) -> &'static str;
    /// How long a tool takes.
    fn takes(&self, tool: &str) -> Duration;
    /// Does what a tool does.
    fn call(&self, tool: &str, arguments: &Arguments) -> Result<Value, Refusal>;
}

/// Why a tool did not do it.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    /// There is no such tool.
    NoTool,
    /// The arguments are wrong.
    Arguments(String),
    /// It tried, and failed.
    Failed(String),
}

/// The arguments of a call, and their bytes as they came.
#[derive(Debug)]
struct Arguments {
    raw: String,
    value: Value,
}

impl Arguments {
    fn new(raw: &str) -> Result<Arguments, Refusal> {
        let value = Value::parse(raw).map_err(|e| Refusal::Arguments(e.to_string()))?;
        match value {
            Value::Object(_) => Ok(Arguments { raw: raw.to_owned(), value }),
            other => Err(Refusal::Arguments(format!("expected an object, not {}", other.kind()))),
        }
    }

    /// A text that must be there.
    fn text(&self, name: &str) -> Result<&str, Refusal> {
        self.optional_text(name)?.ok_or_else(|| Refusal::Arguments(format!("{name} is missing")))
    }

    fn optional_text(&self, name: &str) -> Result<Option<&str>, Refusal> {
        match self.value.member(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(other) => Err(Refusal::Arguments(format!("{name} must be text, not {}", other.kind()))),
        }
    }

    /// A count, and how many that is where it is not given.
    fn count(&self, name: &str, otherwise: usize) -> Result<usize, Refusal> {
        match self.value.member(name) {
            None | Some(Value::Null) => Ok(otherwise),
            Some(Value::Number(n)) => n
                .as_str()
                .parse()
                .map_err(|_| Refusal::Arguments(format!("{name} must be a whole number, not {n}"))),
            Some(other) => Err(Refusal::Arguments(format!("{name} must be a number, not {}", other.kind()))),
        }
    }

    fn texts(&self, name: &str) -> Result<Vec<&str>, Refusal> {
        let wrong = || Refusal::Arguments(format!("{name} must be a list of texts"));
        match self.value.member(name) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::List(items)) => items.iter().map(|item| item.text().ok_or_else(wrong)).collect(),
            Some(_) => Err(wrong()),
        }
    }
}

/// The list that a server's data hold under this name.
fn data(json: &str, name: &str) -> Result<Vec<Value>, DemoError> {
    let value = Value::parse(json).map_err(|e| DemoError::Data(e.to_string()))?;
    match value.member(name) {
        Some(Value::List(items)) => Ok(items.clone()),
        _ => Err(DemoError::Data(format!("no list {name}"))),
    }
}

/// An object of these members, whose names are known to differ.
fn object(members: Vec<(&str, Value)>) -> Value {
    let members = members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    Value::Object(plangate_graph::value::Object::new(members).unwrap_or_default())
}

fn count(n: usize) -> Value {
    Value::from(n as u64)
}

/// Whether any text of these members holds the words, whatever their case.
fn mentions(value: &Value, members: &[&str], words: &str) -> bool {
    let words = words.to_lowercase();
    let texts = members.iter().filter_map(|member| value.member(member).and_then(Value::text));
    texts.into_iter().any(|text| text.to_lowercase().contains(&words))
}

fn text_of<'v>(value: &'v Value, member: &str) -> &'v str {
    value.member(member).and_then(Value::text).unwrap_or_default()
}
