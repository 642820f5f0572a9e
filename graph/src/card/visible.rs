//! Text as it may be shown: nothing in it can move the cursor, turn the direction of reading, or hide.

use std::fmt::Write as _;

/// How many characters of one value are shown before the rest is counted.
pub const SHOWN: usize = 400;

/// Whether a character must not reach a screen as it is: controls, direction changes, zero-width and other invisible ones.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// The text with every hidden character written as `\u{…}` (`\n`, `\t` and `\r` by their short names).
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_hidden(c) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

/// As [`visible`], and no longer than [`SHOWN`] characters; what is cut is counted, so that nobody takes the part for the whole.
pub fn shortened(text: &str) -> String {
    let total = text.chars().count();
    if total <= SHOWN {
        return visible(text);
    }
    let head: String = text.chars().take(SHOWN).collect();
    format!("{}… [{SHOWN} of {total} characters shown]", visible(&head))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hidden_reaches_the_screen() {
        assert_eq!(visible("a\u{202e}b\u{200b}c\x1b[31m\n"), "a\\u{202e}b\\u{200b}c\\u{1b}[31m\\n");
        assert_eq!(visible("Grüße, 世界 🙂"), "Grüße, 世界 🙂");
    }

    #[test]
    fn what_is_cut_is_counted() {
        let long = "x".repeat(5_000);
        assert!(shortened(&long).ends_with("… [400 of 5000 characters shown]"));
        assert_eq!(shortened("short"), "short");
    }
}
