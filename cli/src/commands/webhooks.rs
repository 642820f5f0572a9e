//! `plangate webhooks`: who is told what happens, how far they were told, and what they did not take.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use plangate_approval::{SqliteStore, Storage as _, Time};
use plangate_graph::card::visible::visible;
use plangate_notify::line::standing;
use plangate_notify::{Courier, Line, Progress, Turn, message};
use serde::Serialize;

use crate::args::{WebhooksArgs, WebhooksDo};
use crate::config::WebhookChoice;
use crate::context::Context;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::project::Project;
use crate::render::paint::Paint;
use crate::render::time::{moment, relative, rfc3339};
use crate::store;
use crate::telling::{fault, folder, whole};

/// How often `--follow` says what kept it from telling.
const SAY: Duration = Duration::from_secs(60);

/// Lists the webhooks, or tells them.
pub(crate) fn webhooks(args: &WebhooksArgs, context: &Context) -> Result<Exit, Fault> {
    let project = context.project()?;
    if project.config.webhooks.is_empty() && args.what.is_some() {
        let message = "there is no webhook in plangate.toml: nobody is told anything";
        return Err(Fault::new(Exit::Config, "no-webhook", message)
            .help("write a [[webhook]], see docs/notifications.md"));
    }
    let store = store::open(&project)?;
    match args.what {
        None => list(&store, &project, context),
        Some(WebhooksDo::Deliver { follow: false }) => deliver(&store, &project, context),
        Some(WebhooksDo::Deliver { follow: true }) => follow(&store, &project, context),
    }
}

/// A webhook, for programs.
#[derive(Debug, Serialize)]
struct View {
    url: String,
    events: Vec<&'static str>,
    secret_env: String,
    /// Nothing if it was never told anything.
    told: Option<u64>,
    waiting: usize,
    delivered: u64,
    last: Option<String>,
    failing: Option<FailingView>,
    lost: u64,
    given_up: Vec<GivenUpView>,
}

#[derive(Debug, Serialize)]
struct FailingView {
    seq: u64,
    since: String,
    attempts: u32,
    error: String,
    next: String,
}

#[derive(Debug, Serialize)]
struct GivenUpView {
    seq: u64,
    at: String,
    error: String,
}

#[derive(Debug, Serialize)]
struct Whole {
    webhooks: Vec<View>,
}

fn list(store: &SqliteStore, project: &Project, context: &Context) -> Result<Exit, Fault> {
    let folder = folder(project);
    let mut views = Vec::new();
    let mut text = String::new();
    let now = store.now();
    for choice in &project.config.webhooks {
        let progress = standing(&folder, &choice.address).map_err(|e| fault(&e))?;
        let waiting = waiting(store, choice, progress.as_ref())?;
        text.push_str(&told(choice, progress.as_ref(), waiting, now, context.output.paint()));
        views.push(view(choice, progress.as_ref(), waiting));
    }
    if context.output.is_json() {
        context.output.say_json(&Whole { webhooks: views })?;
    } else if views.is_empty() {
        context.output.say("no webhooks: nobody is told anything\n");
    } else {
        context.output.say(&text);
    }
    Ok(Exit::Done)
}

/// How many events wait to be told.
fn waiting(store: &SqliteStore, choice: &WebhookChoice, progress: Option<&Progress>) -> Result<usize, Fault> {
    let Some(progress) = progress else { return Ok(0) };
    let events = store.events(progress.told).map_err(|e| store::fault(&e))?;
    let wanted = |kind: String| choice.events.iter().any(|wanted| wanted.as_str() == kind);
    Ok(events.iter().filter(|event| message::kind(event).is_some_and(wanted)).count())
}

