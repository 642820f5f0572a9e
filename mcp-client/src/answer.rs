//! What an answer to `tools/call` says.

use plangate_graph::Value;
use serde::Deserialize;
use serde_json::value::RawValue;

/// What a tool answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolAnswer {
    /// Its value.
    Value(Value),
    /// The tool says that it failed; its words.
    Failed(String),
    /// It has not done it: it wants to be asked again with more input.
    WantsInput,
    /// It has not said how it ended: it goes on elsewhere, or the answer is of a kind that nobody here knows.
    NotEnded(String),
    /// It says that it is done, and the rest cannot be read.
    Unreadable(String),
}

/// Reads the `result` of a `tools/call`, numbers as written. The value is
/// `structuredContent` if there is one (null is none);
/// else, of a single text block, the JSON object or list that its text is, or the text;
/// else the list of content blocks as they are, empty where there is none.
pub(crate) fn tool_answer(raw: &RawValue) -> ToolAnswer {
    if !raw.get().starts_with('{') {
        return ToolAnswer::Unreadable("it is no object".to_owned());
    }
    let result: CallResult<'_> = match serde_json::from_str(raw.get()) {
        Ok(result) => result,
        Err(e) => return ToolAnswer::Unreadable(e.to_string()),
    };
    match result.kind.map(|kind| kind.get().trim_matches('"')) {
        None | Some("complete" | "null") => {}
        Some("input_required") => return ToolAnswer::WantsInput,
        Some("task") => {
            return ToolAnswer::NotEnded("it goes on as a task, which was not asked for".to_owned());
        }
        Some(other) => return ToolAnswer::NotEnded(format!("its answer is of an unknown kind, {other}")),
    }
    let content = present(result.content).map(|raw| Value::parse(raw.get()));
    if present(result.is_error).is_some_and(|is_error| is_error.get() == "true") {
        return ToolAnswer::Failed(words(content.and_then(Result::ok)));
    }
    if let Some(structured) = present(result.structured) {
        return match Value::parse(structured.get()) {
            Ok(value) => ToolAnswer::Value(value),
            Err(e) => ToolAnswer::Unreadable(e.to_string()),
        };
    }
    match content {
        None => ToolAnswer::Value(Value::List(Vec::new())),
        Some(Err(e)) => ToolAnswer::Unreadable(e.to_string()),
        Some(Ok(content)) => match single_text(&content) {
            Some(text) => ToolAnswer::Value(json_or_text(text)),
            None => ToolAnswer::Value(content),
        },
    }
}

#[derive(Deserialize)]
struct CallResult<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(rename = "structuredContent", borrow, default)]
    structured: Option<&'a RawValue>,
    #[serde(rename = "isError", borrow, default)]
    is_error: Option<&'a RawValue>,
    #[serde(rename = "resultType", borrow, default)]
    kind: Option<&'a RawValue>,
}

/// What is not null.
fn present(raw: Option<&RawValue>) -> Option<&RawValue> {
    raw.filter(|raw| raw.get() != "null")
}

fn single_text(content: &Value) -> Option<&str> {
    match content {
        Value::List(blocks) => match blocks.as_slice() {
            [block] => block_text(block),
            _ => None,
        },
        _ => None,
    }
}

fn block_text(block: &Value) -> Option<&str> {
    block.member("type").and_then(Value::text).filter(|kind| *kind == "text")?;
    block.member("text").and_then(Value::text)
}

fn json_or_text(text: &str) -> Value {
    match text.trim_start().as_bytes().first() {
        Some(b'{' | b'[') => Value::parse(text).unwrap_or_else(|_| text.into()),
        _ => text.into(),
    }
}

