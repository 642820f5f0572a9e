//! A server as a child process: its tasks, its link to the protocol library, and its end.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, Extensions, JsonObject, JsonRpcMessage, RequestId,
    RequestMetaObject, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use rustix::process::Signal;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use super::calls::{Call, Calls};
use super::process::Process;
use super::pump::{End, Pump};
use super::reader::Reader;
use super::tail::Tail;
use super::writer::{Frame, Outgoing, SendError, write};
use crate::config::Program;
use crate::error::{Fault, McpError};
use crate::options::Options;

/// Messages on their way to the protocol library.
const INBOUND: usize = 64;

/// How long to wait for the exit and the last words of a server that is ending, so that the error can hold them.
const A_MOMENT: Duration = Duration::from_millis(500);

/// How long processes that outlive the server have between SIGTERM and SIGKILL.
const LEFTOVERS: Duration = Duration::from_millis(200);

/// A running server. Its process group is ended when this is dropped: politely while the runtime lives, else at once.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) calls: Arc<Calls>,
    reporter: Reporter,
    /// Asks the supervisor to end the server.
    stop: Arc<Notify>,
    ended: watch::Receiver<bool>,
}

/// Makes errors about one server, also when its connection is gone.
#[derive(Clone, Debug)]
pub(crate) struct Reporter {
    server: String,
    origin: String,
    tail: Arc<Tail>,
}

/// The protocol library's side of a connection.
#[derive(Debug)]
pub(crate) struct Link {
    calls: Arc<Calls>,
    outbound: mpsc::UnboundedSender<Outgoing>,
    inbound: mpsc::Receiver<ServerJsonRpcMessage>,
}

/// Held by everything that must be over before the runtime may go.
pub(crate) type Alive = std::sync::mpsc::Sender<std::convert::Infallible>;

/// Puts a request's [`Call`] beside it, for [`Link`] to find.
pub(crate) fn attach(extensions: &mut Extensions, call: &Arc<Call>) {
    extensions.insert(Attached(Arc::clone(call)));
}

#[derive(Clone, Debug)]
struct Attached(Arc<Call>);

impl Connection {
    /// Starts the server of this name. Must run on a runtime.
    pub(crate) fn open(
        server: &str,
        origin: &str,
        program: &Program,
        options: &Options,
        alive: Alive,
    ) -> Result<(Connection, Link), McpError> {
        let tail = Arc::<Tail>::default();
        let reporter =
            Reporter { server: server.to_owned(), origin: origin.to_owned(), tail: Arc::clone(&tail) };
        let spawned = |e: std::io::Error| {
            reporter.error(Fault::Spawn(match e.kind() {
                std::io::ErrorKind::NotFound => format!("{e}; is the program installed, and on PATH?"),
                _ => e.to_string(),
            }))
        };
        let (process, pipes) = Process::start(program).map_err(spawned)?;
        let stdout = Pump::new(pipes.stdout, process.exit()).map_err(spawned)?;
        let stderr = Pump::new(pipes.stderr, process.exit()).map_err(spawned)?;
        let calls = Arc::<Calls>::default();
        let (outbound, queue) = mpsc::unbounded_channel();
        let (forward, inbound) = mpsc::channel(INBOUND);
        let reader = Reader {
            calls: Arc::clone(&calls),
            tail: Arc::clone(&tail),
            limit: options.line_limit,
            inbound: forward,
        };
        let listener = Arc::clone(&tail);
        let stop = Arc::new(Notify::new());
        let stopped = Arc::clone(&stop);
        let (end, ended) = watch::channel(false);
        let supervisor = Supervisor {
            process,
            reader: tokio::spawn(reader.read(stdout)),
            writer: tokio::spawn(write(pipes.stdin, queue)),
            stderr: tokio::spawn(async move { listener.listen(stderr).await }),
            calls: Arc::clone(&calls),
            grace: options.grace,
        };
        tokio::spawn(async move {
            supervisor.run(&stopped).await;
            end.send_replace(true);
            drop(alive);
        });
        let link = Link { calls: Arc::clone(&calls), outbound, inbound };
        Ok((Connection { calls, reporter, stop, ended }, link))
    }

