//! Arguments that name a file whose content the tool takes: a file to upload, to attach, to run.
//!
//! What is approved then is the path. What the file holds when the call is made may be something else than what it held
//! when somebody looked, and nothing here can know it: the file may lie where only the server sees it. So it is said.
//! Whether an argument is of this sort is told by its name, by what its schema says of it, and by the tool's name. Where
//! the content stands in the arguments itself, as for `write_file`, it is approved with them and there is nothing to say.

use std::collections::BTreeSet;

use crate::catalog::Definition;
use crate::effect::split;
use crate::template::{Template, source_text};
use crate::value::Value;

/// What an approval of such an argument is about.
pub const PATH_ONLY: &str = "path only: what the file holds is not part of what is approved";

/// Words that an argument ends with which names a file.
const FILE: [&str; 8] = ["file", "files", "path", "paths", "filename", "filenames", "filepath", "filepaths"];
/// Words before these that say nothing of what the file is for.
const PLAIN: [&str; 12] = [
    "file", "path", "filename", "filepath", "local", "absolute", "abs", "full", "relative", "disk", "the",
    "on",
];
/// Words before these that say that it is taken from.
const TAKEN: [&str; 36] = [
    "input",
    "source",
    "src",
    "from",
    "upload",
    "attach",
    "attached",
    "attachment",
    "attachments",
    "media",
    "image",
    "images",
    "photo",
    "photos",
    "picture",
    "video",
    "audio",
    "voice",
    "document",
    "doc",
    "script",
    "template",
    "values",
    "patch",
    "manifest",
    "query",
    "queries",
    "data",
    "csv",
    "json",
    "pdf",
    "html",
    "zip",
    "archive",
    "notebook",
    "body",
];
/// Words that say that it is written to, or is an address of something else.
const WRITTEN: [&str; 14] = [
    "output",
    "out",
    "save",
    "destination",
    "dest",
    "target",
    "to",
    "export",
    "download",
    "write",
    "result",
    "results",
    "log",
    "url",
];
/// Arguments that are files to be sent along, by themselves.
const ATTACHED: [&str; 2] = ["attachment", "attachments"];
/// Verbs of tools that take what a file holds.
const TAKES: [&str; 22] = [
    "upload",
    "send",
    "attach",
    "share",
    "publish",
    "import",
    "ingest",
    "run",
    "execute",
    "exec",
    "eval",
    "apply",
    "install",
    "load",
    "print",
    "play",
    "submit",
    "deploy",
    "restore",
    "transcribe",
    "sign",
    "fax",
];
/// Verbs of tools for which a file is a name, whatever it holds; and words of tools whose paths are none of a file.
const NAMES_ONLY: [&str; 14] = [
    "move", "mv", "rename", "delete", "remove", "rm", "unlink", "trash", "mkdir", "request", "http", "api",
    "endpoint", "route",
];
/// Verbs of tools that write a file, and arguments that hold what is written.
const WRITES: [&str; 8] = ["write", "create", "edit", "update", "save", "append", "put", "new"];
const CONTENT: [&str; 6] = ["content", "contents", "base64", "bytes", "blob", "edits"];
const WHOLE_CONTENT: [&str; 5] = ["data", "text", "body", "code", "source"];

/// How the name of an argument speaks of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    /// It is taken from.
    Taken,
    /// It is a file; the tool says what for.
    Plain,
}

/// The arguments by name, as they stand at the top, which name a file whose content the tool takes; sorted. Of what is not
/// known yet its name alone counts. Linear in the arguments.
pub fn by_path(definition: &Definition, args: &Template) -> Vec<String> {
    let tool = split(&definition.name);
    let is = |words: &[&str]| tool.iter().any(|word| words.contains(&word.as_str()));
    if is(&NAMES_ONLY) {
        return Vec::new();
    }
    let (takes, writes) = (is(&TAKES), is(&WRITES));
    let mut found = BTreeSet::new();
    let mut todo = vec![Place { top: None, part: Part::of(args), attached: false }];
    while let Some(Place { top, part, attached }) = todo.pop() {
        let members = part.members();
        let holds_content = members.iter().any(|(name, _)| is_content(name));
        for (name, part) in members {
            let words = split(name);
            let attaches = words.last().is_some_and(|last| ATTACHED.contains(&last.as_str()));
            let named = if attaches { Some(Named::Taken) } else { named(&words) };
            let plain = || (top.is_none() && described(definition, name)).then_some(Named::Plain);
            let taken = match named.or_else(plain) {
                Some(Named::Taken) => !(writes && holds_content),
                Some(Named::Plain) => (takes || attached) && !holds_content,
                None => false,
            };
            let top = top.unwrap_or(name);
            if taken && (part.is_local() || part.items().iter().any(Part::is_local)) {
                found.insert(top.to_owned());
            }
            todo.push(Place { top: Some(top), part, attached: attached || attaches });
        }
        todo.extend(part.items().into_iter().map(|part| Place { top, part, attached }));
    }
    found.into_iter().collect()
}

