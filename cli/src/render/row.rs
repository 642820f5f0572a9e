//! An approval: what would be called, with which arguments, why it is asked, until when.

use plangate_approval::{Outcome, Reconciled, Row, RowState, Time};
use plangate_graph::Value;
use plangate_graph::card::visible::visible;

use super::paint::Paint;
use super::put::Put as _;
use super::record::width as columns;
use super::time::{moment, relative};
use crate::store::short;

/// Where the words of a label begin.
const LABEL: usize = 12;
/// How many characters of arguments are shown where the whole can be asked for.
const SOME: usize = 4_000;

/// How much of the arguments is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arguments {
    /// All of them, whatever their size.
    All,
    /// The beginning, with a word on how much more there is.
    Some,
}

/// What waits, on a line: for lists.
pub(crate) fn line(row: &Row, now: Time, paint: Paint) -> String {
    let mark = mark(row.state, paint);
    let until = match row.state {
        RowState::Pending => format!("until {} ({})", moment(row.expires, now), relative(row.expires, now)),
        state => words(state).to_owned(),
    };
    let question = row.question.as_ref().map(|q| format!("   \"{}\"", visible(q))).unwrap_or_default();
    format!("{mark} {}  {}   {}{question}   {until}\n", paint.typed(short(&row.id.0)), step(row), what(row))
}

/// The whole of it.
pub(crate) fn whole(row: &Row, now: Time, arguments: Arguments, paint: Paint) -> String {
    let head = format!("{}  {}", short(&row.id.0), step(row));
    let mut out = format!("{} {}   {}\n", mark(row.state, paint), paint.strong(&head), what(row));
    if let Some(question) = &row.question {
        out.put(format_args!("  \"{}\"\n", visible(question)));
    }
    if let Some(call) = &row.call {
        out.push_str(&call_arguments(&call.args, arguments, paint));
    }
    let mut label = |name: &str, words: &str| out.push_str(&labelled(name, words, paint));
    for (i, reason) in row.reason.iter().enumerate() {
        label(if i == 0 { "why" } else { "" }, &visible(reason));
    }
    if let Some(origin) = row.call.as_ref().and_then(|c| c.origin.as_ref()) {
        label("server", &visible(origin));
    }
    if let Some(repeat) = row.terms.repeat {
        label("repeat", &repeat.words());
    }
    label("digest", &row.digest.to_string());
    for edit in &row.edits {
        let note = edit.note.as_ref().map(|n| format!(": {}", visible(n))).unwrap_or_default();
        let words =
            format!("by {} at {}{note}; before, it was", visible(&edit.by.to_string()), moment(edit.at, now));
        label("edited", &words);
        label("", &visible(&String::from_utf8_lossy(&edit.args)));
        label("", &edit.digest.to_string());
    }
    out.push_str(&story(row, now, paint));
    out
}

/// What became of the very same call before, a line each.
pub(crate) fn before(rows: &[Row], now: Time, paint: Paint) -> String {
    let mut out = String::new();
    for row in rows {
        let when = row.moment();
        let words = format!(
            "the very same call, in run {} at {} ({}): {}",
            short(&row.run.0),
            moment(when, now),
            relative(when, now),
            words(row.state)
        );
        out.push_str(&labelled("before", &words, paint));
    }
    out
}

/// Names and values, one a line, exactly as they are sent; a line end within a text begins a new line here, too.
pub(crate) fn call_arguments(args: &[u8], arguments: Arguments, paint: Paint) -> String {
    let Ok(Value::Object(members)) = Value::parse_bytes(args) else {
        // Bytes that are not an object are shown as what they are.
        return labelled("arguments", &visible(&String::from_utf8_lossy(args)), paint);
    };
    if members.is_empty() {
        return labelled("arguments", "none", paint);
    }
    let mut out = String::new();
    let width = members.iter().map(|(k, _)| k.chars().count()).max().unwrap_or(0).clamp(LABEL - 2, 24);
    for (name, value) in members.iter() {
        let lines = json_lines(&value.to_string(), arguments);
        for (i, line) in lines.iter().enumerate() {
            let name = if i == 0 { visible(name) } else { String::new() };
            out.put(format_args!(
                "  {}{}  {line}\n",
                paint.strong(&name),
                " ".repeat(width.saturating_sub(columns(&name)))
            ));
        }
    }
    out
}

