//! Which drivers live, told by kernel locks.
//!
//! A process that drives runs keeps one file in the folder beside the database, locked for as long as it lives. Whoever
//! gets the lock knows that the process is gone; the kernel lets go of it however the process ended. No process id is
//! ever looked at, so that another container's process with the same id is not taken for it.
//!
//! What cannot be known is not claimed: no such file, a file of another user, or a lock taken under another kernel than
//! this one leave the holder neither alive nor dead, and its lease decides.

use std::collections::HashSet;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FlockOperation, flock};

use super::fault::refused;
use crate::random;
use crate::run::Holder;
use crate::storage::StoreError;

/// The files of this process, one for each folder, kept until it ends. Dropping a store does not unlock them: a permit
/// may outlive the handle that it was claimed through.
static OWN: Mutex<Vec<Own>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct Own {
    folder: PathBuf,
    /// A forked child shares the lock of its parent; it makes a file of its own. Used for nothing else.
    process: u32,
    name: String,
    next: u64,
    /// Held, not read.
    _lock: File,
}

/// The holders of one database.
#[derive(Debug)]
pub(super) struct Holders {
    folder: PathBuf,
    /// Death is final.
    dead: Mutex<HashSet<String>>,
}

impl Holders {
    /// For the database at this path, which is the same for everybody who opens it.
    pub(super) fn beside(database: &Path) -> Holders {
        let mut name = database.as_os_str().to_owned();
        name.push(".holders");
        Holders { folder: name.into(), dead: Mutex::default() }
    }

    /// A holder of this process. The first one makes and locks its file; `true` says so.
    pub(super) fn new_holder(&self) -> Result<(Holder, bool), StoreError> {
        let mut own = lock(&OWN);
        #[expect(
            clippy::disallowed_methods,
            reason = "tells a forked child from its parent, and nobody else"
        )]
        let process = std::process::id();
        let at = own.iter().position(|own| own.folder == self.folder && own.process == process);
        if let Some(own) = at.and_then(|at| own.get_mut(at)) {
            own.next += 1;
            return Ok((Holder(format!("{}.{}", own.name, own.next)), false));
        }
        let (name, file) = self.locked_file()?;
        let holder = Holder(format!("{name}.0"));
        own.push(Own { folder: self.folder.clone(), process, name, next: 0, _lock: file });
        Ok((holder, true))
    }

    /// Whether the holder's process is known to be gone.
    pub(super) fn dead(&self, holder: &Holder) -> Result<bool, StoreError> {
        let Some((name, _)) = holder.0.split_once('.') else { return Ok(false) };
        if !is_name(name) || self.is_own(name) {
            return Ok(false);
        }
        if lock(&self.dead).contains(name) {
            return Ok(true);
        }
        let path = self.folder.join(name);
        let gone = match File::open(&path) {
            Ok(file) => unlocked(&file, &path, FlockOperation::NonBlockingLockShared)?,
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => false,
            Err(e) => return Err(refused(&path, &e)),
        };
        if gone {
            lock(&self.dead).insert(name.to_owned());
        }
        Ok(gone)
    }

    /// Removes the files of dead processes that no holder in the store belongs to.
    pub(super) fn sweep(&self, referenced: &[String]) -> Result<(), StoreError> {
        for (name, path) in self.files()? {
            let prefix = format!("{name}.");
            if self.is_own(&name) || referenced.iter().any(|holder| holder.starts_with(&prefix)) {
                continue;
            }
            let file = match File::open(&path) {
                Ok(file) => file,
                Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => continue,
                Err(e) => return Err(refused(&path, &e)),
            };
            // Exclusive, so that a process which is just locking its new file finds it gone and makes another.
            if unlocked(&file, &path, FlockOperation::NonBlockingLockExclusive)?
                && let Err(e) = std::fs::remove_file(&path)
                && e.kind() != ErrorKind::NotFound
            {
                return Err(refused(&path, &e));
            }
        }
        Ok(())
    }

    /// Whether there is any file but our own.
    pub(super) fn others(&self) -> Result<bool, StoreError> {
        Ok(self.files()?.iter().any(|(name, _)| !self.is_own(name)))
    }

    fn files(&self) -> Result<Vec<(String, PathBuf)>, StoreError> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(refused(&self.folder, &e)),
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| refused(&self.folder, &e))?;
            if let Some(name) = entry.file_name().to_str().filter(|name| is_name(name)) {
                files.push((name.to_owned(), entry.path()));
            }
        }
        Ok(files)
    }

    fn is_own(&self, name: &str) -> bool {
        lock(&OWN).iter().any(|own| own.name == name && own.folder == self.folder)
    }

    /// A new file, locked, in which this boot is written.
    fn locked_file(&self) -> Result<(String, File), StoreError> {
        match DirBuilder::new().mode(0o700).create(&self.folder) {
            Err(e) if e.kind() != ErrorKind::AlreadyExists => return Err(refused(&self.folder, &e)),
            _ => {}
        }
        loop {
            let name = random::id()?;
            let path = self.folder.join(&name);
            let io = |e: std::io::Error| refused(&path, &e);
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).map_err(io)?;
            flock(&file, FlockOperation::LockExclusive).map_err(|e| io(e.into()))?;
            // Swept between its creation and its lock: it is no longer what others look at.
            let here = file.metadata().map_err(io)?;
            match std::fs::metadata(&path) {
                Ok(there) if there.ino() == here.ino() && there.dev() == here.dev() => {}
                Ok(_) => continue,
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                Err(e) => return Err(io(e)),
            }
            file.write_all(boot().as_bytes()).map_err(io)?;
            return Ok((name, file));
        }
    }
}

/// Whether a lock that its owner would hold can be had, and was taken under this kernel.
fn unlocked(mut file: &File, path: &Path, how: FlockOperation) -> Result<bool, StoreError> {
    match flock(file, how) {
        Ok(()) => {}
        Err(e) if e == rustix::io::Errno::WOULDBLOCK => return Ok(false),
        Err(e) => return Err(refused(path, &e.into())),
    }
    let mut written = String::new();
    file.read_to_string(&mut written).map_err(|e| refused(path, &e))?;
    // Empty: its process ended before it gave out a holder.
    Ok(written.is_empty() || written == boot())
}

/// Which boot of which kernel this is. Where that cannot be told, all boots are one.
fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_else(|_| "one kernel".to_owned())
}

fn is_name(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|b| b.is_ascii_hexdigit())
}

/// What these locks guard is whole at every moment.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
