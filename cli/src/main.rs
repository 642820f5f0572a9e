//! The `plangate` command.

mod args;
mod commands;
mod config;
mod context;
mod demo;
mod document;
mod engine;
mod exit;
mod explain;
mod fault;
mod inputs;
mod ledger;
mod nearest;
mod outcome;
mod output;
mod prepare;
mod project;
mod render;
mod rules;
mod servers;
mod signals;
mod store;
mod telling;
mod toolbox;
mod trace;
mod typed;
mod view;
mod who;
mod writer;

use std::process::ExitCode;
use std::sync::{Arc, Mutex};

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
    let context = Context {
        output: Arc::new(Output::new(cli.json, cli.color)),
        folder: cli.project,
        telling: Mutex::default(),
    };
    let exit = match command(&cli.command, &context) {
        Ok(exit) => exit,
        Err(fault) => {
            context.output.stop(&fault);
            fault.exit
        }
    };
    context.told();
    match context.output.fault() {
        Some(fault) => {
            context.output.stop(&fault);
            fault.exit.into()
        }
        None => exit.into(),
    }
}

fn command(command: &Command, context: &Context) -> Result<Exit, Fault> {
    use commands::{
        approvals, audit, cancel, check, decide, explain, guide, plan, resume, run, runs, schema, settle,
        show, tools, webhooks,
    };
    match command {
        Command::Plan(args) => plan::plan(args, context),
        Command::Check(args) => check::check(args, context),
        Command::Run(args) => run::run(args, context),
        Command::Approvals(args) => approvals::approvals(args, context),
        Command::Show(args) => show::show(args, context),
        Command::Approve(args) => decide::approve(args, context),
        Command::Reject(args) => decide::reject(args, context),
        Command::Settle(args) => settle::settle(args, context),
        Command::Resume(args) => resume::resume(args, context),
        Command::Cancel(args) => cancel::cancel(args, context),
        Command::Runs(args) => runs::runs(args, context),
        Command::Tools(args) => tools::tools(args, context),
        Command::Guide(args) => guide::guide(args, context),
        Command::Explain(args) => explain::explain(args, context),
        Command::Schema => Ok(schema::schema(context)),
        Command::Audit(args) => audit::audit(args, context),
        Command::Webhooks(args) => webhooks::webhooks(args, context),
        Command::DemoServer(args) => commands::demo_server::serve(args),
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