/// JSON text in lines: after each escaped line end, another begins. What is hidden is escaped, what is cut is counted.
fn json_lines(json: &str, arguments: Arguments) -> Vec<String> {
    let total = json.chars().count();
    let cut = arguments == Arguments::Some && total > SOME;
    let shown: String = if cut { json.chars().take(SOME).collect() } else { json.to_owned() };
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut chars = shown.chars();
    while let Some(c) = chars.next() {
        line.push(c);
        if c == '\\'
            && let Some(escaped) = chars.next()
        {
            line.push(escaped);
            if escaped == 'n' {
                lines.push(visible(&std::mem::take(&mut line)));
            }
        }
    }
    lines.push(visible(&line));
    if cut {
        lines.push(format!("… [{SOME} of {total} characters shown; `plangate show` shows all]"));
    }
    lines
}

/// What happened to it so far, in the order in which it happened.
fn story(row: &Row, now: Time, paint: Paint) -> String {
    let at = |time: Option<Time>| time.map(|t| format!(" at {}", moment(t, now))).unwrap_or_default();
    let mut out =
        labelled("asked", &format!("{} for run {}", moment(row.created, now), short(&row.run.0)), paint);
    for shown in &row.shown {
        let edited = if shown.digest == row.digest { "" } else { " (before it was edited)" };
        let words = format!(
            "to {} by {} at {}{edited}",
            visible(&shown.to.to_string()),
            visible(&shown.surface),
            moment(shown.at, now)
        );
        out.push_str(&labelled("shown", &words, paint));
    }
    for vote in &row.votes {
        let word = if vote.yes { "yes" } else { "no" };
        let reason = vote.reason.as_ref().map(|r| format!(": {}", visible(r))).unwrap_or_default();
        let void = if row.counts(vote) { "" } else { " (void: what it was about was edited)" };
        let words = format!("by {} at {}{reason}{void}", visible(&vote.by.to_string()), moment(vote.at, now));
        out.push_str(&labelled(word, &words, paint));
    }
    if row.votes.is_empty()
        && let Some(by) = &row.decided_by
    {
        out.push_str(&labelled("decided", &format!("by {}{}", visible(by), at(row.decided_at)), paint));
    }
    if row.claimed_at.is_some() {
        out.push_str(&labelled("called", at(row.claimed_at).trim_start(), paint));
    }
    if let Some(outcome) = &row.outcome {
        out.push_str(&labelled("outcome", &outcome_words(outcome), paint));
    }
    if let Some(word) = &row.reconciled {
        let said = match &word.answer {
            Reconciled::Happened(_) => "it happened".to_owned(),
            Reconciled::DidNot => "it did not happen, and will not: it may be called once more".to_owned(),
            Reconciled::Unknown(why) => format!("it cannot tell: {}", visible(why)),
        };
        out.push_str(&labelled("host", &format!("{said} (at {})", moment(word.at, now)), paint));
    }
    if let Some(settled) = &row.settled {
        let word = if settled.happened { "it happened" } else { "it did not happen" };
        let note = settled.note.as_ref().map(|n| format!(": {}", visible(n))).unwrap_or_default();
        let words =
            format!("{word}, says {} at {}{note}", visible(&settled.by.to_string()), moment(settled.at, now));
        out.push_str(&labelled("settled", &words, paint));
    }
    let state = match row.state {
        RowState::Pending => {
            let yes = row.votes.iter().filter(|v| v.yes && row.counts(v)).count();
            let quorum = if row.terms.quorum > 1 {
                format!(", {yes} of {} yes", row.terms.quorum)
            } else {
                String::new()
            };
            format!("waits until {} ({}){quorum}", moment(row.expires, now), relative(row.expires, now))
        }
        RowState::Expired => format!("expired {}; nothing was run", moment(row.expires, now)),
        state => words(state).to_owned(),
    };
    out.push_str(&labelled("now", &state, paint));
    out
}

/// What came of a call, in words.
pub(crate) fn outcome_words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ok(value) => format!("ok: {}", plangate_graph::card::visible::shortened(&value.to_string())),
        Outcome::Failed(reason) => format!("failed: {}", visible(reason)),
        Outcome::NotSent(reason) => format!("not sent: {}", visible(reason)),
        Outcome::Unknown(reason) => format!("unknown: {}", visible(reason)),
    }
}

