//! The demo mailbox.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use plangate_graph::Value;

use super::{Arguments, DemoError, Refusal, Service, count, data, mentions, object, text_of};

/// How many messages are listed where nobody says.
const LISTED: usize = 100;

/// A mailbox. What is sent lies in it, and goes nowhere.
pub(super) struct Mail {
    messages: Mutex<Vec<Value>>,
}

impl Mail {
    pub(super) fn new() -> Result<Mail, DemoError> {
        Ok(Mail { messages: Mutex::new(data(include_str!("gmail.json"), "messages")?) })
    }

    fn messages(&self) -> std::sync::MutexGuard<'_, Vec<Value>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn list(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let labels = arguments.texts("labelIds")?;
        let query = arguments.optional_text("q")?;
        let most = arguments.count("maxResults", LISTED)?;
        let messages = self.messages();
        let found: Vec<_> = messages
            .iter()
            .filter(|message| labels.iter().all(|label| has_label(message, label)))
            .filter(|message| query.is_none_or(|q| mentions(message, &["subject", "from", "snippet"], q)))
            .cloned()
            .collect();
        let total = count(found.len());
        let listed = Value::List(found.into_iter().take(most).collect());
        Ok(object(vec![("messages", listed), ("resultSizeEstimate", total)]))
    }

    fn one(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let id = arguments.text("id")?;
        let found = self.messages().iter().find(|message| text_of(message, "id") == id).cloned();
        found.ok_or_else(|| Refusal::Failed(format!("no message {id:?}")))
    }

    fn send(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let mut messages = self.messages();
        let id = format!("msg-{}", messages.len() + 1);
        messages.push(object(vec![
            ("id", Value::from(id.as_str())),
            ("to", arguments.text("to")?.into()),
            ("subject", arguments.text("subject")?.into()),
            ("snippet", arguments.text("body")?.into()),
            ("labelIds", vec![Value::from("SENT")].into()),
        ]));
        Ok(object(vec![("id", id.into()), ("labelIds", vec![Value::from("SENT")].into())]))
    }
}

fn has_label(message: &Value, label: &str) -> bool {
    match message.member("labelIds") {
        Some(Value::List(labels)) => labels.iter().any(|l| l.text() == Some(label)),
        _ => false,
    }
}

impl Service for Mail {
    fn tools(&self) -> &'static str {
        include_str!("gmail.tools.json")
    }

    fn takes(&self, tool: &str) -> Duration {
        Duration::from_millis(match tool {
            "messages_list" => 268,
            "messages_get" => 120,
            _ => 350,
        })
    }

    fn call(&self, tool: &str, arguments: &Arguments) -> Result<Value, Refusal> {
        match tool {
            "messages_list" => self.list(arguments),
            "messages_get" => self.one(arguments),
            "messages_send" => self.send(arguments),
            _ => Err(Refusal::NoTool),
        }
    }
}
