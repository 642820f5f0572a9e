//! The tools of MCP servers, for the executor.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use plangate_approval::{Outcome, Permit};
use plangate_executor::{Cancel, ReadError, Tools};
use plangate_graph::{Catalog, Digest, ReadCall, Value};
use tokio::runtime::Runtime;

use crate::call::{End, GiveUp, Patience, call, outcome, value};
use crate::catalog::RefusedTool;
use crate::config::Config;
use crate::error::{Fault, McpError};
use crate::options::Options;
use crate::session::Session;
use crate::slot::Slot;
use crate::transport::calls::Spend;
use crate::transport::frame::ToolCall;
use crate::transport::stdio::Alive;

/// Threads of the runtime that all servers share. Callers wait on their own threads.
const THREADS: usize = 2;

/// The tools of MCP servers. Each server is a child process that ends when this is dropped, or on
/// [`shutdown`](McpTools::shutdown).
///
/// Blocking, from any thread: the calls of many threads overlap, to one server as well. A server that died is started
/// again when it is next looked at ([`Tools::connect`], [`Tools::definition`]), never within a call.
pub struct McpTools {
    shared: Arc<Shared>,
    /// There until this is dropped.
    runtime: Option<Runtime>,
    /// Disconnected when every server has ended.
    all_ended: Mutex<mpsc::Receiver<Infallible>>,
}

/// What came of starting servers.
#[derive(Debug)]
pub struct Started {
    /// The tools of those that are ready. The others are tried again when they are looked at.
    pub tools: McpTools,
    /// What went wrong with the others, by name.
    pub failed: Vec<McpError>,
}

struct Shared {
    servers: BTreeMap<String, Slot>,
    options: Options,
    /// What every running server holds; nothing once they are shut down.
    alive: Mutex<Option<Alive>>,
}

impl McpTools {
    /// Starts these servers of a configuration, all at once, and waits until each is ready or has failed: at most
    /// [`Options::startup_timeout`], and the time it takes to end those that failed. An error means that this process
    /// cannot have threads.
    pub fn start<'n>(
        config: &Config,
        names: impl IntoIterator<Item = &'n str>,
        options: Options,
    ) -> std::io::Result<Started> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("plangate-mcp")
            .enable_io()
            .enable_time()
            .build()?;
        let (alive, all_ended) = mpsc::channel();
        let servers = names.into_iter().map(|name| (name.to_owned(), Slot::new(name, config))).collect();
        let shared = Arc::new(Shared { servers, options, alive: Mutex::new(Some(alive)) });
        let tools = McpTools { shared, runtime: Some(runtime), all_ended: Mutex::new(all_ended) };
        let failed = tools.start_all();
        Ok(Started { tools, failed })
    }

    /// The tools as last listed, of each server that is or was ready. What a server is stands beside its tools;
    /// one that has broken definitions besides is marked as partial.
    pub fn catalog(&self) -> Catalog {
        let mut catalog = Catalog::new();
        for (name, slot) in &self.shared.servers {
            let Some(session) = slot.session() else { continue };
            catalog.insert_server(name, slot.origin().map(str::to_owned));
            for definition in session.definitions().tools.values() {
                // It refuses a name that stands twice; a session has none.
                let _ = catalog.insert(name, definition.clone());
            }
            if !session.definitions().refused.is_empty() {
                catalog.leave_open(name);
            }
        }
        catalog
    }

    /// The tools that are in no catalog because their definition is broken, with the reason.
    pub fn refused(&self) -> Vec<RefusedTool> {
        let sessions = self.shared.servers.values().filter_map(Slot::session);
        sessions.flat_map(|session| session.definitions().refused.clone()).collect()
    }

    /// Ends all servers with their process groups, at most [`Options::grace`] after their standard input is closed, and
    /// as much again after SIGTERM. Calls under way may still be answered while their server ends; of those that are
    /// not, the outcome is unknown. Later calls are not sent.
    pub fn shutdown(&self) {
        if lock(&self.shared.alive).take().is_none() {
            return;
        }
        self.shared.servers.values().for_each(Slot::close);
        let limit = self.shared.options.grace * 3 + Duration::from_secs(4);
        // Nothing is ever sent: it is disconnected, or time is over and the servers are killed with the runtime.
        let _ = lock(&self.all_ended).recv_timeout(limit);
    }

    /// Makes a call on the session that is open now. There is no other way to one, and none from outside.
    pub(crate) fn call(&self, server: &str, spend: Spend, cancel: &Cancel) -> End {
        let session = match self.slot(server).and_then(Slot::usable) {
            Ok(session) => session,
            Err(error) => return End::NotSent(error.to_string()),
        };
        let patience = Patience::of(cancel);
        let reporter = session.connection.reporter();
        self.wait(async move { call(&session, spend, patience).await })
            // The task was dropped: nobody can say any more whether the call had left.
            .unwrap_or_else(|| End::Lost(reporter.error(Fault::ShutDown)))
    }

    fn start_all(&self) -> Vec<McpError> {
        let (failed, failures) = mpsc::channel();
        for name in self.shared.servers.keys() {
            let (shared, name, failed) = (Arc::clone(&self.shared), name.clone(), failed.clone());
            self.spawn(async move {
                if let Err(error) = shared.ready(&name).await {
                    // The receiver waits for all of us.
                    let _ = failed.send(error);
                }
            });
        }
        drop(failed);
        let mut failures: Vec<_> = failures.into_iter().collect();
        failures.sort_by(|a: &McpError, b| a.server.cmp(&b.server));
        failures
    }

    fn slot(&self, server: &str) -> Result<&Slot, McpError> {
        self.shared.slot(server)
    }

    /// Runs a future on the runtime and blocks this thread until it is done. Nothing: it was dropped on the way.
    fn wait<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let (done, result) = mpsc::sync_channel(1);
        self.spawn(async move {
            // The receiver waits for us.
            let _ = done.send(future.await);
        });
        result.recv().ok()
    }

    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        if let Some(runtime) = &self.runtime {
            runtime.spawn(future);
        }
    }
}