/// A part of the arguments that is to be looked at.
struct Place<'a> {
    /// The argument that it belongs to.
    top: Option<&'a str>,
    part: Part<'a>,
    /// It is what something is sent along with.
    attached: bool,
}

/// A part of the arguments: made of references, or literal.
#[derive(Clone, Copy)]
enum Part<'a> {
    Made(&'a Template),
    Literal(&'a Value),
}

impl<'a> Part<'a> {
    fn of(template: &'a Template) -> Part<'a> {
        match template {
            Template::Lit(value) => Part::Literal(value),
            made => Part::Made(made),
        }
    }

    fn members(self) -> Vec<(&'a str, Part<'a>)> {
        match self {
            Part::Made(Template::Object(members)) => {
                members.iter().map(|(name, of)| (name.as_str(), Part::of(of))).collect()
            }
            Part::Literal(Value::Object(members)) => {
                members.iter().map(|(name, of)| (name, Part::Literal(of))).collect()
            }
            _ => Vec::new(),
        }
    }

    fn items(self) -> Vec<Part<'a>> {
        match self {
            Part::Made(Template::List(items)) => items.iter().map(Part::of).collect(),
            Part::Literal(Value::List(items)) => items.iter().map(Part::Literal).collect(),
            _ => Vec::new(),
        }
    }

    /// Text that may be the path of a file: no address, and not nothing.
    fn is_local(&self) -> bool {
        match self {
            Part::Literal(Value::Text(text)) => may_be_a_path(text),
            Part::Made(Template::Text(parts)) => may_be_a_path(&source_text(parts)),
            Part::Made(Template::Ref(_)) => true,
            _ => false,
        }
    }
}

fn may_be_a_path(text: &str) -> bool {
    let scheme = text.split_once(':').map(|(scheme, _)| scheme.to_lowercase());
    !text.trim().is_empty() && !scheme.is_some_and(|s| ["http", "https", "data", "ftp"].contains(&s.as_str()))
}

/// What is said of a call where it is asked: nothing, or a sentence with its code.
pub fn path_only(definition: &Definition, args: &Template) -> Option<String> {
    let names = by_path(definition, args);
    let arguments = if names.len() == 1 { "argument" } else { "arguments" };
    (!names.is_empty()).then(|| format!("{PATH_ONLY} ({arguments} {}, path-only)", names.join(", ")))
}

fn named(words: &[String]) -> Option<Named> {
    // file_name, fileNames
    let words = match words {
        [before @ .., last] if matches!(last.as_str(), "name" | "names") && before.last()? == "file" => {
            before
        }
        words => words,
    };
    let (last, before) = words.split_last()?;
    let any = |of: &[&str]| before.iter().any(|word| of.contains(&word.as_str()));
    if !FILE.contains(&last.as_str()) || any(&WRITTEN) {
        return None;
    }
    if any(&TAKEN) {
        return Some(Named::Taken);
    }
    before.iter().all(|word| PLAIN.contains(&word.as_str())).then_some(Named::Plain)
}

/// Whether the schema says of an argument that it is the path of a file.
fn described(definition: &Definition, name: &str) -> bool {
    let words = definition
        .input_schema
        .member("properties")
        .and_then(|properties| properties.member(name)?.member("description")?.text())
        .unwrap_or_default()
        .to_lowercase();
    ["path to the file", "path of the file", "path to a file", "path to a local file", "file to upload"]
        .iter()
        .any(|phrase| words.contains(phrase))
        && !split(name).iter().any(|word| WRITTEN.contains(&word.as_str()))
}

fn is_content(name: &str) -> bool {
    let words = split(name);
    words.iter().any(|word| CONTENT.contains(&word.as_str()))
        || matches!(words.as_slice(), [one] if WHOLE_CONTENT.contains(&one.as_str()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]
    use super::*;

    fn of(tool: &str, args: &str) -> Vec<String> {
        described_as(tool, "{}", args)
    }

    fn described_as(tool: &str, properties: &str, args: &str) -> Vec<String> {
        let text =
            format!(r#"{{"name":"{tool}","inputSchema":{{"type":"object","properties":{properties}}}}}"#);
        let definition = Definition::from_json(&Value::parse(&text).unwrap(), "t").unwrap();
        by_path(&definition, &Template::Lit(Value::parse(args).unwrap()))
    }

    #[test]
    fn what_takes_a_file_is_told() {
        for (tool, args, names) in [
            ("upload_file", r#"{"path":"/tmp/a.pdf"}"#, &["path"][..]),
            ("sendFile", r#"{"recipient":"x","filePath":"a.pdf"}"#, &["filePath"]),
            ("send_mail", r#"{"body":"hi","attachments":["a.pdf"]}"#, &["attachments"]),
            ("send_mail", r#"{"body":"hi","content":"hi","attachment_path":"a.pdf"}"#, &["attachment_path"]),
            ("send_mail", r#"{"attachments":[{"path":"a.pdf","name":"A"}]}"#, &["attachments"]),
            ("send_audio_message", r#"{"recipient":"x","media_path":"a.ogg"}"#, &["media_path"]),
            ("RUN_SCRIPT", r#"{"script_path":"deploy.sh"}"#, &["script_path"]),
            ("execute", r#"{"file":"deploy.sh"}"#, &["file"]),
            ("kubectl_apply", r#"{"filename":"a.yaml"}"#, &["filename"]),
            ("install_helm_chart", r#"{"name":"n","valuesFile":"v.yaml"}"#, &["valuesFile"]),
            ("generate_model", r#"{"input_image_paths":["a.png"]}"#, &["input_image_paths"]),
            ("upload", r#"{"b":{"files":["x"]},"a":{"list":[{"file":"y"}]}}"#, &["a", "b"]),
        ] {
            assert_eq!(of(tool, args), names, "{tool} {args}");
        }
        let said = r#"{"what":{"type":"string","description":"Absolute path to the file"}}"#;
        assert_eq!(described_as("upload", said, r#"{"what":"a.pdf"}"#), ["what"]);
    }

    #[test]
    fn where_the_content_is_there_or_does_not_count_nothing_is_told() {
        for (tool, args) in [
            ("write_file", r#"{"path":"a.txt","content":"x"}"#),
            ("create_script", r#"{"script_path":"a.sh","contents":"x"}"#),
            ("edit_file", r#"{"path":"a.txt","edits":[]}"#),
            ("delete_file", r#"{"path":"a.txt"}"#),
            ("move_file", r#"{"source_path":"a","destination_path":"b"}"#),
            ("create_directory", r#"{"path":"a"}"#),
            ("upload_file", r#"{"path":"a.txt","content_base64":"eA=="}"#),
            ("push_files", r#"{"files":[{"path":"a","content":"x"}]}"#),
            ("send_mail", r#"{"attachments":[{"filename":"a.txt","content":"x"}]}"#),
            ("send_mail", r#"{"attachments":[],"body":"x"}"#),
            ("upload_file", r#"{"path":""}"#),
            ("upload_file", r#"{"path":"https://example.com/a.pdf"}"#),
            ("run_report", r#"{"output_file":"a.txt"}"#),
            ("send_request", r#"{"path":"/v1/x"}"#),
            ("add_review_comment", r#"{"path":"a.rs","body":"x"}"#),
            ("deploy", r#"{"workspacePath":"a"}"#),
            ("send_message", r#"{"attachment_id":"7","path":{"message_id":"1"}}"#),
            ("send_message", r#""no object""#),
        ] {
            assert_eq!(of(tool, args), Vec::<String>::new(), "{tool} {args}");
        }
    }
}
