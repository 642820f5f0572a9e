//! `plangate audit`: whether the log of everything that was decided and done is whole.

use plangate_approval::Storage as _;
use plangate_approval::audit::{AuditError, Head, HeadError, verify};
use serde::Serialize;

use crate::args::AuditArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::ledger::Ledger;
use crate::store;

/// Verifies the log, or prints its events.
pub(crate) fn audit(args: &AuditArgs, context: &Context) -> Result<Exit, Fault> {
    #[derive(Serialize)]
    struct Whole {
        ok: bool,
        events: u64,
        head: String,
    }
    let project = context.project()?;
    let store = store::open(&project)?;
    let since: Option<Head> = match &args.since {
        None => None,
        Some(text) => Some(text.parse().map_err(|e: HeadError| {
            Fault::new(Exit::Usage, "head", e.to_string()).help("`plangate audit` prints the head to note")
        })?),
    };
    if args.export {
        let mut ledger = Ledger::of(store::rows(&store, None)?);
        for event in store.events(0).map_err(|e| store::fault(&e))? {
            context.output.say_json(&ledger.line(&event))?;
        }
    }
    let head = verify(store.as_ref(), since.as_ref()).map_err(|e| match e {
        AuditError::Store(e) => store::fault(&e),
        AuditError::Broken(broken) => {
            Fault::new(Exit::Failed, "broken-log", format!("the log does not hold: {broken}"))
                .at(project.store.display().to_string())
                .help("the store was changed by something else than plangate; `plangate audit --export` prints what is there")
        }
    })?;
    if args.export {
        return Ok(Exit::Done);
    }
    if context.output.is_json() {
        context.output.say_json(&Whole { ok: true, events: head.seq, head: head.to_string() })?;
        return Ok(Exit::Done);
    }
    let paint = context.output.paint();
    let counted = if head.seq == 1 { "1 event".to_owned() } else { format!("{} events", head.seq) };
    let since = if since.is_some() { ", and nothing up to the noted head is gone or changed" } else { "" };
    context.output.say(&format!(
        "{} {counted}, each chained to the one before{since}\n  head {head}\n  {}\n",
        paint.good("✓"),
        paint.dim("note the head elsewhere: only then does --since show what somebody with access to the file changed")
    ));
    Ok(Exit::Done)
}