fn view(choice: &WebhookChoice, progress: Option<&Progress>, waiting: usize) -> View {
    View {
        url: choice.address.shown(),
        events: choice.events.iter().map(|kind| kind.as_str()).collect(),
        secret_env: choice.secret_env.clone(),
        told: progress.map(|p| p.told),
        waiting,
        delivered: progress.map_or(0, |p| p.delivered),
        last: progress.and_then(|p| p.last).map(rfc3339),
        failing: progress.and_then(|p| p.failing.as_ref()).map(|failing| FailingView {
            seq: failing.seq,
            since: rfc3339(failing.since),
            attempts: failing.attempts,
            error: failing.error.clone(),
            next: rfc3339(failing.next),
        }),
        lost: progress.map_or(0, |p| p.lost),
        given_up: progress
            .map_or(&[][..], |p| &p.given_up)
            .iter()
            .map(|one| GivenUpView { seq: one.seq, at: rfc3339(one.at), error: one.error.clone() })
            .collect(),
    }
}

fn told(
    choice: &WebhookChoice,
    progress: Option<&Progress>,
    waiting: usize,
    now: Time,
    paint: Paint,
) -> String {
    let events: Vec<&str> = choice.events.iter().map(|kind| kind.as_str()).collect();
    let mut out = format!("{}\n", paint.strong(&visible(&choice.address.shown())));
    let mut label = |name: &str, words: &str| {
        let _ = writeln!(
            out,
            "  {}{}  {words}",
            paint.dim(name),
            " ".repeat(10_usize.saturating_sub(name.len()))
        );
    };
    label("events", &events.join(", "));
    let Some(progress) = progress else {
        label("told", "nothing yet: it begins with the next command that does something");
        return out;
    };
    let last = progress.last.map(|at| format!(", the last {}", relative(at, now))).unwrap_or_default();
    label("told", &format!("{}{last}", counted(progress.delivered)));
    match &progress.failing {
        Some(failing) => {
            let words = format!(
                "{} since {}: {} ({}), again {}",
                counted(waiting as u64),
                moment(failing.since, now),
                visible(&failing.error),
                attempts(failing.attempts),
                relative(failing.next, now)
            );
            label("waits", &paint.bad(&words));
        }
        None if waiting > 0 => label("waits", &counted(waiting as u64)),
        None => {}
    }
    if progress.lost > 0 {
        label("given up", &paint.bad(&counted(progress.lost)));
        for one in &progress.given_up {
            let words = format!("event {} at {}: {}", one.seq, moment(one.at, now), visible(&one.error));
            label("", &words);
        }
    }
    out
}

fn attempts(n: u32) -> String {
    if n == 1 { "1 attempt".to_owned() } else { format!("{n} attempts") }
}

fn counted(n: u64) -> String {
    if n == 1 { "1 event".to_owned() } else { format!("{n} events") }
}

/// Tells what there is, also what failed a moment ago, and ends.
fn deliver(store: &Arc<SqliteStore>, project: &Project, context: &Context) -> Result<Exit, Fault> {
    let mut exit = Exit::Done;
    for webhook in whole(project)? {
        let mut line = Line::open(&**store, webhook, &folder(project)).map_err(|e| fault(&e))?;
        line.hurry();
        let rest = loop {
            match line.turn(&**store, store.now(), u8::MAX).map_err(|e| fault(&e))? {
                Turn::Took(_) | Turn::GaveUp(_) => {}
                rest => break rest,
            }
        };
        match rest {
            Turn::Failed(..) | Turn::Waits(_) => exit = Exit::Server,
            Turn::Elsewhere => {
                let url = visible(&line.webhook().address().shown());
                context.output.remark(&format!("{url}: another process tells it\n"));
                exit = if exit == Exit::Done { Exit::Busy } else { exit };
            }
            Turn::Took(_) | Turn::GaveUp(_) | Turn::Idle => {}
        }
    }
    list(store, project, context)?;
    Ok(exit)
}

/// Tells whatever happens, until it is ended.
fn follow(store: &Arc<SqliteStore>, project: &Project, context: &Context) -> Result<Exit, Fault> {
    let courier = Courier::start(store, whole(project)?, &folder(project)).map_err(|e| fault(&e))?;
    context.output.remark("telling the webhooks of plangate.toml what happens, until this is ended\n");
    loop {
        std::thread::sleep(SAY);
        for error in courier.errors() {
            context.output.remark(&format!("webhooks: {error}\n"));
        }
    }
}
