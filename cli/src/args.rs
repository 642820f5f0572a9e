//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use plangate_approval::Time;
use plangate_graph::Author;

use crate::config::duration;
use crate::exit::TABLE;
use crate::output::Colour;
use crate::render::time::instant;

/// Heading of the options that every command has.
const EVERYWHERE: &str = "Everywhere";

/// Compiles recipes to plans, shows what they will do, runs what is independent at once, and stops at everything that
/// changes something outside.
#[derive(Debug, Parser)]
#[command(name = "plangate", version, after_help = TABLE, disable_help_subcommand = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// Work in this folder: its plangate.toml, its .mcp.json, its store
    #[arg(short = 'C', long = "project", value_name = "DIR", global = true, help_heading = EVERYWHERE)]
    pub(crate) project: Option<PathBuf>,
    /// Results as JSON on standard output, errors as JSON on standard error
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) json: bool,
    /// When to colour: auto, always or never
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        global = true,
        hide_possible_values = true,
        hide_default_value = true,
        help_heading = EVERYWHERE
    )]
    pub(crate) color: Colour,
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what a recipe would do, before anything runs
    Plan(PlanArgs),
    /// Say what is wrong with a recipe or an actions.json
    Check(CheckArgs),
    /// Show a recipe's card and run it, until it is done or waits for people
    Run(RunArgs),
    /// List what waits for people
    Approvals(ApprovalsArgs),
    /// Show an approval with all its arguments, or a run with its timeline
    Show(ShowArgs),
    /// Say yes to what waits, and let its run go on
    Approve(ApproveArgs),
    /// Say no to what waits, and let its run go on with what is left
    Reject(RejectArgs),
    /// Say what happened to a call whose outcome is not known
    Settle(SettleArgs),
    /// Let a run go on
    Resume(ResumeArgs),
    /// Stop a run
    Cancel(CancelArgs),
    /// List runs, newest first
    Runs(RunsArgs),
    /// List the tools, with what each does outside and why we think so
    Tools(ToolsArgs),
    /// Print what a model needs to write recipes here: the language and the tools
    Guide(GuideArgs),
    /// Explain a code: of a diagnostic, of a refusal, of a reason to ask
    Explain(ExplainArgs),
    /// Print the JSON Schema of actions.json
    Schema,
    /// Verify the log of everything that was decided and done
    Audit(AuditArgs),
    /// Show who is told what happens, and how far they were told; or tell them
    Webhooks(WebhooksArgs),
    /// Be one of the demo's MCP servers, on standard input and output
    DemoServer(DemoServerArgs),
}

/// A recipe or plan, and what it is held against.
#[derive(Debug, Args)]
pub(crate) struct Source {
    /// A recipe, or an actions.json
    pub(crate) file: PathBuf,
    /// Who wrote it: the words of a model count for less. Unsaid: a person for a recipe, a model for an actions.json
    #[arg(long, value_name = "WHO")]
    pub(crate) author: Option<AuthorArg>,
}

/// Who wrote a recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuthorArg {
    /// A person.
    Person,
    /// A model.
    Model,
}

impl From<AuthorArg> for Author {
    fn from(author: AuthorArg) -> Author {
        match author {
            AuthorArg::Person => Author::Person,
            AuthorArg::Model => Author::Model,
        }
    }
}

/// `plan`
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) source: Source,
    /// A saved catalog, instead of starting servers
    #[arg(long, value_name = "FILE")]
    pub(crate) catalog: Option<PathBuf>,
    /// The value of an input, to fill the card
    #[arg(long = "input", short = 'i', value_name = "NAME=VALUE")]
    pub(crate) inputs: Vec<String>,
    /// The card as Markdown
    #[arg(long, group = "form")]
    pub(crate) markdown: bool,
    /// The graph as a Mermaid flowchart
    #[arg(long, group = "form")]
    pub(crate) mermaid: bool,
    /// The graph for Graphviz
    #[arg(long, group = "form")]
    pub(crate) dot: bool,
    /// The plan itself: actions.json
    #[arg(long, group = "form")]
    pub(crate) actions: bool,
    /// Write actions.json to this file, too
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// `check`
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) source: Source,
    /// A saved catalog, instead of starting servers
    #[arg(long, value_name = "FILE")]
    pub(crate) catalog: Option<PathBuf>,
}

/// `run`
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) source: Source,
    /// The value of an input
    #[arg(long = "input", short = 'i', value_name = "NAME=VALUE")]
    pub(crate) inputs: Vec<String>,
    /// While something waits for people, start nothing else that changes something
    #[arg(long)]
    pub(crate) hold_siblings: bool,
    /// How long it may be driven, for instance 10m; waiting for people is no part of it
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) deadline: Option<Duration>,
}

/// A duration as recipes write it.
fn time(text: &str) -> Result<Duration, String> {
    duration(text).ok_or_else(|| "expected a time like 500ms, 20s, 10m or 2h".to_owned())
}

