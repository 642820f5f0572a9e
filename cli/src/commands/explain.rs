//! `plangate explain`: what a code means.

use serde::Serialize;

use crate::args::ExplainArgs;
use crate::context::Context;
use crate::exit::Exit;
use crate::explain;
use crate::fault::Fault;
use crate::nearest::nearest;

/// Prints the entry of a code, or all codes with their titles.
pub(crate) fn explain(args: &ExplainArgs, context: &Context) -> Result<Exit, Fault> {
    match &args.code {
        None => all(context),
        Some(code) => one(code.trim(), context),
    }
}

fn all(context: &Context) -> Result<Exit, Fault> {
    #[derive(Serialize)]
    struct Code {
        code: &'static str,
        title: &'static str,
    }
    let codes = explain::codes();
    if context.output.is_json() {
        let codes: Vec<Code> = codes.into_iter().map(|(code, title)| Code { code, title }).collect();
        context.output.say_json(&codes)?;
        return Ok(Exit::Done);
    }
    let width = codes.iter().map(|(code, _)| code.len()).max().unwrap_or(0);
    let lines: Vec<String> = codes.iter().map(|(code, title)| format!("{code:width$}  {title}")).collect();
    context.output.say(&format!("{}\n", lines.join("\n")));
    Ok(Exit::Done)
}

fn one(code: &str, context: &Context) -> Result<Exit, Fault> {
    #[derive(Serialize)]
    struct Entry<'a> {
        code: &'a str,
        markdown: &'a str,
    }
    let Some(entry) = explain::explain(code) else {
        let known = explain::codes();
        let meant = nearest(code, known.iter().map(|(code, _)| *code));
        let help = match meant {
            Some(meant) => format!("did you mean {meant}? `plangate explain` lists all of them"),
            None => "`plangate explain` lists all of them".to_owned(),
        };
        return Err(Fault::new(Exit::NotFound, "no-code", format!("there is no code {code:?}")).help(help));
    };
    let markdown = entry.trim_start_matches("## ");
    if context.output.is_json() {
        context.output.say_json(&Entry { code, markdown })?;
        return Ok(Exit::Done);
    }
    let (title, body) = markdown.split_once('\n').unwrap_or((markdown, ""));
    context.output.say(&format!("{}\n{body}\n", context.output.paint().strong(title)));
    Ok(Exit::Done)
}
