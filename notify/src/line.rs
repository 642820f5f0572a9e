//! One webhook being told: one event a turn, in order, with the state in a file beside the store.
//!
//! Whoever holds the lock on that file tells it; the kernel lets go of it however the process ended. Locks and files are
//! for processes under one kernel on a local disk, as the `SQLite` store is. Where several machines share a store, each
//! tells everything; the ids are the same, so that a receiver drops what it has seen.

use std::collections::VecDeque;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use plangate_approval::storage::Event;
use plangate_approval::{Storage, StoreError, Time};

use crate::message;
use crate::post::Post;
use crate::progress::Progress;
use crate::webhook::{Address, Webhook};

/// One webhook, and how far it was told.
#[derive(Debug)]
pub struct Line {
    webhook: Webhook,
    post: Post,
    path: PathBuf,
    /// Nothing while another process tells it.
    held: Option<Held>,
}

#[derive(Debug)]
struct Held {
    /// Held, not read.
    _lock: File,
    progress: Progress,
    /// Events behind `progress.told`, as they were last read.
    ahead: VecDeque<Event>,
}

/// What came of a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The receiver took the event at this position; there may be more.
    Took(u64),
    /// It did not take the event at this position; what waits, waits until then.
    Failed(u64, Time),
    /// The event at this position was given up; there may be more.
    GaveUp(u64),
    /// An event that failed is not to be tried again before then.
    Waits(Time),
    /// There is nothing to tell.
    Idle,
    /// Another process tells it.
    Elsewhere,
}

/// Why nothing is told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotifyError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file with the progress cannot be used.
    #[error("{path}: {message}")]
    State {
        /// Which file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// No thread could be started.
    #[error("no thread: {0}")]
    Thread(String),
}

impl Line {
    /// For this webhook, with its files in this folder, which is made where it is missing. A webhook that is met for the
    /// first time is told what happens from now on.
    pub fn open<S: Storage + ?Sized>(
        store: &S,
        webhook: Webhook,
        folder: &Path,
    ) -> Result<Line, NotifyError> {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(e) if e.kind() != ErrorKind::AlreadyExists => return Err(wrong(folder, &e)),
            _ => {}
        }
        let path = file(folder, webhook.address());
        let mut line = Line { webhook, post: Post::default(), path, held: None };
        line.hold(store)?;
        Ok(line)
    }

    /// The webhook.
    pub fn webhook(&self) -> &Webhook {
        &self.webhook
    }

    /// Makes one turn at this moment. `chance` is a random number from 0 to 255, which spreads the waits.
    pub fn turn<S: Storage + ?Sized>(
        &mut self,
        store: &S,
        now: Time,
        chance: u8,
    ) -> Result<Turn, NotifyError> {
        if !self.hold(store)? {
            return Ok(Turn::Elsewhere);
        }
        let Some(held) = &mut self.held else { return Ok(Turn::Elsewhere) };
        if let Some(until) = held.progress.waits_until(now) {
            return Ok(Turn::Waits(until));
        }
        let before = held.progress.told;
        let Some(event) = next(store, &self.webhook, held)? else {
            if held.progress.told != before {
                save(&self.path, &held.progress)?;
            }
            return Ok(Turn::Idle);
        };
        let message = message::of(&store.id()?, &self.webhook, &event);
        let turn = match self.post.send(&self.webhook, &message, now) {
            Ok(()) => {
                held.progress.took(event.seq, now);
                Turn::Took(event.seq)
            }
            Err(why) => {
                if held.progress.failed(event.seq, &why, now, chance) {
                    Turn::GaveUp(event.seq)
                } else {
                    let until = held.progress.waits_until(now).unwrap_or(now);
                    held.ahead.push_front(event.clone());
                    Turn::Failed(event.seq, until)
                }
            }
        };
        save(&self.path, &held.progress)?;
        Ok(turn)
    }

    /// Tries what failed without waiting for its time. For a person who says that the receiver is well again.
    pub fn hurry(&mut self) {
        if let Some(failing) = self.held.as_mut().and_then(|held| held.progress.failing.as_mut()) {
            failing.next = failing.since;
        }
    }

    /// Takes the lock, unless another process has it, and reads how far that one came.
    fn hold<S: Storage + ?Sized>(&mut self, store: &S) -> Result<bool, NotifyError> {
        if self.held.is_some() {
            return Ok(true);
        }
        let path = self.path.with_extension("lock");
        let io = |e: std::io::Error| wrong(&path, &e);
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(io)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(e)) => return Err(io(e)),
        }
        let progress = if let Some(progress) = read(&self.path)? {
            progress
        } else {
            let last = store.events(0)?.last().map_or(0, |event| event.seq);
            let progress = Progress::from(last);
            save(&self.path, &progress)?;
            progress
        };
        self.held = Some(Held { _lock: lock, progress, ahead: VecDeque::new() });
        Ok(true)
    }
}

/// How far this webhook was told, by whichever process; nothing if it was never met.
pub fn standing(folder: &Path, address: &Address) -> Result<Option<Progress>, NotifyError> {
    read(&file(folder, address))
}

/// The next event that the receiver wants. What it does not want is passed over.
fn next<S: Storage + ?Sized>(
    store: &S,
    webhook: &Webhook,
    held: &mut Held,
) -> Result<Option<Event>, StoreError> {
    if held.ahead.is_empty() {
        held.ahead = store.events(held.progress.told)?.into();
    }
    while let Some(event) = held.ahead.pop_front() {
        if message::kind(&event).is_some_and(|kind| webhook.wants(&kind)) {
            return Ok(Some(event));
        }
        held.progress.pass(event.seq);
    }
    Ok(None)
}

fn file(folder: &Path, address: &Address) -> PathBuf {
    folder.join(format!("{}.json", address.name()))
}

fn read(path: &Path) -> Result<Option<Progress>, NotifyError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(wrong(path, &e)),
    };
    serde_json::from_str(&text).map(Some).map_err(|e| NotifyError::State {
        path: path.display().to_string(),
        message: format!(
            "it does not say how far the webhook was told: {e}; move it away to begin with what happens now"
        ),
    })
}

/// Writes the file anew beside the old one and puts it in its place, so that it is whole whenever it is read.
fn save(path: &Path, progress: &Progress) -> Result<(), NotifyError> {
    let io = |e: std::io::Error| wrong(path, &e);
    let text = serde_json::to_string(progress)
        .map_err(|e| NotifyError::State { path: path.display().to_string(), message: e.to_string() })?;
    let new = path.with_extension("new");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new).map_err(io)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(io)?;
    std::fs::rename(&new, path).map_err(io)
}

fn wrong(path: &Path, error: &std::io::Error) -> NotifyError {
    NotifyError::State { path: path.display().to_string(), message: error.to_string() }
}