    /// Asks the server to end. Returns when its whole process group is gone.
    pub(crate) async fn end(self) {
        self.stop();
        let mut ended = self.ended.clone();
        // An error means that the supervisor is gone, and with it the process.
        let _ = ended.wait_for(|ended| *ended).await;
    }

    /// Asks the server to end, and does not wait for it.
    pub(crate) fn stop(&self) {
        self.stop.notify_one();
    }

    /// Whether the connection is of no use any more.
    pub(crate) fn is_lost(&self) -> bool {
        self.calls.lost().is_some()
    }

    /// Makes errors about this server.
    pub(crate) fn reporter(&self) -> Reporter {
        self.reporter.clone()
    }

    /// An error about this server, with what it said last.
    pub(crate) fn error(&self, fault: Fault) -> McpError {
        self.reporter.error(fault)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Reporter {
    /// An error about this server, with what it said last.
    pub(crate) fn error(&self, fault: Fault) -> McpError {
        McpError {
            server: self.server.clone(),
            origin: Some(self.origin.clone()),
            fault: Box::new(fault),
            stderr: self.tail.stderr(),
            noise: self.tail.noise(),
        }
    }
}

/// Who watches over the process and sees it to its end.
struct Supervisor {
    process: Process,
    reader: JoinHandle<(Option<End>, mpsc::Sender<ServerJsonRpcMessage>)>,
    writer: JoinHandle<Option<Fault>>,
    stderr: JoinHandle<Option<End>>,
    calls: Arc<Calls>,
    grace: Duration,
}

impl Supervisor {
    async fn run(mut self, stop: &Notify) {
        let mut read = None;
        let fault = tokio::select! {
            // The end of the reader comes first: it says most.
            biased;
            end = &mut self.reader => {
                read = end.ok();
                self.how_it_ended(Fault::StdoutClosed).await
            }
            broken = &mut self.writer => match broken.ok().flatten() {
                Some(fault) => self.how_it_ended(fault).await,
                None => Fault::ShutDown,
            },
            () = stop.notified() => Fault::ShutDown,
        };
        let mut heard = None;
        if read.is_some() {
            // No answer can come any more. What it said last is worth a moment.
            heard = within_a_moment(&mut self.stderr).await.flatten();
            self.calls.lose(&fault);
        }
        // Closes standard input, which is how a server is told to end. Until it has, calls may still be answered.
        if !self.writer.is_finished() {
            self.writer.abort();
            // The error says that it was aborted.
            let _ = (&mut self.writer).await;
        }
        for signal in [Signal::TERM, Signal::KILL] {
            if self.process.exited_within(self.grace).await.is_none() {
                self.process.signal(signal);
            }
        }
        self.process.exited_within(self.grace).await;
        // Both pumps come to what the child wrote last, and end.
        if read.is_none() {
            read = within_a_moment(&mut self.reader).await;
        }
        if heard.is_none() && !self.stderr.is_finished() {
            heard = within_a_moment(&mut self.stderr).await.flatten();
        }
        self.calls.lose(&fault);
        if [read.and_then(|(end, _)| end), heard].contains(&Some(End::StillHeld)) {
            // Somebody whom the server started holds its pipes.
            self.process.signal(Signal::TERM);
            tokio::time::sleep(LEFTOVERS).await;
        }
        self.process.finish().await;
    }

    /// The exit, if the process is ending by itself; else this fault.
    async fn how_it_ended(&mut self, otherwise: Fault) -> Fault {
        self.process.exited_within(A_MOMENT).await.map_or(otherwise, Fault::Exited)
    }
}

/// What a task gives, if it ends within a moment. Not to be asked again after it gave it.
async fn within_a_moment<T>(task: &mut JoinHandle<T>) -> Option<T> {
    tokio::time::timeout(A_MOMENT, task).await.ok()?.ok()
}

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