impl Shared {
    fn slot(&self, server: &str) -> Result<&Slot, McpError> {
        self.servers.get(server).ok_or_else(|| McpError {
            server: server.to_owned(),
            origin: None,
            fault: Box::new(Fault::NotAskedFor),
            stderr: Vec::new(),
            noise: None,
        })
    }

    /// A session whose tools are known as they are now; started again if it was lost.
    async fn ready(&self, server: &str) -> Result<Arc<Session>, McpError> {
        self.slot(server)?.ready(&self.options, || lock(&self.alive).clone()).await
    }
}

impl Tools for McpTools {
    /// Lists the tools again first where the server said that they changed, and starts the server again where it died;
    /// that takes at most [`Options::startup_timeout`]. Nothing as well where that fails; [`Tools::connect`] says why.
    fn definition(&self, server: &str, tool: &str) -> Option<Digest> {
        let slot = self.slot(server).ok()?;
        if let Some(session) = slot.current() {
            return session.definitions().digest(tool);
        }
        let (shared, server) = (Arc::clone(&self.shared), server.to_owned());
        let ready = self.wait(async move { shared.ready(&server).await })?;
        ready.ok()?.definitions().digest(tool)
    }

    fn read(&self, call: ReadCall<'_>, cancel: &Cancel) -> Result<Value, ReadError> {
        let tool_call = ToolCall { tool: call.tool().to_owned(), args: call.args().to_vec(), key: None };
        value(self.call(call.server(), Box::new(|| Ok(tool_call)), cancel))
    }

    fn effect(&self, permit: Permit, cancel: &Cancel) -> Outcome {
        let server = permit.server().to_owned();
        let spend = || match permit.spend() {
            Ok(call) => Ok(ToolCall {
                tool: call.tool().to_owned(),
                args: call.args().to_vec(),
                key: Some(call.key().to_owned()),
            }),
            Err(lapsed) => Err(lapsed.to_string()),
        };
        outcome(self.call(&server, Box::new(spend), cancel))
    }

    fn connect(&self, server: &str, cancel: &Cancel) -> Result<(), ReadError> {
        if self.slot(server).is_ok_and(|slot| slot.current().is_some()) {
            return Ok(());
        }
        let mut patience = Patience::of(cancel);
        let (shared, server) = (Arc::clone(&self.shared), server.to_owned());
        let ready = self.wait(async move {
            tokio::select! {
                ready = shared.ready(&server) => ready.map(|_| ()).map_err(|e| ReadError::Transport(e.to_string())),
                give_up = patience.exhausted() => Err(match give_up {
                    GiveUp::Cancelled => ReadError::Cancelled,
                    GiveUp::TimedOut(after) => {
                        ReadError::TimedOut(u64::try_from(after.as_millis()).unwrap_or(u64::MAX))
                    }
                }),
            }
        });
        ready.unwrap_or(Err(ReadError::Cancelled))
    }
}

impl Drop for McpTools {
    fn drop(&mut self) {
        self.shutdown();
        if let Some(runtime) = self.runtime.take() {
            // Does not block, so that a host may drop this within a runtime of its own.
            runtime.shutdown_background();
        }
    }
}

impl fmt::Debug for McpTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpTools")
            .field("servers", &self.shared.servers.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
