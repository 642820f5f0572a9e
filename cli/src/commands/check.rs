//! `plangate check`: what is wrong with a file.

use plangate_graph::Value;
use serde::Serialize;

use crate::args::{AuthorArg, CheckArgs};
use crate::context::Context;
use crate::document::Document;
use crate::exit::Exit;
use crate::fault::Fault;
use crate::prepare::{Against, Stopped, prepare};
use crate::rules;

/// Prints diagnostics and nothing else.
pub(crate) fn check(args: &CheckArgs, context: &Context) -> Result<Exit, Fault> {
    #[derive(Serialize)]
    struct Checked<'a> {
        file: &'a str,
        ok: bool,
        diagnostics: Value,
    }
    let document = Document::read(&args.source.file)?;
    let project = context.project_of(&document)?;
    let against = Against {
        project: &project,
        catalog: args.catalog.as_deref(),
        also: None,
        author: args.source.author.map(Into::into),
    };
    let (ok, findings) = match prepare(&document, against, &context.output) {
        Ok(prepared) => {
            rules::remark(&prepared.void, &context.output);
            (true, prepared.findings)
        }
        Err(Stopped::Refused(findings)) => (false, findings),
        Err(Stopped::Fault(fault)) => return Err(fault),
    };
    let exit = if ok { Exit::Done } else { Exit::Refused };
    if context.output.is_json() {
        let diagnostics = findings.to_json()?;
        context.output.say_json(&Checked { file: &document.name, ok, diagnostics })?;
        return Ok(exit);
    }
    let drawn = findings.drawn(&document, context.output.paint());
    context
        .output
        .say(&format!("{drawn}{}\n", summary(&document.name, findings.count(), args.source.author)));
    Ok(exit)
}

fn summary(name: &str, (errors, warnings): (usize, usize), author: Option<AuthorArg>) -> String {
    let count = |n: usize, word: &str| if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") };
    let by = if author == Some(AuthorArg::Model) { ", as written by a model" } else { "" };
    match (errors, warnings) {
        (0, 0) => format!("{name}: nothing wrong{by}"),
        (0, w) => format!("{name}: {}{by}", count(w, "warning")),
        (e, 0) => format!("{name}: {}{by}", count(e, "error")),
        (e, w) => format!("{name}: {}, {}{by}", count(e, "error"), count(w, "warning")),
    }
}
