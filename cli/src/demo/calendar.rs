//! The demo calendar.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use plangate_graph::Value;

use super::{Arguments, DemoError, Refusal, Service, count, data, mentions, object, text_of};

const DATA: &str = include_str!("google-calendar.json");

/// A calendar of one day. New events live as long as the server.
pub(super) struct Calendar {
    events: Mutex<Vec<Value>>,
    calendars: Vec<Value>,
}

impl Calendar {
    pub(super) fn new() -> Result<Calendar, DemoError> {
        Ok(Calendar { events: Mutex::new(data(DATA, "events")?), calendars: data(DATA, "calendars")? })
    }

    fn known(&self, calendar: &str) -> Result<(), Refusal> {
        if self.calendars.iter().any(|c| text_of(c, "id") == calendar) {
            return Ok(());
        }
        Err(Refusal::Failed(format!("no calendar {calendar:?}")))
    }

    fn list(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        self.known(arguments.text("calendarId")?)?;
        let (from, until) = (arguments.optional_text("timeMin")?, arguments.optional_text("timeMax")?);
        let query = arguments.optional_text("query")?;
        let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let found: Vec<_> = events
            .iter()
            .filter(|event| from.is_none_or(|from| text_of(event, "end") > from))
            .filter(|event| until.is_none_or(|until| text_of(event, "start") < until))
            .filter(|event| query.is_none_or(|query| mentions(event, &["summary", "location"], query)))
            .cloned()
            .collect();
        let total = count(found.len());
        Ok(object(vec![("events", Value::List(found)), ("totalCount", total)]))
    }

    fn create(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        self.known(arguments.text("calendarId")?)?;
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let event = object(vec![
            ("id", Value::from(format!("evt-{}", events.len() + 1))),
            ("summary", arguments.text("summary")?.into()),
            ("start", arguments.text("start")?.into()),
            ("end", arguments.text("end")?.into()),
        ]);
        events.push(event.clone());
        Ok(event)
    }
}

impl Service for Calendar {
    fn tools(&self) -> &'static str {
        include_str!("google-calendar.tools.json")
    }

    fn takes(&self, tool: &str) -> Duration {
        Duration::from_millis(match tool {
            "list-events" => 412,
            "list-calendars" => 180,
            _ => 300,
        })
    }

    fn call(&self, tool: &str, arguments: &Arguments) -> Result<Value, Refusal> {
        match tool {
            "list-events" => self.list(arguments),
            "list-calendars" => Ok(object(vec![("calendars", Value::List(self.calendars.clone()))])),
            "create-event" => self.create(arguments),
            _ => Err(Refusal::NoTool),
        }
    }
}
