//! One message on a line: `tools/call` frames that hold the approved bytes, and answers whose text is kept.

use std::fmt;

use rmcp::model::JsonObject;
use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Key of `_meta` under which the idempotency key reaches a tool.
pub(crate) const IDEMPOTENCY_KEY: &str = "plangate/idempotency-key";

/// A call of a tool, ready to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolCall {
    /// The tool.
    pub(crate) tool: String,
    /// Its arguments: JSON bytes that go into the frame as they are.
    pub(crate) args: Vec<u8>,
    /// The idempotency key, of a call that changes something.
    pub(crate) key: Option<String>,
}

/// The bytes of a `tools/call` request, with its line feed. The arguments stand in it byte for byte.
pub(crate) fn call_frame(id: i64, mut meta: JsonObject, call: &ToolCall) -> Result<Vec<u8>, String> {
    #[derive(Serialize)]
    struct Frame<'a> {
        jsonrpc: &'static str,
        id: i64,
        method: &'static str,
        params: Params<'a>,
    }
    #[derive(Serialize)]
    struct Params<'a> {
        _meta: JsonObject,
        name: &'a str,
        arguments: &'a RawValue,
    }

    if call.args.contains(&b'\n') {
        return Err("the arguments hold a line break outside of a text".to_owned());
    }
    let arguments: &RawValue =
        serde_json::from_slice(&call.args).map_err(|e| format!("the arguments are not JSON: {e}"))?;
    if let Some(key) = &call.key {
        meta.insert(IDEMPOTENCY_KEY.to_owned(), key.as_str().into());
    }
    let params = Params { _meta: meta, name: &call.tool, arguments };
    let frame = Frame { jsonrpc: "2.0", id, method: "tools/call", params };
    let mut bytes = serde_json::to_vec(&frame).map_err(|e| e.to_string())?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// What stands on a line that a server wrote.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// Nothing.
    Blank,
    /// An answer to the request with this number; the number may be written as text.
    Result(Option<i64>, &'a RawValue),
    /// An error; without a number where the server could not read the request.
    Error(Option<i64>, RpcError),
    /// A request or a notification.
    Other,
    /// A message that cannot be read, and the number of the request that it answers, as far as that could be read.
    Broken(Option<i64>, String),
    /// No message at all, for instance a log line.
    Noise,
}

/// A JSON-RPC error object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RpcError {
    /// Its code; nothing where that is no integer.
    pub(crate) code: Option<i64>,
    /// The server's words.
    pub(crate) message: String,
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "error {code}: {}", self.message),
            None => write!(f, "an error without a code: {}", self.message),
        }
    }
}

/// The message on a line: no byte order mark, no white space around it.
pub(crate) fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii()
}

/// Reads a [`trimmed`] line, as deep as it must be read to know whom it answers.
pub(crate) fn incoming(line: &[u8]) -> Incoming<'_> {
    match line.first() {
        None => return Incoming::Blank,
        Some(b'{') => {}
        Some(_) => return Incoming::Noise,
    }
    let mut seen = Envelope::default();
    let mut json = serde_json::Deserializer::from_slice(line);
    let whole = seen.deserialize_into(&mut json).and_then(|()| json.end());
    let id = seen.id.and_then(number);
    match whole {
        Err(error) => Incoming::Broken(id, error.to_string()),
        Ok(()) if seen.method => Incoming::Other,
        Ok(()) => match (seen.result, seen.error.filter(|e| e.get() != "null")) {
            (Some(result), None) => Incoming::Result(id, result),
            (None, Some(error)) => Incoming::Error(id, rpc_error(error)),
            (Some(result), Some(error)) if result.get() == "null" => Incoming::Error(id, rpc_error(error)),
            (Some(_), Some(_)) => Incoming::Broken(id, "it has both a result and an error".to_owned()),
            (None, None) if id.is_some() => {
                Incoming::Broken(id, "it has neither a result nor an error".to_owned())
            }
            (None, None) => Incoming::Noise,
        },
    }
}

/// The number of the request that the beginning of a line answers, if it says so there.
pub(crate) fn beginning(line: &[u8]) -> Option<i64> {
    let mut seen = Envelope::default();
    // A beginning never reads to its end; what it held until then is what we want.
    let cut = seen.deserialize_into(&mut serde_json::Deserializer::from_slice(line));
    cut.err().and(seen.id).and_then(number)
}

/// The members of a message that say what it is.
#[derive(Default)]
struct Envelope<'a> {
    id: Option<&'a RawValue>,
    method: bool,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
}

impl<'de> Envelope<'de> {
    /// Fills the members one by one, so that those before an error are known after it.
    fn deserialize_into<R: serde_json::de::Read<'de>>(
        &mut self,
        json: &mut serde_json::Deserializer<R>,
    ) -> Result<(), serde_json::Error> {
        Fill(self).deserialize(json)
    }
}

struct Fill<'e, 'de>(&'e mut Envelope<'de>);

