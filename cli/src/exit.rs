//! How the command ends, as an exit status.

use std::process::ExitCode;

/// What came of a command. The numbers are part of the interface: `docs/cli.md` and `--help` list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done; for a run: every step ended as it should.
    Done = 0,
    /// The run ended, and at least one step did not end as it should.
    Failed = 1,
    /// The recipe or the plan is refused; nothing was started.
    Refused = 2,
    /// The run waits for people.
    Parked = 3,
    /// Decided, expired or changed before; nothing was done.
    TooLate = 4,
    /// Interrupted; the run lies in the store and can be resumed.
    Stopped = 5,
    /// The command line is wrong.
    Usage = 64,
    /// No such file, run or approval.
    NotFound = 66,
    /// A server is missing or broken, or a receiver of webhooks is.
    Server = 69,
    /// A fault of plangate itself.
    Internal = 70,
    /// The store, or another file, cannot be read or written.
    Unusable = 74,
    /// Another process drives the run, or its call may still be under way.
    Busy = 75,
    /// This person may not do that.
    NotAllowed = 77,
    /// A configuration file is wrong.
    Config = 78,
}

/// What `--help` says about the statuses.
pub(crate) const TABLE: &str = "\
Exit status:
  0   done
  1   the run ended, and a step did not end as it should; or the audit log does not hold
  2   the recipe or plan is refused; nothing was started
  3   the run waits for people
  4   too late: decided, expired or changed before; nothing was done
  5   interrupted; the run lies in the store and can be resumed
  64  the command line is wrong
  66  no such file, run or approval
  69  a server is missing or broken, or a webhook does not take what it is told
  70  a fault of plangate itself
  74  the store or a file cannot be read or written
  75  busy: another process drives the run, or its call may still be under way
  77  this person may not do that
  78  a configuration file is wrong";

impl Exit {
    /// The number.
    pub(crate) fn status(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.status())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_lists_every_status() {
        let all = [
            Exit::Done,
            Exit::Failed,
            Exit::Refused,
            Exit::Parked,
            Exit::TooLate,
            Exit::Stopped,
            Exit::Usage,
            Exit::NotFound,
            Exit::Server,
            Exit::Internal,
            Exit::Unusable,
            Exit::Busy,
            Exit::NotAllowed,
            Exit::Config,
        ];
        let listed: Vec<String> =
            TABLE.lines().skip(1).filter_map(|l| l.split_whitespace().next().map(str::to_owned)).collect();
        let wanted: Vec<String> = all.iter().map(|e| e.status().to_string()).collect();
        assert_eq!(listed, wanted);
    }
}
