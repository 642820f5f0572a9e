//! `tools/list`, page by page, as the server wrote it.

use std::collections::BTreeSet;
use std::time::Duration;

use plangate_graph::Value;
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ListToolsRequest, PaginatedRequestParams};
use rmcp::service::{Peer, PeerRequestOptions};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::catalog::Definitions;
use crate::error::{Fault, McpError};
use crate::transport::calls::{Answer, Call};
use crate::transport::link::attach;
use crate::transport::stdio::Connection;

/// Most pages of a list.
const MOST_PAGES: usize = 500;

/// Longest time that a list is believed without asking again, whatever the server says.
const LONGEST_FRESH: Duration = Duration::from_secs(60);

/// JSON-RPC's "method not found".
const METHOD_NOT_FOUND: i64 = -32601;

/// The tools of a server at one time.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) definitions: Definitions,
    /// How long the server says that the list holds, where it says so.
    pub(crate) fresh_for: Option<Duration>,
}

/// Lists all tools of a server. It has no deadline of its own.
pub(crate) async fn list(
    server: &str,
    connection: &Connection,
    peer: &Peer<RoleClient>,
) -> Result<Listed, McpError> {
    let mut tools = Vec::new();
    let mut fresh_for = None;
    let mut seen = BTreeSet::new();
    let mut cursor = None;
    for _ in 0..MOST_PAGES {
        let raw = match ask(connection, peer, cursor.take()).await {
            Ok(raw) => raw,
            // A server without tools need not know the request.
            Err(Fault::Refused { code: METHOD_NOT_FOUND, .. }) if seen.is_empty() => break,
            Err(fault) => return Err(connection.error(fault)),
        };
        let page = Page::read(&raw).map_err(|reason| connection.error(Fault::NoList(reason)))?;
        tools.extend(page.tools.iter().map(|raw| Value::parse(raw.get()).map_err(|e| e.to_string())));
        let fresh = page.fresh_for();
        fresh_for = fresh_for.map_or(fresh, |before: Duration| fresh.map(|now| now.min(before)));
        let Some(next) = page.next.filter(|next| !next.is_empty()) else {
            return Ok(Listed { definitions: Definitions::new(server, tools), fresh_for });
        };
        if !seen.insert(next.clone()) {
            return Err(connection.error(Fault::RepeatedCursor(next)));
        }
        cursor = Some(next);
    }
    if cursor.is_some() {
        return Err(connection.error(Fault::TooManyPages(MOST_PAGES)));
    }
    Ok(Listed { definitions: Definitions::new(server, tools), fresh_for })
}

/// Asks for one page.
async fn ask(
    connection: &Connection,
    peer: &Peer<RoleClient>,
    cursor: Option<String>,
) -> Result<Box<RawValue>, Fault> {
    let (call, answered) = Call::new(None);
    let params = cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
    let mut request = ListToolsRequest { params, ..ListToolsRequest::default() };
    attach(&mut request.extensions, &call);
    let request = ClientRequest::ListToolsRequest(request);
    // Its own answer only says that the request is over.
    let asked = peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
    let answer = match asked {
        Ok(_) => answered.await.ok(),
        Err(_) => None,
    };
    match answer {
        Some(Answer::Result(raw)) => Ok(raw),
        Some(Answer::Error(error)) => Err(Fault::Refused {
            request: "tools/list",
            code: error.code.unwrap_or_default(),
            message: error.message,
        }),
        Some(Answer::Broken(fault) | Answer::Lost(fault)) => Err(fault),
        Some(Answer::NotSent(reason)) => Err(connection.calls.lost().unwrap_or(Fault::StdinClosed(reason))),
        None => Err(connection.calls.lost().unwrap_or(Fault::ShutDown)),
    }
}

/// One page, its tools unread.
#[derive(Deserialize)]
struct Page<'a> {
    #[serde(borrow)]
    tools: Vec<&'a RawValue>,
    #[serde(rename = "nextCursor", default)]
    next: Option<String>,
    #[serde(rename = "ttlMs", borrow, default)]
    ttl_ms: Option<&'a RawValue>,
}

impl<'a> Page<'a> {
    fn read(raw: &'a RawValue) -> Result<Page<'a>, String> {
        if !raw.get().starts_with('{') {
            return Err("it is no object".to_owned());
        }
        serde_json::from_str(raw.get()).map_err(|e| e.to_string())
    }

    fn fresh_for(&self) -> Option<Duration> {
        let ms = self.ttl_ms?.get().parse().ok()?;
        Some(Duration::from_millis(ms).min(LONGEST_FRESH))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    fn page(json: &str) -> Result<(usize, Option<String>, Option<Duration>), String> {
        let raw = RawValue::from_string(json.to_owned()).unwrap();
        let page = Page::read(&raw)?;
        Ok((page.tools.len(), page.next.clone(), page.fresh_for()))
    }

    #[test]
    fn pages_are_read_leniently_and_lists_are_not() {
        assert_eq!(page(r#"{"tools":[1,{"name":"x"}],"extra":{}}"#), Ok((2, None, None)));
        assert_eq!(page(r#"{"tools":[],"nextCursor":null,"ttlMs":null}"#), Ok((0, None, None)));
        let ms = Duration::from_millis(1500);
        assert_eq!(
            page(r#"{"tools":[],"nextCursor":"x","ttlMs":1500}"#),
            Ok((0, Some("x".into()), Some(ms)))
        );
        assert_eq!(page(r#"{"tools":[],"ttlMs":99999999999}"#), Ok((0, None, Some(LONGEST_FRESH))));
        for broken in ["{}", "null", "[]", "[[]]", r#"{"tools":{}}"#, r#"{"tools":[],"nextCursor":1}"#] {
            assert!(page(broken).is_err(), "{broken}");
        }
    }
}
