//! The card, coloured.

use super::paint::Paint;

/// The card's text with what matters brought out: headings, and where it stops.
pub(crate) fn coloured(text: &str, paint: Paint) -> String {
    if !paint.is_on() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() * 2);
    for line in text.lines() {
        out.push_str(&of_line(line, paint));
        out.push('\n');
    }
    out
}

fn of_line(line: &str, paint: Paint) -> String {
    if line.starts_with('⏸') || line.starts_with("warning[") || line.starts_with("It stops") {
        return paint.wait(line);
    }
    if line.contains("so this will stop and ask before running it") {
        return paint.wait(line);
    }
    if line.starts_with("note[") || line.starts_with("  help:") {
        return paint.dim(line);
    }
    // Steps and what belongs to them are indented; what is not is a heading.
    if !line.starts_with(' ') && !line.is_empty() {
        return match line.split_once(" — ") {
            Some((name, words)) => format!("{} {}", paint.strong(name), paint.dim(&format!("— {words}"))),
            None => paint.strong(line),
        };
    }
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colours_nothing_changes() {
        let text = "together\n  a   x·y\n⏸ b   z·send\n";
        assert_eq!(coloured(text, Paint::plain()), text);
        let bright = coloured(text, Paint::new(true));
        assert_eq!(bright, "\u{1b}[1mtogether\u{1b}[0m\n  a   x·y\n\u{1b}[1;33m⏸ b   z·send\u{1b}[0m\n");
    }
}
