//! A server as a child process that speaks on its standard input and output.

use std::sync::Arc;

use tokio::sync::{Notify, mpsc, watch};

use super::calls::Calls;
use super::link::Link;
use super::process::Process;
use super::pump::Pump;
use super::reader::Reader;
use super::supervisor::Supervisor;
use super::tail::Tail;
use super::writer::write;
use crate::config::Program;
use crate::error::{Fault, McpError};
use crate::options::Options;

/// Messages on their way to the protocol library.
const INBOUND: usize = 64;

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

/// Held by everything that must be over before the runtime may go.
pub(crate) type Alive = std::sync::mpsc::Sender<std::convert::Infallible>;

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
