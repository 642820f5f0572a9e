//! Opening the store, and finding in it what people mean by the beginning of an id.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::sync::Arc;

use plangate_approval::sqlite::SqliteStore;
use plangate_approval::storage::Fault as Kind;
use plangate_approval::{Row, RowState, Run, RunId, RunState, Storage as _, StoreError};
use plangate_graph::card::visible::visible;
use rustix::fs::{Access, access};

use crate::exit::Exit;
use crate::fault::Fault;
use crate::project::{Project, STATE};
use crate::who::myself;

/// How many characters of an id are shown, and typed.
pub(crate) const SHORT: usize = 8;
/// The fewest characters that stand for an id.
const FEWEST: usize = 4;

/// The beginning of an id, as it is shown and typed.
pub(crate) fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// Opens the store of a project and makes it where there is none. What is wrong with it is said now: before any server
/// starts and before the first call.
pub(crate) fn open_or_make(project: &Project) -> Result<Arc<SqliteStore>, Fault> {
    if let Some(folder) = project.store.parent().filter(|folder| folder.ends_with(STATE)) {
        make_state(folder).map_err(|e| cannot_be_made(project, &e.to_string()))?;
    }
    opened(&project.store)
}

/// Opens the store of a project where there is one; where there is none, says whether one could be made. Makes nothing.
pub(crate) fn open_or_look(project: &Project) -> Result<Option<Arc<SqliteStore>>, Fault> {
    if project.store.exists() {
        return opened(&project.store).map(Some);
    }
    let folder =
        project.store.ancestors().skip(1).map(|f| if f.as_os_str().is_empty() { Path::new(".") } else { f });
    let nearest = folder.into_iter().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    let why = if nearest.is_dir() {
        match access(nearest, Access::WRITE_OK | Access::EXEC_OK) {
            Ok(()) => return Ok(None),
            Err(e) => std::io::Error::from(e).to_string(),
        }
    } else {
        format!("{} is no folder", nearest.display())
    };
    Err(cannot_be_made(project, &why))
}

/// Opens the store of a project; there must be one.
pub(crate) fn open(project: &Project) -> Result<Arc<SqliteStore>, Fault> {
    if !project.store.exists() {
        let message = "there is no store yet: nothing was run here";
        return Err(Fault::new(Exit::NotFound, "no-store", message)
            .at(project.store.display().to_string())
            .help("`plangate run FILE` makes one; another folder's is looked at with -C DIR"));
    }
    opened(&project.store)
}

fn opened(path: &Path) -> Result<Arc<SqliteStore>, Fault> {
    let store = SqliteStore::open(path).map_err(|e| fault(&e))?;
    // Reads every table that a run needs, so that damage is met here rather than between two calls.
    store.runs().and_then(|_| store.waiting()).map_err(|e| fault(&e))?;
    Ok(Arc::new(store))
}

/// The folder of the default store, for its owner alone, and with a note to version control to leave it alone.
fn make_state(folder: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let ignore = folder.join(".gitignore");
    if !ignore.exists() {
        std::fs::write(&ignore, "*\n")?;
    }
    Ok(())
}

fn cannot_be_made(project: &Project, why: &str) -> Fault {
    Fault::new(Exit::Unusable, "store", format!("the store cannot be made: {why}"))
        .at(project.store.display().to_string())
        .help("nothing was started; make its folder writable, or set another [store] path in plangate.toml")
}

/// What a store refuses or cannot do, as the fault that ends a command.
pub(crate) fn fault(error: &StoreError) -> Fault {
    let message = error.to_string();
    match error {
        StoreError::NotFound { .. } => Fault::new(Exit::NotFound, "not-found", message),
        StoreError::Decided { .. } | StoreError::NotNow(_) => Fault::new(Exit::TooLate, "decided", message),
        StoreError::Cancelled => Fault::new(Exit::TooLate, "cancelled", message),
        StoreError::Expired { .. } => Fault::new(Exit::TooLate, "expired", message),
        StoreError::Changed { .. } => {
            Fault::new(Exit::TooLate, "changed", message).help("look at it again with `plangate show`")
        }
        StoreError::Repeated { row, .. } => Fault::new(Exit::TooLate, "repeated", message)
            .help(format!("look at that call with `plangate show {}`", short(&row.0))),
        StoreError::NotAllowed(_) => Fault::new(Exit::NotAllowed, "not-allowed", message),
        StoreError::InFlight { .. } => Fault::new(Exit::Busy, "in-flight", message),
        StoreError::LeaseLost(_) => Fault::new(Exit::Busy, "lease-lost", message),
        StoreError::Held(_) => Fault::new(Exit::Busy, "held", message),
        StoreError::Version { .. } => Fault::new(Exit::Unusable, "store-version", message)
            .help("use the version of plangate that wrote it, or another store"),
        StoreError::Unusable { path, fault, .. } => {
            let what = Fault::new(Exit::Unusable, "store", message).at(path.clone());
            match fault {
                Kind::NotAStore | Kind::Damaged => what.help(
                    "nothing was started; put a copy of the file back, or move it away to begin with an empty store",
                ),
                Kind::ReadOnly | Kind::NoAccess => {
                    what.help("nothing was started; make it writable for this user, or set [store] path in plangate.toml")
                }
                Kind::Full => what.help("nothing was started; make room on the disk"),
                Kind::Locked => what.help("try again"),
                Kind::Io => what,
            }
        }
        _ => Fault::new(Exit::Unusable, "store", message),
    }
}

