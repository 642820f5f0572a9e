//! What stops a command: what is wrong, where, and what to do next. One style for all of them.

use plangate_graph::Value;
use plangate_graph::card::visible::visible;
use serde::Serialize;

use crate::exit::Exit;
use crate::render::paint::Paint;
use crate::render::put::Put as _;

/// Something that stops a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Fault {
    /// A stable word for programs, for instance `store` or `unknown-server`.
    pub(crate) code: &'static str,
    /// What is wrong, in one sentence.
    pub(crate) message: Box<str>,
    /// Where: a file, a setting, a step.
    pub(crate) place: Option<Box<str>>,
    /// More that is known, a line each.
    pub(crate) details: Vec<String>,
    /// What to do next.
    pub(crate) help: Option<Box<str>>,
    /// The exit status.
    #[serde(serialize_with = "status")]
    pub(crate) exit: Exit,
    /// What it sums up.
    #[serde(flatten)]
    about: Option<Box<About>>,
}

/// What is wrong with a recipe or plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct About {
    /// For programs.
    diagnostics: Value,
    /// For people; stands above the fault.
    #[serde(skip)]
    drawn: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde takes")]
fn status<S: serde::Serializer>(exit: &Exit, s: S) -> Result<S::Ok, S::Error> {
    s.serialize_u8(exit.status())
}

impl Fault {
    /// A fault without place, details and help.
    pub(crate) fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Fault {
        Fault {
            code,
            message: message.into().into_boxed_str(),
            place: None,
            details: Vec::new(),
            help: None,
            exit,
            about: None,
        }
    }

    /// Where it is.
    pub(crate) fn at(mut self, place: impl Into<String>) -> Fault {
        self.place = Some(place.into().into_boxed_str());
        self
    }

    /// What else is known; a text of several lines is several details.
    pub(crate) fn detail(mut self, text: impl AsRef<str>) -> Fault {
        self.details.extend(text.as_ref().lines().map(str::to_owned));
        self
    }

    /// What to do next.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Fault {
        self.help = Some(help.into().into_boxed_str());
        self
    }

    /// With the diagnostics that it sums up, drawn and as JSON.
    pub(crate) fn about(mut self, drawn: String, diagnostics: Value) -> Fault {
        self.about = Some(Box::new(About { diagnostics, drawn }));
        self
    }

    /// For people; ends with a line end.
    pub(crate) fn to_text(&self, paint: Paint) -> String {
        let mut lines = self.message.lines();
        let mut out = self.about.as_ref().map(|about| about.drawn.clone()).unwrap_or_default();
        out.put(format_args!("{}: {}\n", paint.bad("error"), visible(lines.next().unwrap_or_default())));
        let rest = lines.map(|l| format!("  {}\n", visible(l)));
        out.extend(rest);
        if let Some(place) = &self.place {
            out.put(format_args!("  {} {}\n", paint.dim("at"), visible(place)));
        }
        out.extend(self.details.iter().map(|l| format!("  {} {}\n", paint.dim("|"), visible(l))));
        if let Some(help) = &self.help {
            let mut lines = help.lines();
            out.put(format_args!("  {} {}\n", paint.good("help:"), lines.next().unwrap_or_default()));
            out.extend(lines.map(|l| format!("        {l}\n")));
        }
        out
    }

    /// For programs: one line.
    pub(crate) fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct Whole<'a> {
            error: &'a Fault,
        }
        // Texts and a number: nothing in it can fail to serialise.
        serde_json::to_string(&Whole { error: self }).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault() -> Fault {
        Fault::new(Exit::Server, "server", "the server `gmail` ended (exit status 1)")
            .at(".mcp.json")
            .detail("tried: npx gmail-mcp\nno \x1b[31mtoken")
            .help("set GMAIL_TOKEN")
    }

    #[test]
    fn says_what_where_and_what_next() {
        assert_eq!(
            fault().to_text(Paint::plain()),
            "error: the server `gmail` ended (exit status 1)\n  at .mcp.json\n  | tried: npx gmail-mcp\n  | no \
             \\u{1b}[31mtoken\n  help: set GMAIL_TOKEN\n"
        );
    }

    #[test]
    fn says_the_same_as_json() {
        assert_eq!(
            fault().to_json(),
            r#"{"error":{"code":"server","message":"the server `gmail` ended (exit status 1)","place":".mcp.json","details":["tried: npx gmail-mcp","no \u001b[31mtoken"],"help":"set GMAIL_TOKEN","exit":69}}"#
        );
    }
}
