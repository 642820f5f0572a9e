//! An open session with one server: handshake, tools, and what of them is known now.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, NotificationContext, Peer, RunningService,
    serve_client_with_lifecycle,
};
use rmcp::{ClientHandler, RoleClient};
use tokio::time::Instant;

use crate::catalog::Definitions;
use crate::config::{Program, Reach, ServerConfig};
use crate::error::{Fault, McpError};
use crate::listing::{Listed, list};
use crate::options::{Options, Progress};
use crate::transport::stdio::{Alive, Connection};

/// How long a lost connection may take to say why.
const WHY: Duration = Duration::from_secs(2);

/// A server that is ready. Ended when dropped.
#[derive(Debug)]
pub(crate) struct Session {
    server: String,
    startup_timeout: Duration,
    pub(crate) connection: Connection,
    service: RunningService<RoleClient, Listener>,
    /// The server said that its tools changed.
    changed: Arc<AtomicBool>,
    known: RwLock<Known>,
    /// Held while the tools are listed again.
    listing: tokio::sync::Mutex<()>,
}

/// The tools as last listed.
#[derive(Clone, Debug)]
struct Known {
    definitions: Arc<Definitions>,
    /// When they must be listed again, whatever the server says.
    until: Option<Instant>,
}

impl Session {
    /// Starts a server, opens the session and lists its tools, all within the startup timeout.
    ///
    /// The handshake is `initialize`, which every server before 2026-07-28 needs as its first message. A server that
    /// answers it with an error may be newer: it is started again, and asked with `server/discover`.
    pub(crate) async fn start(
        config: &ServerConfig,
        options: &Options,
        alive: &Alive,
    ) -> Result<Session, McpError> {
        let program = match &config.reach {
            Reach::Stdio(program) => program,
            Reach::Http => {
                return Err(McpError {
                    server: config.name.clone(),
                    origin: Some(config.origin.clone()),
                    fault: Box::new(Fault::NotSupported),
                    stderr: Vec::new(),
                    noise: None,
                });
            }
        };
        let deadline = Instant::now() + options.startup_timeout;
        let start = Start { config, program, options, alive, deadline };
        let first = match start.with("initialize", ClientLifecycleMode::Initialize).await {
            Err(error) if matches!(*error.fault, Fault::Refused { request: "initialize", .. }) => error,
            other => return other,
        };
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        match start.with("server/discover", ClientLifecycleMode::Discover { preferred_versions }).await {
            Ok(session) => Ok(session),
            // What it said first says more, unless it talks about versions only now.
            Err(second) => Err(if matches!(*second.fault, Fault::Version(_)) { second } else { first }),
        }
    }

    /// To send requests.
    pub(crate) fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    /// The tools as last listed.
    pub(crate) fn definitions(&self) -> Arc<Definitions> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner).definitions)
    }

    /// Whether the tools may be others by now.
    pub(crate) fn is_stale(&self) -> bool {
        let until = self.known.read().unwrap_or_else(PoisonError::into_inner).until;
        self.changed.load(Ordering::Acquire) || until.is_some_and(|until| Instant::now() >= until)
    }

    /// Lists the tools again if they may be others by now.
    pub(crate) async fn refresh(&self) -> Result<(), McpError> {
        let _one = self.listing.lock().await;
        if !self.is_stale() {
            return Ok(());
        }
        // Before the list is read: a change while it is read makes it stale again.
        self.changed.store(false, Ordering::Release);
        let within = self.startup_timeout;
        let listed = tokio::time::timeout(within, list(&self.server, &self.connection, self.peer()))
            .await
            .unwrap_or_else(|_| {
                Err(self.connection.error(Fault::NotReady { within, waiting_for: "tools/list" }))
            });
        match listed {
            Ok(listed) => {
                let known = known(listed, self.is_modern());
                *self.known.write().unwrap_or_else(PoisonError::into_inner) = known;
                Ok(())
            }
            Err(error) => {
                self.changed.store(true, Ordering::Release);
                Err(error)
            }
        }
    }

    fn is_modern(&self) -> bool {
        is_modern(self.peer())
    }
}

/// One way to open a session.
struct Start<'a> {
    config: &'a ServerConfig,
    program: &'a Program,
    options: &'a Options,
    alive: &'a Alive,
    deadline: Instant,
}