/// What a tool says of its failure: the text of its blocks, else the blocks.
fn words(content: Option<Value>) -> String {
    let texts = match &content {
        Some(Value::List(blocks)) => blocks.iter().filter_map(block_text).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    };
    match content {
        _ if !texts.trim().is_empty() => texts,
        Some(content) if content != Value::List(Vec::new()) => content.to_string(),
        _ => "the tool says that it failed, and not why".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    fn read(json: &str) -> ToolAnswer {
        tool_answer(&RawValue::from_string(json.to_owned()).unwrap())
    }

    fn value(json: &str) -> ToolAnswer {
        ToolAnswer::Value(Value::parse(json).unwrap())
    }

    fn block(text: &str) -> String {
        format!(r#"{{"type":"text","text":{}}}"#, serde_json::to_string(text).unwrap())
    }

    #[test]
    fn values() {
        let two = format!("[{},{}]", block("a"), block("b"));
        let image = r#"[{"type":"image","data":"x"}]"#;
        let cases = [
            (r#"{"structuredContent":{"n":1.10},"content":[]}"#.to_owned(), value(r#"{"n":1.10}"#)),
            (r#"{"structuredContent":[1e400]}"#.to_owned(), value("[1e400]")),
            (r#"{"structuredContent":0}"#.to_owned(), value("0")),
            (format!(r#"{{"content":[{}],"structuredContent":null}}"#, block("null")), value("\"null\"")),
            (format!(r#"{{"content":[{}]}}"#, block("hello")), value("\"hello\"")),
            (format!(r#"{{"content":[{}]}}"#, block("12")), value("\"12\"")),
            (format!(r#"{{"content":[{}]}}"#, block(" {\"n\": 1.10}\n")), value(r#"{"n":1.10}"#)),
            (format!(r#"{{"content":[{}]}}"#, block("[1,2")), value("\"[1,2\"")),
            (format!(r#"{{"content":[{}]}}"#, block(r#"{"a":1,"a":2}"#)), value(r#""{\"a\":1,\"a\":2}""#)),
            (format!(r#"{{"content":{two}}}"#), value(&two)),
            (format!(r#"{{"content":{image}}}"#), value(image)),
            (r#"{"content":[]}"#.to_owned(), value("[]")),
            ("{}".to_owned(), value("[]")),
            (r#"{"resultType":"complete","isError":false,"content":null}"#.to_owned(), value("[]")),
        ];
        for (json, wanted) in cases {
            assert_eq!(read(&json), wanted, "{json}");
        }
    }

    #[test]
    fn failures_are_the_tools_words() {
        let failed = |words: &str| ToolAnswer::Failed(words.to_owned());
        assert_eq!(
            read(&format!(r#"{{"isError":true,"content":[{}]}}"#, block("no such"))),
            failed("no such")
        );
        let two = format!(r#"{{"isError":true,"content":[{},{}]}}"#, block("a"), block("b"));
        assert_eq!(read(&two), failed("a\nb"));
        assert_eq!(read(r#"{"isError":true,"content":[{"x":1}]}"#), failed(r#"[{"x":1}]"#));
        assert_eq!(read(r#"{"isError":true}"#), failed("the tool says that it failed, and not why"));
        let deep = "[".repeat(1000) + &"]".repeat(1000);
        assert!(matches!(read(&format!(r#"{{"isError":true,"content":{deep}}}"#)), ToolAnswer::Failed(_)));
    }

    #[test]
    fn what_is_no_end_is_none() {
        assert_eq!(read(r#"{"resultType":"input_required","requestState":"x"}"#), ToolAnswer::WantsInput);
        assert!(matches!(read(r#"{"resultType":"task","taskId":"t"}"#), ToolAnswer::NotEnded(_)));
        assert!(matches!(read(r#"{"resultType":"later"}"#), ToolAnswer::NotEnded(_)));
    }

    #[test]
    fn what_cannot_be_read_says_so() {
        let deep = "[".repeat(1000) + &"]".repeat(1000);
        for json in [
            "null".to_owned(),
            "[]".to_owned(),
            "3".to_owned(),
            format!(r#"{{"structuredContent":{deep}}}"#),
            format!(r#"{{"content":{deep}}}"#),
            r#"{"structuredContent":{"a":1,"a":2}}"#.to_owned(),
            r#"{"content":[],"content":[]}"#.to_owned(),
        ] {
            assert!(matches!(read(&json), ToolAnswer::Unreadable(_)), "{json:.60}");
        }
    }
}
