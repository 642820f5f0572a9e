//! `[[webhook]]`: who is told what happens.

use plangate_approval::event::Kind;
use plangate_notify::Address;

use super::keys::Table;
use crate::fault::Fault;
use crate::nearest::nearest;

/// One webhook, as the settings have it: the secret itself stands in the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebhookChoice {
    /// `url`
    pub(crate) address: Address,
    /// `secret_env`: the variable with the secret.
    pub(crate) secret_env: String,
    /// `events`: the kinds that it is told of.
    pub(crate) events: Vec<Kind>,
}

impl WebhookChoice {
    /// All of them. Two with one URL would be one webhook twice.
    pub(super) fn all(tables: Vec<Table<'_>>) -> Result<Vec<WebhookChoice>, Fault> {
        let mut choices: Vec<WebhookChoice> = Vec::new();
        for table in tables {
            let choice = WebhookChoice::from_table(table, &choices)?;
            choices.push(choice);
        }
        Ok(choices)
    }

    fn from_table(mut table: Table<'_>, before: &[WebhookChoice]) -> Result<WebhookChoice, Fault> {
        let (url, secret_env, events) =
            (table.text("url")?, table.text("secret_env")?, table.texts("events")?);
        table.finish()?;
        let url = url.ok_or_else(|| table.wrong("url", "where it goes: url = \"https://host/path\""))?;
        let address: Address = url.parse().map_err(|e| table.wrong("url", &format!("another URL: {e}")))?;
        if before.iter().any(|other| other.address == address) {
            return Err(table.wrong("url", "each URL once"));
        }
        let secret_env = secret_env.ok_or_else(|| {
            table.wrong("secret_env", "the variable with the secret that messages are signed with")
        })?;
        let names = || Kind::ALL.map(Kind::as_str);
        let events = events.filter(|events| !events.is_empty()).ok_or_else(|| {
            table.wrong("events", &format!("the kinds of events that are told, of: {}", names().join(", ")))
        })?;
        let events = events.iter().map(|name| {
            Kind::named(name).ok_or_else(|| {
                let meant =
                    nearest(name, names()).map(|m| format!("did you mean {m:?}? ")).unwrap_or_default();
                let wanted = format!(
                    "kinds of events, and {name:?} is none. {meant}There are: {}",
                    names().join(", ")
                );
                table.wrong("events", &wanted)
            })
        });
        Ok(WebhookChoice { address, secret_env, events: events.collect::<Result<_, _>>()? })
    }
}