/// What the beginning of an id stands for.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    /// An approval.
    Row(Box<Row>),
    /// A run.
    Run(Box<Run>),
}

/// The approval or run whose id begins like this. Several are an error that lists them.
pub(crate) fn find(store: &SqliteStore, id: &str) -> Result<Found, Fault> {
    let id = enough(id)?;
    let rows: Vec<Row> = rows(store, None)?.into_iter().filter(|row| row.id.0.starts_with(&id)).collect();
    let runs: Vec<Run> = runs(store)?.into_iter().filter(|run| run.id.0.starts_with(&id)).collect();
    match (rows.as_slice(), runs.as_slice()) {
        ([row], []) => Ok(Found::Row(Box::new(row.clone()))),
        ([], [run]) => Ok(Found::Run(Box::new(run.clone()))),
        ([], []) => {
            Err(nothing(&id, "approval or run", "`plangate approvals` and `plangate runs` list them"))
        }
        _ => {
            let fault = several(&id, rows.len() + runs.len());
            let fault = rows.iter().fold(fault, |fault, row| fault.detail(row_line(row)));
            Err(runs.iter().fold(fault, |fault, run| fault.detail(run_line(run))))
        }
    }
}

/// The run whose id begins like this, or the run of the approval whose id does.
pub(crate) fn find_run(store: &SqliteStore, id: &str) -> Result<Run, Fault> {
    match find(store, id)? {
        Found::Run(run) => Ok(*run),
        Found::Row(row) => run(store, &row.run),
    }
}

/// The approval whose id begins like this; or, where it is a run's, the one approval of it that is in one of these states.
pub(crate) fn find_row(store: &SqliteStore, id: &str, wanted: &[RowState]) -> Result<Row, Fault> {
    let run = match find(store, id)? {
        Found::Row(row) => return Ok(*row),
        Found::Run(run) => run,
    };
    let mut waiting = rows(store, Some(&run.id))?;
    waiting.retain(|row| wanted.contains(&row.state));
    match waiting.as_slice() {
        [one] => Ok(one.clone()),
        [] => Err(nothing_waits(&run)),
        several => {
            let message = format!("{} approvals wait in run {}: say which", several.len(), short(&run.id.0));
            let fault = Fault::new(Exit::Usage, "which-row", message);
            Err(several.iter().fold(fault, |fault, row| fault.detail(row_line(row))))
        }
    }
}

fn nothing_waits(run: &Run) -> Fault {
    let message = format!("nothing of the kind waits in run {}: it is {}", short(&run.id.0), run.state);
    let exit = if run.state.ended() { Exit::TooLate } else { Exit::NotFound };
    let fault = Fault::new(exit, "nothing-waits", message);
    match run.state {
        RunState::Running | RunState::Parked => {
            fault.help(format!("`plangate show {}` shows what it does", short(&run.id.0)))
        }
        _ => fault,
    }
}

/// A run by its whole id.
pub(crate) fn run(store: &SqliteStore, id: &RunId) -> Result<Run, Fault> {
    store.run(id).map_err(|e| fault(&e))
}

/// All runs, newest first.
pub(crate) fn runs(store: &SqliteStore) -> Result<Vec<Run>, Fault> {
    store.runs().map_err(|e| fault(&e))
}

/// Rows of a run or of all, in the order they were asked.
pub(crate) fn rows(store: &SqliteStore, of: Option<&RunId>) -> Result<Vec<Row>, Fault> {
    store.rows(of).map_err(|e| fault(&e))
}

/// What became of the very same call before.
pub(crate) fn before(store: &SqliteStore, row: &Row) -> Result<Vec<Row>, Fault> {
    store.before(row).map_err(|e| fault(&e))
}

/// What the log calls the command line.
const SURFACE: &str = "cli";

/// Writes down that the whole of an approval was shown to whoever typed the command.
pub(crate) fn shown(store: &SqliteStore, row: &Row, project: &Project) -> Result<(), Fault> {
    let to = myself(&project.config.policy);
    store.shown(&row.id, row.digest, &to, SURFACE).map(drop).map_err(|e| fault(&e))
}

fn enough(id: &str) -> Result<String, Fault> {
    let id = id.trim().trim_end_matches('…').to_ascii_lowercase();
    if id.len() < FEWEST {
        let message = format!("{id:?} is too short for an id: give at least {FEWEST} characters of it");
        return Err(Fault::new(Exit::Usage, "short-id", message));
    }
    Ok(id)
}

fn nothing(id: &str, what: &str, help: &str) -> Fault {
    Fault::new(Exit::NotFound, "not-found", format!("no {what} has an id that begins with {id:?}")).help(help)
}

fn several(id: &str, count: usize) -> Fault {
    Fault::new(Exit::Usage, "ambiguous-id", format!("{count} ids begin with {id:?}: give more of it"))
}

/// An approval on a line, for choosing.
fn row_line(row: &Row) -> String {
    let what = match (&row.call, &row.question) {
        (Some(call), _) => format!("{}·{}", call.server, call.tool),
        (None, Some(question)) => format!("{question:?}"),
        (None, None) => String::new(),
    };
    format!("{}  {}  {}  {}", row.id, row.state, row.node.trim_end_matches("/gate"), visible(&what))
}

fn run_line(run: &Run) -> String {
    format!("{}  {}  run of {}", run.id, run.state, visible(&run.title))
}
