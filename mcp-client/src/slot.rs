//! The place of one server that was asked for: how it is reached, and its session while there is one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use crate::config::{Config, ServerConfig};
use crate::error::{Fault, McpError};
use crate::options::{Options, Progress};
use crate::session::Session;
use crate::transport::stdio::Alive;

/// The place of one server.
#[derive(Debug)]
pub(crate) struct Slot {
    name: String,
    config: Result<ServerConfig, McpError>,
    state: RwLock<State>,
    /// Held while the server is started.
    starting: tokio::sync::Mutex<()>,
    /// How often starting it has failed.
    failures: AtomicU64,
}

#[derive(Clone, Debug)]
enum State {
    /// It was never ready, or never tried; the last error.
    NotReady(Option<McpError>),
    /// It is ready, or was until its connection was lost.
    Ready(Arc<Session>),
}

impl Slot {
    pub(crate) fn new(name: &str, config: &Config) -> Slot {
        let config = config.server(name).map_err(|error| bare(name, None, Fault::Config(error)));
        let state = RwLock::new(State::NotReady(None));
        let (starting, failures) = (tokio::sync::Mutex::default(), AtomicU64::new(0));
        Slot { name: name.to_owned(), config, state, starting, failures }
    }

    /// What the server is, without secrets.
    pub(crate) fn origin(&self) -> Option<&str> {
        self.config.as_ref().ok().map(ServerConfig::origin)
    }

    /// The last session, which may be lost.
    pub(crate) fn session(&self) -> Option<Arc<Session>> {
        match self.state() {
            State::Ready(session) => Some(session),
            State::NotReady(_) => None,
        }
    }

    /// The session, if it is open and its tools are known as they are now.
    pub(crate) fn current(&self) -> Option<Arc<Session>> {
        self.session().filter(|session| !session.connection.is_lost() && !session.is_stale())
    }

    /// The session, if it is open; else why there is none.
    pub(crate) fn usable(&self) -> Result<Arc<Session>, McpError> {
        match self.state() {
            State::Ready(session) => match session.connection.calls.lost() {
                None => Ok(session),
                Some(fault) => Err(session.connection.error(fault)),
            },
            State::NotReady(Some(error)) => Err(error),
            State::NotReady(None) => Err(self.error(Fault::ShutDown)),
        }
    }

    /// The session, open and with its tools as they are now: started if there is none or it was lost, and its tools
    /// listed again if they changed. `alive` gives nothing once everything is being shut down.
    pub(crate) async fn ready(
        &self,
        options: &Options,
        alive: impl Fn() -> Option<Alive>,
    ) -> Result<Arc<Session>, McpError> {
        let failures = self.failures.load(Ordering::Acquire);
        let _one = self.starting.lock().await;
        match self.state() {
            State::Ready(session) if !session.connection.is_lost() => {
                session.refresh().await?;
                return Ok(session);
            }
            // It failed while we waited for our turn: that is our answer as well.
            State::NotReady(Some(error)) if failures != self.failures.load(Ordering::Acquire) => {
                return Err(error);
            }
            _ => {}
        }
        let started = match (&self.config, alive()) {
            (Err(error), _) => Err(error.clone()),
            (Ok(_), None) => Err(self.error(Fault::ShutDown)),
            (Ok(config), Some(alive)) => start(config, options, &alive).await,
        };
        match started {
            Ok(session) => {
                let session = Arc::new(session);
                self.set(State::Ready(Arc::clone(&session)));
                if alive().is_none() {
                    // Everything was shut down meanwhile.
                    self.close();
                }
                Ok(session)
            }
            Err(error) => {
                options.report(|| Progress::Failed(error.clone()));
                self.set(State::NotReady(Some(error.clone())));
                self.failures.fetch_add(1, Ordering::AcqRel);
                Err(error)
            }
        }
    }

    /// Ends the server.
    pub(crate) fn close(&self) {
        if let Some(session) = self.session() {
            session.connection.stop();
        }
        self.set(State::NotReady(Some(self.error(Fault::ShutDown))));
    }

    fn error(&self, fault: Fault) -> McpError {
        bare(&self.name, self.origin(), fault)
    }

    fn state(&self) -> State {
        self.state.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, state: State) {
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

async fn start(config: &ServerConfig, options: &Options, alive: &Alive) -> Result<Session, McpError> {
    let (server, origin) = (config.name().to_owned(), config.origin().to_owned());
    options.report(|| Progress::Starting { server: server.clone(), origin });
    let begun = Instant::now();
    let session = Session::start(config, options, alive).await?;
    let tools = session.definitions().tools.len();
    options.report(|| Progress::Ready { server, tools, took: begun.elapsed() });
    Ok(session)
}

/// An error about a server that said nothing.
fn bare(server: &str, origin: Option<&str>, fault: Fault) -> McpError {
    McpError {
        server: server.to_owned(),
        origin: origin.map(str::to_owned),
        fault: Box::new(fault),
        stderr: Vec::new(),
        noise: None,
    }
}
