//! The card as HTML, for pages that show it: a fragment without script, style or links.

use std::fmt::Write as _;

use super::text::{after_words, arg_words, heading, input_words};
use super::{Card, Line, What};
use crate::problem::Severity;

impl Card {
    /// An `<article>`. All text is escaped; classes (`plangate-card`, `stop`, `warning`, `note`) are for a host's style.
    pub fn to_html(&self) -> String {
        let mut out =
            String::from("<article class=\"plangate-card\">\n<h3>Here&#39;s how I&#39;d run that</h3>\n");
        if !self.inputs.is_empty() {
            let inputs = self.inputs.iter().map(|input| element("li", &input_words(input)));
            let _ = writeln!(out, "<ul class=\"inputs\">{}</ul>", inputs.collect::<String>());
        }
        for group in &self.groups {
            let _ = writeln!(out, "<section>\n{}\n<ul>", element("h4", &heading(group)));
            for line in &group.lines {
                write_line(&mut out, line);
            }
            out.push_str("</ul>\n</section>\n");
        }
        let _ = writeln!(out, "{}", element("p", &self.stops_words()));
        for note in &self.notes {
            let class = if note.severity == Severity::Warning { "warning" } else { "note" };
            let help = note.help.as_ref().map(|help| format!(" {}", escaped(help))).unwrap_or_default();
            let (code, message) = (escaped(&note.code), escaped(&note.message));
            let _ = writeln!(out, "<p class=\"{class}\">{class} {code}: {message}{help}</p>");
        }
        out.push_str("</article>\n");
        out
    }
}

fn write_line(out: &mut String, line: &Line) {
    let asks = line.stop.is_some() || matches!(line.what, What::Question { .. });
    let (class, mark) = if asks { (" class=\"stop\"", "⏸ ") } else { ("", "") };
    let _ = write!(out, "<li{class}>{mark}");
    let mut more: Vec<String> = Vec::new();
    match &line.what {
        What::Call { server, tool, args, why, effect, contradiction } => {
            let call = format!("{server}·{tool}");
            let _ = write!(out, "{} {}", element("strong", &line.id), element("code", &call));
            let first = why.first().map(String::as_str).unwrap_or_default();
            if let Some(stop) = &line.stop {
                more.push(format!("{}, so this will stop and ask before running it ({first})", stop.why));
                more.extend(stop.question.iter().map(|question| format!("“{question}”")));
                if !stop.also_stops.is_empty() {
                    more.push(format!("a no also stops {}", stop.also_stops.join(", ")));
                }
            } else if effect.changes() {
                more.push(format!("changes something outside, and the policy lets it through ({first})"));
            }
            if *contradiction {
                more.push("its server says it only reads; that is not believed".to_owned());
            }
            more.extend(args.iter().map(|arg| arg_words(arg, line.stop.is_some())));
        }
        What::Written { from, instruction } => {
            let _ = write!(out, "{} written", element("strong", &line.id));
            if !from.is_empty() {
                let _ = write!(out, " from {}", escaped(&from.join(", ")));
            }
            more.push(format!("“{instruction}”"));
        }
        What::Question { text, guards } => {
            let end = if *guards { "stops and asks" } else { "stops, records the answer and ends" };
            let _ = write!(out, "{} {end}", element("strong", text));
        }
        What::Check { text } => {
            let _ = write!(out, "if {}", element("code", text));
        }
    }
    more.extend(after_words(line));
    if line.moved {
        more.push("typed below, but starts at once".to_owned());
    }
    more.extend(line.settings.iter().cloned());
    if !more.is_empty() {
        let items: String = more.iter().map(|words| element("li", words)).collect();
        let _ = write!(out, "<ul>{items}</ul>");
    }
    out.push_str("</li>\n");
}

fn element(name: &str, text: &str) -> String {
    format!("<{name}>{}</{name}>", escaped(text))
}

/// Text that no page takes for markup, in an element or in a quoted attribute.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_becomes_markup() {
        assert_eq!(escaped("<b a='x'>&\""), "&lt;b a=&#39;x&#39;&gt;&amp;&quot;");
    }
}
