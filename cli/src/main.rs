//! The `plangate` command.

mod args;
mod commands;
mod config;
mod context;
mod document;
mod exit;
mod explain;
mod fault;
mod inputs;
mod nearest;
mod output;
mod prepare;
mod project;
mod render;
mod servers;
mod store;
mod toolbox;
mod view;
mod who;
mod writer;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use context::Context;
use exit::Exit;
use fault::Fault;
use output::{Colour, Output};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error).into(),
    };
    let context = Context { output: Output::new(cli.json, cli.color), folder: cli.project };
    let exit = match command(&cli.command, &context) {
        Ok(exit) => exit,
        Err(fault) => {
            context.output.stop(&fault);
            fault.exit
        }
    };
    match context.output.fault() {
        Some(fault) => {
            context.output.stop(&fault);
            fault.exit.into()
        }
        None => exit.into(),
    }
}

fn command(command: &Command, context: &Context) -> Result<Exit, Fault> {
    match command {
        Command::Plan(args) => commands::plan::plan(args, context),
        Command::Check(args) => commands::check::check(args, context),
        Command::Tools(args) => commands::tools::tools(args, context),
        Command::Guide(args) => commands::guide::guide(args, context),
        Command::Explain(args) => commands::explain::explain(args, context),
        Command::Schema => Ok(commands::schema::schema(context)),
        Command::Approvals(args) => commands::approvals::approvals(args, context),
        Command::Audit(args) => commands::audit::audit(args, context),
        _ => Err(Fault::new(Exit::Internal, "x", "x")),
    }
}

/// What clap has to say: help and version are results, the rest is a mistake.
fn usage(error: &clap::Error) -> Exit {
    let json = std::env::args_os().any(|a| a == "--json");
    let output = Output::new(json, Colour::Auto);
    if !error.use_stderr() {
        let text = error.render();
        output.say(&if output.paint().is_on() { text.ansi().to_string() } else { text.to_string() });
        return Exit::Done;
    }
    if json {
        let text = error.render().to_string();
        let message = text.trim_start_matches("error: ").lines().next().unwrap_or_default().to_owned();
        output.stop(&Fault::new(Exit::Usage, "usage", message).help("plangate --help"));
    } else {
        let text = error.render();
        output.remark(&if output.remark_paint().is_on() {
            text.ansi().to_string()
        } else {
            text.to_string()
        });
    }
    Exit::Usage
}
