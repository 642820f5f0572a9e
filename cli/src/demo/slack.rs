//! The demo chat, whose posts land in a file.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use plangate_graph::Value;

use super::{Arguments, DemoError, Refusal, Service, count, data, mentions, object, text_of};

/// The variable that says in which file posts land.
const FILE_VARIABLE: &str = "PLANGATE_DEMO_SLACK_FILE";

/// The file where it is not set, in the folder where the server was started.
const DEFAULT_FILE: &str = ".plangate/demo-slack.jsonl";

/// How many matches are listed where nobody says.
const LISTED: usize = 20;

/// A chat. A post is one line in a file: the `arguments` of the call, byte for byte as they came.
pub(super) struct Slack {
    file: PathBuf,
    /// Held while a line is written; how many were.
    posts: Mutex<u64>,
    messages: Vec<Value>,
    channels: Vec<Value>,
}

impl Slack {
    pub(super) fn new() -> Result<Slack, DemoError> {
        let set = std::env::var_os(FILE_VARIABLE).filter(|file| !file.is_empty());
        Slack::with_file(set.map_or_else(|| DEFAULT_FILE.into(), PathBuf::from))
    }

    fn with_file(file: PathBuf) -> Result<Slack, DemoError> {
        let json = include_str!("slack.json");
        let (messages, channels) = (data(json, "messages")?, data(json, "channels")?);
        Ok(Slack { file, posts: Mutex::new(0), messages, channels })
    }

    fn search(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let query = arguments.text("query")?;
        let most = arguments.count("count", LISTED)?;
        let found: Vec<_> = self.messages.iter().filter(|message| matches(message, query)).cloned().collect();
        let total = count(found.len());
        let matches = Value::List(found.into_iter().take(most).collect());
        Ok(object(vec![
            ("ok", true.into()),
            ("query", query.into()),
            ("messages", object(vec![("matches", matches), ("total", total)])),
        ]))
    }

    fn post(&self, arguments: &Arguments) -> Result<Value, Refusal> {
        let channel = arguments.text("channel")?;
        arguments.text("text")?;
        let archived = |c: &&Value| c.member("is_archived") == Some(&true.into());
        let name = channel.trim_start_matches('#');
        if self.channels.iter().filter(archived).any(|c| text_of(c, "name") == name) {
            return Err(Refusal::Failed(format!("is_archived: {channel} takes no messages")));
        }
        let mut posts = self.posts.lock().unwrap_or_else(PoisonError::into_inner);
        append(&self.file, &arguments.raw)
            .map_err(|e| Refusal::Failed(format!("cannot write {}: {e}", self.file.display())))?;
        *posts += 1;
        let ts = format!("1796112000.{:06}", *posts);
        Ok(object(vec![("ok", true.into()), ("channel", channel.into()), ("ts", ts.into())]))
    }
}

/// All words of a query, as the chat has them: `mentions:me`, `in:#channel`, or words of the text.
fn matches(message: &Value, query: &str) -> bool {
    query.split_whitespace().all(|word| match word.split_once(':') {
        Some(("mentions", "me")) => text_of(message, "text").contains("@you"),
        Some(("in", channel)) => text_of(message, "channel") == channel.trim_start_matches('#'),
        _ => mentions(message, &["text", "username"], word),
    })
}

/// Appends a line and sees it on the disk.
fn append(file: &Path, line: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)?;
    }
    let mut file: File = OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync_data()
}

impl Service for Slack {
    fn tools(&self) -> &'static str {
        include_str!("slack.tools.json")
    }

    fn takes(&self, tool: &str) -> Duration {
        Duration::from_millis(match tool {
            "slack_search_messages" => 83,
            "slack_list_channels" => 60,
            _ => 140,
        })
    }

    fn call(&self, tool: &str, arguments: &Arguments) -> Result<Value, Refusal> {
        match tool {
            "slack_search_messages" => self.search(arguments),
            "slack_list_channels" => {
                Ok(object(vec![("ok", true.into()), ("channels", Value::List(self.channels.clone()))]))
            }
            "slack_post_message" => self.post(arguments),
            _ => Err(Refusal::NoTool),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    #[test]
    fn a_post_is_a_line_of_the_bytes_as_they_came() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("deep/posts.jsonl");
        let slack = Slack::with_file(file.clone()).unwrap();
        let raws =
            [r##"{"channel":"#daily","text":"1.10 å \u0041","n":1e2}"##, r#"{ "text":"x","channel":"any"}"#];
        for raw in raws {
            slack.call("slack_post_message", &Arguments::new(raw).unwrap()).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{}\n{}\n", raws[0], raws[1]));
        let refused = |raw| slack.call("slack_post_message", &Arguments::new(raw).unwrap()).unwrap_err();
        let archived = Refusal::Failed("is_archived: #launch-2025 takes no messages".into());
        assert_eq!(refused(r##"{"channel":"#launch-2025","text":"x"}"##), archived);
        assert_eq!(refused(r#"{"channel":"daily"}"#), Refusal::Arguments("text is missing".into()));
        assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 2);
    }

    #[test]
    fn searching() {
        let slack = Slack::with_file(PathBuf::new()).unwrap();
        let total = |query: &str| {
            let raw = format!(r#"{{"query":"{query}","count":1}}"#);
            let found = slack.call("slack_search_messages", &Arguments::new(&raw).unwrap()).unwrap();
            let messages = found.member("messages").unwrap();
            let Some(Value::List(listed)) = messages.member("matches") else { return None };
            assert!(listed.len() <= 1);
            messages.member("total").map(ToString::to_string)
        };
        assert_eq!(total("mentions:me").as_deref(), Some("3"));
        assert_eq!(total("in:#releases mentions:me").as_deref(), Some("1"));
        assert_eq!(total("nothing of the kind").as_deref(), Some("0"));
    }
}