impl<'de> DeserializeSeed<'de> for Fill<'_, 'de> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Fill<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
            match key.as_ref() {
                "id" => self.0.id = Some(map.next_value()?),
                "result" => self.0.result = Some(map.next_value()?),
                "error" => self.0.error = Some(map.next_value()?),
                other => {
                    self.0.method |= other == "method";
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// A request's number, also where the server made a text of it.
fn number(id: &RawValue) -> Option<i64> {
    id.get().trim_matches('"').parse().ok()
}

fn rpc_error(raw: &RawValue) -> RpcError {
    let value = plangate_graph::Value::parse(raw.get()).unwrap_or_default();
    let code = match value.member("code") {
        Some(plangate_graph::Value::Number(n)) => n.as_str().parse().ok(),
        _ => None,
    };
    let message = value.member("message").and_then(plangate_graph::Value::text);
    RpcError { code, message: message.map_or_else(|| raw.get().to_owned(), str::to_owned) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
    use super::*;

    #[test]
    fn arguments_stand_in_the_frame_byte_for_byte() {
        for args in
            [r#"{"a":1.10,"b":1e2,"c":12345678901234567890123,"d":"\u0001\"å🙂"}"#, "{}", r#"{"z":1,"a":2}"#]
        {
            let call =
                ToolCall { tool: "po\"st".into(), args: args.as_bytes().to_vec(), key: Some("k1".into()) };
            let frame = String::from_utf8(call_frame(7, JsonObject::new(), &call).unwrap()).unwrap();
            assert_eq!(
                frame,
                format!(
                    r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"_meta":{{"plangate/idempotency-key":"k1"}},"name":"po\"st","arguments":{args}}}}}"#
                ) + "\n"
            );
        }
    }

    #[test]
    fn arguments_that_would_break_the_frame_are_refused() {
        for args in ["{\n}", "{", "{}{}", "{\"a\":\"\n\"}", "\u{1}"] {
            let call = ToolCall { tool: "t".into(), args: args.into(), key: None };
            assert!(call_frame(1, JsonObject::new(), &call).is_err(), "{args:?}");
        }
    }

    #[test]
    fn answers_keep_their_text() {
        let line = br#"{"jsonrpc":"2.0","id":3,"result":{"n": 1.10}}"#;
        let Incoming::Result(Some(3), raw) = incoming(line) else { panic!("a result") };
        assert_eq!(raw.get(), r#"{"n": 1.10}"#);
        let Incoming::Result(Some(3), raw) = incoming(br#"{"result":null,"error":null,"id":"3"}"#) else {
            panic!("a result")
        };
        assert_eq!(raw.get(), "null");
    }

    #[test]
    fn every_line_is_told_apart() {
        let shown = |line: &str| match incoming(trimmed(line.as_bytes())) {
            Incoming::Blank => "blank".to_owned(),
            Incoming::Result(id, _) => format!("result {id:?}"),
            Incoming::Error(id, e) => format!("{id:?} {e}"),
            Incoming::Other => "other".to_owned(),
            Incoming::Broken(id, _) => format!("broken {id:?}"),
            Incoming::Noise => "noise".to_owned(),
        };
        let cases = [
            ("", "blank"),
            ("\u{feff}\r", "blank"),
            ("  {\"id\":1,\"result\":{}} \r", "result Some(1)"),
            ("{\"id\":\"x\",\"result\":{}}", "result None"),
            ("{\"id\":null,\"error\":{\"code\":-32700,\"message\":\"m\"}}", "None error -32700: m"),
            ("{\"id\":1,\"error\":{\"code\":1.5,\"message\":\"m\"}}", "Some(1) an error without a code: m"),
            ("{\"id\":1,\"error\":\"down\"}", "Some(1) an error without a code: \"down\""),
            ("{\"id\":1,\"result\":null,\"error\":{\"code\":1,\"message\":\"m\"}}", "Some(1) error 1: m"),
            ("{\"method\":\"ping\",\"id\":\"s\"}", "other"),
            ("{\"method\":\"notifications/x\",\"params\":null}", "other"),
            ("{\"id\":1,\"result\":{},\"error\":{}}", "broken Some(1)"),
            ("{\"id\":1}", "broken Some(1)"),
            ("{\"id\":1,\"result\":{\"cont", "broken Some(1)"),
            ("{\"id\":1,\"result\":{}} trailing", "broken Some(1)"),
            ("{", "broken None"),
            ("{}", "noise"),
            ("[INFO] handling", "noise"),
            ("Server starting", "noise"),
        ];
        for (line, wanted) in cases {
            assert_eq!(shown(line), wanted, "{line}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_broken_and_name_the_request() {
        let line = b"{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"text\":\"\xff\xfe\"}}";
        assert!(matches!(incoming(line), Incoming::Broken(Some(5), _)));
    }

    #[test]
    fn depth_does_not_matter_to_the_envelope() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        let line = format!(r#"{{"result":{deep},"id":9}}"#);
        assert!(matches!(incoming(line.as_bytes()), Incoming::Result(Some(9), _)));
    }

    #[test]
    fn the_beginning_of_a_line_names_the_request() {
        assert_eq!(beginning(br#"{"jsonrpc":"2.0","id":4,"result":{"content":[{"te"#), Some(4));
        assert_eq!(beginning(br#"{"result":{"content":[{"te"#), None);
        assert_eq!(beginning(b"xxxxxxxx"), None);
    }
}