impl Start<'_> {
    async fn with(&self, request: &'static str, mode: ClientLifecycleMode) -> Result<Session, McpError> {
        let ServerConfig { name, origin, .. } = self.config;
        let (connection, link) =
            Connection::open(name, origin, self.program, self.options, self.alive.clone())?;
        let changed = Arc::new(AtomicBool::new(false));
        let listener = Listener { changed: Arc::clone(&changed) };
        let opened =
            tokio::time::timeout_at(self.deadline, serve_client_with_lifecycle(listener, link, mode)).await;
        let fault = match opened {
            Ok(Ok(service)) => match version_problem(service.peer()) {
                None => return self.list(connection, service, changed).await,
                Some(fault) => fault,
            },
            Ok(Err(error)) => handshake_fault(request, error, &connection).await,
            Err(_) => self.not_ready(request),
        };
        Err(self.failed(connection, fault).await)
    }

    async fn list(
        &self,
        connection: Connection,
        service: RunningService<RoleClient, Listener>,
        changed: Arc<AtomicBool>,
    ) -> Result<Session, McpError> {
        let server = &self.config.name;
        self.options.report(|| Progress::Listing { server: server.clone() });
        let listed = tokio::time::timeout_at(self.deadline, list(server, &connection, service.peer())).await;
        let fault = match listed {
            Ok(Ok(listed)) => {
                let known = RwLock::new(known(listed, is_modern(service.peer())));
                let (server, startup_timeout) = (server.clone(), self.options.startup_timeout);
                let listing = tokio::sync::Mutex::default();
                return Ok(Session { server, startup_timeout, connection, service, changed, known, listing });
            }
            Ok(Err(error)) => *error.fault,
            Err(_) => self.not_ready("tools/list"),
        };
        drop(service);
        Err(self.failed(connection, fault).await)
    }

    fn not_ready(&self, waiting_for: &'static str) -> Fault {
        Fault::NotReady { within: self.options.startup_timeout, waiting_for }
    }

    /// Ends the server, and then makes the error: by then it holds what the server said last.
    async fn failed(&self, connection: Connection, fault: Fault) -> McpError {
        let report = connection.reporter();
        connection.end().await;
        report.error(fault)
    }
}

fn known(listed: Listed, modern: bool) -> Known {
    // A newer server says how long a list holds, and tells nobody of changes who did not subscribe.
    let fresh_for = modern.then(|| listed.fresh_for.unwrap_or_default());
    Known { definitions: Arc::new(listed.definitions), until: fresh_for.map(|fresh| Instant::now() + fresh) }
}

fn is_modern(peer: &Peer<RoleClient>) -> bool {
    peer.peer_info().is_some_and(|info| !info.protocol_version.has_initialize())
}

fn version_problem(peer: &Peer<RoleClient>) -> Option<Fault> {
    let version = peer.peer_info()?.protocol_version.clone();
    (!ProtocolVersion::KNOWN_VERSIONS.contains(&version)).then(|| Fault::Version(version.to_string()))
}

async fn handshake_fault(
    request: &'static str,
    error: ClientInitializeError,
    connection: &Connection,
) -> Fault {
    match error {
        ClientInitializeError::JsonRpcError(error) => {
            Fault::Refused { request, code: error.code.0.into(), message: error.message.into_owned() }
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let versions: Vec<_> = server_supported.iter().map(ToString::to_string).collect();
            Fault::Version(if versions.is_empty() { "none".to_owned() } else { versions.join(", ") })
        }
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. } => {
            connection.calls.lost_within(WHY).await.unwrap_or_else(|| Fault::Handshake(error.to_string()))
        }
        other => Fault::Handshake(other.to_string()),
    }
}

/// Our side of the session: we offer nothing that a server could ask for, and hear when its tools change.
#[derive(Debug)]
struct Listener {
    changed: Arc<AtomicBool>,
}

impl ClientHandler for Listener {
    fn on_tool_list_changed(
        &self,
        _context: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + Send + '_ {
        self.changed.store(true, Ordering::Release);
        std::future::ready(())
    }

    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("plangate", env!("CARGO_PKG_VERSION")),
        )
    }
}