/// `approvals`
#[derive(Debug, Args)]
pub(crate) struct ApprovalsArgs {
    /// Those that were decided, too
    #[arg(long)]
    pub(crate) all: bool,
}

/// `show`
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// An approval or a run, or the beginning of its id
    pub(crate) id: String,
}

/// Which approval, and what then.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// The approval, or the beginning of its id; or its run, where only one waits there
    pub(crate) id: String,
    /// Only decide; the run stays parked
    #[arg(long)]
    pub(crate) no_resume: bool,
}

/// Which approvals, and what then.
#[derive(Debug, Args)]
pub(crate) struct Several {
    /// Each an approval, or the beginning of its id; or its run, where only one waits there
    #[arg(required = true, value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Only decide; the runs stay parked
    #[arg(long)]
    pub(crate) no_resume: bool,
}

/// `approve`
#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    pub(crate) which: Several,
    /// With other arguments: a JSON object, or @FILE with one in it. Policy says who may
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) edit: Option<String>,
    /// A note to keep with the decision
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Only if its digest is still this one, or begins like it
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,
}

/// `reject`
#[derive(Debug, Args)]
pub(crate) struct RejectArgs {
    #[command(flatten)]
    pub(crate) which: Several,
    /// Why; it reaches the record and whoever started the run
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Only if its digest is still this one, or begins like it
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: Option<String>,
}

/// `settle`
#[derive(Debug, Args)]
pub(crate) struct SettleArgs {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) word: Word,
    /// What the call answered, as JSON, for the steps that read it
    #[arg(long, value_name = "JSON", conflicts_with = "did_not")]
    pub(crate) value: Option<String>,
    /// A note to keep with it
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

/// What a person says of a call.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Word {
    /// It happened
    #[arg(long)]
    pub(crate) happened: bool,
    /// It did not, and can be asked again
    #[arg(long)]
    pub(crate) did_not: bool,
}

/// `resume`
#[derive(Debug, Args)]
pub(crate) struct ResumeArgs {
    /// The run, or the beginning of its id
    pub(crate) run: String,
    /// Accept what changed of its tools or the policy, as it was shown: what was asked is asked again
    #[arg(long)]
    pub(crate) accept: bool,
}

/// `cancel`
#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    /// The run, or the beginning of its id
    pub(crate) run: String,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

/// `runs`
#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    /// Only those in this state
    #[arg(long, value_name = "STATE")]
    pub(crate) state: Option<RunStateArg>,
    /// Only those with this text in their title or id
    #[arg(long, value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// Only those that started then or later: 2026-07-31, 2026-07-31T08:00, or a time before now like 2h or 3d
    #[arg(long, value_name = "WHEN", value_parser = instant)]
    pub(crate) since: Option<Time>,
    /// Only those that started before then
    #[arg(long, value_name = "WHEN", value_parser = instant)]
    pub(crate) until: Option<Time>,
}

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunStateArg {
    /// Somebody drives it.
    Running,
    /// It waits for people.
    Parked,
    /// Its plan no longer passes.
    Attention,
    /// Every step ended as it should.
    Done,
    /// A step did not.
    Failed,
    /// A person stopped it.
    Cancelled,
}

/// `tools`
#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    /// A saved catalog, instead of starting servers
    #[arg(long, value_name = "FILE", conflicts_with = "save")]
    pub(crate) catalog: Option<PathBuf>,
    /// All the evidence about one tool
    #[arg(long, value_name = "SERVER.TOOL")]
    pub(crate) why: Option<String>,
    /// Write the catalog to a file
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
}

/// `guide`
#[derive(Debug, Args)]
pub(crate) struct GuideArgs {
    /// A saved catalog, instead of starting servers
    #[arg(long, value_name = "FILE")]
    pub(crate) catalog: Option<PathBuf>,
}

/// `explain`
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The code, for instance R0120; without one, all codes are listed
    pub(crate) code: Option<String>,
}

/// `audit`
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// The events themselves, one line of JSON each, with what was shown, decided and called
    #[arg(long)]
    pub(crate) export: bool,
    /// A head that was noted before: nothing up to there is gone or changed
    #[arg(long, value_name = "HEAD")]
    pub(crate) since: Option<String>,
}

/// `webhooks`
#[derive(Debug, Args)]
pub(crate) struct WebhooksArgs {
    /// What to do with them.
    #[command(subcommand)]
    pub(crate) what: Option<WebhooksDo>,
}

/// What to do with webhooks.
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum WebhooksDo {
    /// Tell them what there is, also what failed a moment ago
    Deliver {
        /// Go on telling whatever happens, until this is ended
        #[arg(long)]
        follow: bool,
    },
}

/// `demo-server`
#[derive(Debug, Args)]
pub(crate) struct DemoServerArgs {
    /// Which one: google-calendar, gmail or slack
    pub(crate) name: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
