//! The protocol library's side of a connection.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, Extensions, JsonObject, JsonRpcMessage, RequestId,
    RequestMetaObject, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use tokio::sync::{mpsc, oneshot};

use super::calls::{Call, Calls};
use super::writer::{Frame, Outgoing, SendError};

/// The protocol library's side of a connection.
#[derive(Debug)]
pub(crate) struct Link {
    pub(super) calls: Arc<Calls>,
    pub(super) outbound: mpsc::UnboundedSender<Outgoing>,
    pub(super) inbound: mpsc::Receiver<ServerJsonRpcMessage>,
}

/// Puts a request's [`Call`] beside it, for [`Link`] to find.
pub(crate) fn attach(extensions: &mut Extensions, call: &Arc<Call>) {
    extensions.insert(Attached(Arc::clone(call)));
}

#[derive(Clone, Debug)]
struct Attached(Arc<Call>);

impl Link {
    fn queued(&self, item: &ClientJsonRpcMessage) -> Result<Frame, SendError> {
        let JsonRpcMessage::Request(request) = item else {
            return ready(item, None);
        };
        let RequestId::Number(id) = request.id else {
            return ready(item, None);
        };
        match &request.request {
            ClientRequest::CallToolRequest(call) => match call.extensions.get::<Attached>() {
                Some(Attached(attached)) => {
                    self.calls.open(id, attached);
                    Ok(Frame::Call { id, meta: meta(&call.extensions), call: Arc::clone(attached) })
                }
                // Nobody makes a call but with its bytes beside it.
                None => Err(SendError("a tool call without its bytes".to_owned())),
            },
            ClientRequest::ListToolsRequest(list) => {
                let attached = list.extensions.get::<Attached>().map(|a| Arc::clone(&a.0));
                if let Some(call) = &attached {
                    self.calls.open(id, call);
                }
                ready(item, attached)
            }
            _ => ready(item, None),
        }
    }
}

impl Transport<RoleClient> for Link {
    type Error = SendError;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = Result<(), SendError>> + Send + 'static {
        // Queued here and not in the future, so that frames leave in the order in which the library sends them.
        let queued = self.queued(&item).and_then(|frame| {
            let (sent, has_left) = oneshot::channel();
            match self.outbound.send(Outgoing { frame, sent }) {
                Ok(()) => Ok(has_left),
                Err(refused) => {
                    refused.0.frame.refuse(&closed().0);
                    Err(closed())
                }
            }
        });
        async move { queued?.await.unwrap_or_else(|_| Err(closed())) }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.inbound.recv().await
    }

    async fn close(&mut self) -> Result<(), SendError> {
        // The process is not the library's to end; see `Connection`.
        self.inbound.close();
        Ok(())
    }
}

fn closed() -> SendError {
    SendError("the connection is closed".to_owned())
}

fn ready(item: &ClientJsonRpcMessage, call: Option<Arc<Call>>) -> Result<Frame, SendError> {
    let mut bytes = serde_json::to_vec(item).map_err(|e| SendError(e.to_string()))?;
    bytes.push(b'\n');
    Ok(Frame::Ready(bytes, call))
}

/// The request's `_meta`: what the library put there, for instance the progress token.
fn meta(extensions: &Extensions) -> JsonObject {
    extensions.get::<RequestMetaObject>().map(|meta| meta.0.0.clone()).unwrap_or_default()
}
