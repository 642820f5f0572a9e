//! A child process in a process group of its own, and its end.
//!
//! A thread waits for the child without reaping it: until it is reaped its process group keeps its number, so that a
//! signal to the group never reaches somebody else. Dropping a [`Process`] kills the group and reaps the child.

use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use tokio::sync::watch;

use crate::config::Program;
use crate::error::Exit;

/// Variables of this process that a server sees besides those of its configuration. Nothing else is handed on, because
/// the environment is where the secrets of other servers are.
const INHERITED: [&str; 9] = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

/// The same, by the beginning of the name.
const INHERITED_PREFIXES: [&str; 2] = ["LC_", "XDG_"];

/// A running child. Its group is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Process {
    group: Pid,
    exit: watch::Receiver<Option<Exit>>,
    reaped: watch::Receiver<bool>,
    /// Dropping it tells the waiting thread to reap.
    reap: Option<mpsc::Sender<()>>,
}

/// The ends of the child's standard streams.
#[derive(Debug)]
pub(crate) struct Pipes {
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

impl Process {
    /// Starts a program.
    pub(crate) fn start(program: &Program) -> std::io::Result<(Process, Pipes)> {
        // The thread comes first: a child that nobody waits for must not exist.
        let (give, given) = mpsc::channel::<Child>();
        let (reap, told_to_reap) = mpsc::channel::<()>();
        let (exit_seen, exit) = watch::channel(None);
        let (reap_seen, reaped) = watch::channel(false);
        std::thread::Builder::new().name("plangate-mcp-wait".to_owned()).spawn(move || {
            let Ok(mut child) = given.recv() else { return };
            exit_seen.send_replace(Some(await_exit(&child)));
            // Nothing is ever sent: this returns when the `Process` lets go.
            let _ = told_to_reap.recv();
            // An error means that there is nothing left to reap.
            let _ = child.wait();
            reap_seen.send_replace(true);
        })?;

        let mut child = command(program).spawn()?;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let group = Pid::from_child(&child);
        // The thread waits on this channel until it is dropped, so that the child always gets there.
        let _ = give.send(child);
        let process = Process { group, exit, reaped, reap: Some(reap) };
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(std::io::Error::other("the system gave no pipes"));
        };
        Ok((process, Pipes { stdin: stdin.into(), stdout: stdout.into(), stderr: stderr.into() }))
    }

    /// Where the exit of the child is seen. Its group may live on.
    pub(crate) fn exit(&self) -> watch::Receiver<Option<Exit>> {
        self.exit.clone()
    }

    /// Waits for the exit of the child, at most this long.
    pub(crate) async fn exited_within(&mut self, limit: Duration) -> Option<Exit> {
        let exit = tokio::time::timeout(limit, self.exit.wait_for(Option::is_some)).await;
        exit.ok().and_then(Result::ok).and_then(|exit| *exit)
    }

    /// Sends a signal to every process of the group. One that has gone already is no error.
    pub(crate) fn signal(&self, signal: Signal) {
        if self.reap.is_some() {
            let _ = rustix::process::kill_process_group(self.group, signal);
        }
    }

    /// Kills what is left of the group, and waits until the child is reaped.
    pub(crate) async fn finish(mut self) {
        self.kill();
        // The thread reports within moments of a kill; who is stuck in the kernel is reaped when it gets out.
        let _ = tokio::time::timeout(Duration::from_secs(2), self.reaped.wait_for(|reaped| *reaped)).await;
    }

    fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.reap = None;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn command(program: &Program) -> Command {
    let mut command = Command::new(&program.command);
    command
        .args(&program.args)
        .env_clear()
        .envs(std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(inherited)))
        .envs(program.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(cwd) = &program.cwd {
        command.current_dir(cwd);
    }
    command
}

fn inherited(name: &str) -> bool {
    INHERITED.contains(&name) || INHERITED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Waits for the exit without reaping.
fn await_exit(child: &Child) -> Exit {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        match rustix::process::waitid(WaitId::Pid(Pid::from_child(child)), options) {
            Ok(Some(status)) => {
                return match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => Exit::Status(code),
                    (None, Some(signal)) => Exit::Signal(signal),
                    (None, None) => Exit::Unknown,
                };
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            // The host's own settings reaped it for us.
            Err(_) => return Exit::Unknown,
        }
    }
}