/// A state, in words.
pub(crate) fn words(state: RowState) -> &'static str {
    match state {
        RowState::Pending => "waits for an answer",
        RowState::Approved => "approved, not called yet",
        RowState::Claimed => "being called",
        RowState::Succeeded => "called, and it succeeded",
        RowState::Failed => "called, and it failed",
        RowState::Uncertain => "called, and nobody knows what came of it: settle it",
        RowState::Happened => "settled: it happened",
        RowState::DidNot => "settled: it did not happen",
        RowState::Answered => "answered yes",
        RowState::Rejected => "rejected; nothing was run",
        RowState::Cancelled => "cancelled with its run; nothing was run",
        RowState::Expired => "expired; nothing was run",
    }
}

/// The step that an approval is about: the id of its call, or of the question.
pub(crate) fn step(row: &Row) -> String {
    visible(row.call.as_ref().map_or(row.node.as_str(), |call| call.node.as_str()))
}

fn what(row: &Row) -> String {
    row.call
        .as_ref()
        .map_or_else(|| "a question".to_owned(), |c| visible(&format!("{}·{}", c.server, c.tool)))
}

fn mark(state: RowState, paint: Paint) -> String {
    match state {
        RowState::Pending => paint.wait("⏸"),
        RowState::Uncertain => paint.bad("?"),
        RowState::Approved | RowState::Claimed => paint.wait("▶"),
        RowState::Succeeded | RowState::Happened | RowState::Answered => paint.good("✓"),
        RowState::Failed | RowState::Rejected => paint.bad("✗"),
        RowState::DidNot | RowState::Cancelled | RowState::Expired => paint.dim("–"),
    }
}

fn labelled(name: &str, words: &str, paint: Paint) -> String {
    format!("  {}{}  {words}\n", paint.dim(name), " ".repeat((LABEL - 2).saturating_sub(columns(name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(args: &str, arguments: Arguments) -> String {
        call_arguments(args.as_bytes(), arguments, Paint::plain())
    }

    #[test]
    fn arguments_are_exact_and_nothing_in_them_hides() {
        assert_eq!(
            shown("{\"amount\":1.10,\"text\":\"two\\nlines \\\\n \u{202e}x\"}", Arguments::All),
            "  amount      1.10\n  text        \"two\\n\n              lines \\\\n \\u{202e}x\"\n"
        );
        assert_eq!(shown("{}", Arguments::All), "  arguments   none\n");
    }

    /// A tail of 5 KB, text that turns the direction, hides or moves the cursor, and numbers that a float would change.
    #[test]
    fn hostile_arguments_are_shown_whole_and_escaped() {
        let tail = format!("ok{}{}", " ".repeat(5_000), "AND PAY MALLORY");
        let hostile =
            "\u{202e}\u{2066}\u{200b}\u{200d}\u{feff}\u{2028}\u{85}\u{1b}[2J\u{1b}[31m\r\u{8}\u{e0041}";
        let text = |text: &str| Value::from(text).to_string();
        let numbers = "[9007199254740993,12345678901234567890123,1,1.0,1.10,1e2,-0,0.1e-7]";
        let args = format!(
            r#"{{"numbers":{numbers},"tail":{},"hostile":{},{}:"a name that hides"}}"#,
            text(&tail),
            text(hostile),
            text(hostile)
        );
        let all = shown(&args, Arguments::All);
        assert!(all.contains(&tail), "nothing is cut");
        assert!(all.contains(numbers), "{all}");
        for c in all.chars().filter(|c| *c != '\n') {
            assert!(!plangate_graph::card::visible::is_hidden(c), "{:x} reaches the screen", u32::from(c));
        }
        let escaped = r"\u{202e}\u{2066}\u{200b}\u{200d}\u{feff}\u{2028}\u{85}";
        assert_eq!(all.matches(escaped).count(), 2, "in the name and in the value: {all}");
        let some = shown(&args, Arguments::Some);
        assert!(
            some.contains("characters shown; `plangate show` shows all]"),
            "the tail is announced: {some}"
        );
    }

    #[test]
    fn what_is_cut_is_counted_and_only_where_all_can_be_asked_for() {
        let long = format!("{{\"text\":\"{}\"}}", "y".repeat(5_000));
        assert!(
            shown(&long, Arguments::Some)
                .ends_with("… [4000 of 5002 characters shown; `plangate show` shows all]\n")
        );
        assert_eq!(shown(&long, Arguments::All).matches('y').count(), 5_000);
    }
}
