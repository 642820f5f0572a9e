//! Standard input and output, with the bytes of `arguments` kept beside each call.

use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::{StdioReader, StdioWriter, Transport, stdio_pipes};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::sync::Mutex;

/// One message a line.
pub(super) struct Stdio {
    lines: Lines<BufReader<StdioReader>>,
    output: Arc<Mutex<StdioWriter>>,
}

/// The `arguments` of a call as they stand on the wire; in the extensions of its request.
#[derive(Clone, Debug)]
pub(super) struct RawArguments(pub(super) String);

impl Stdio {
    /// Needs a runtime with I/O.
    pub(super) fn new() -> Stdio {
        let (input, output) = stdio_pipes();
        Stdio { lines: BufReader::new(input).lines(), output: Arc::new(Mutex::new(output)) }
    }
}

impl Transport<RoleServer> for Stdio {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), std::io::Error>> + Send + 'static {
        let output = Arc::clone(&self.output);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let mut output = output.lock().await;
            output.write_all(&line).await?;
            output.flush().await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        // What is no message is passed over; the end of the input, in whatever way it comes, is the end.
        while let Ok(Some(line)) = self.lines.next_line().await {
            if let Ok(message) = serde_json::from_str(&line) {
                return Some(with_arguments(message, &line));
            }
        }
        None
    }

    async fn close(&mut self) -> Result<(), std::io::Error> {
        self.output.lock().await.flush().await
    }
}

fn with_arguments(mut message: ClientJsonRpcMessage, line: &str) -> ClientJsonRpcMessage {
    if let JsonRpcMessage::Request(request) = &mut message
        && let ClientRequest::CallToolRequest(call) = &mut request.request
        && let Some(raw) = raw_arguments(line)
    {
        call.extensions.insert(RawArguments(raw));
    }
    message
}

fn raw_arguments(line: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Message<'a> {
        #[serde(borrow)]
        params: Params<'a>,
    }
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow)]
        arguments: &'a RawValue,
    }
    let message: Message<'_> = serde_json::from_str(line).ok()?;
    Some(message.params.arguments.get().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_kept_as_they_came() {
        let args = r#"{"n": 1.10,"z":1e2, "a":"\u0041"}"#;
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"arguments":{args},"name":"t"}}}}"#
        );
        assert_eq!(raw_arguments(&line).as_deref(), Some(args));
        assert_eq!(raw_arguments(r#"{"params":{"name":"t"}}"#), None);
    }
}
