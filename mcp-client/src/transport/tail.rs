//! What a server said besides its messages: the last lines on its standard error, and noise on its standard output.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::lines::{Line, Lines};
use super::pump::{End, Pump};

/// Lines that are kept.
const KEPT: usize = 20;

/// Characters of a line that are kept.
const WIDTH: usize = 400;

/// The last words of a server; shared by who reads and who reports.
#[derive(Debug, Default)]
pub(crate) struct Tail(Mutex<Said>);

#[derive(Debug, Default)]
struct Said {
    stderr: VecDeque<String>,
    noise: Option<(u64, String)>,
}

impl Tail {
    /// The last lines on standard error, oldest first.
    pub(crate) fn stderr(&self) -> Vec<String> {
        self.said().stderr.iter().cloned().collect()
    }

    /// How many lines on standard output were no messages, and the last of them.
    pub(crate) fn noise(&self) -> Option<(u64, String)> {
        self.said().noise.clone()
    }

    /// Counts a line on standard output that is no message.
    pub(crate) fn heard_noise(&self, line: &[u8]) {
        let mut said = self.said();
        let count = said.noise.as_ref().map_or(0, |(count, _)| *count);
        said.noise = Some((count + 1, printable(line)));
    }

    /// Reads standard error to its end, so that the server never has to wait for a reader.
    pub(crate) async fn listen(&self, mut stderr: Pump) -> Option<End> {
        let mut lines = Lines::new(4 * WIDTH);
        while let Some(bytes) = stderr.bytes().await {
            lines.push(bytes).into_iter().for_each(|line| self.heard(&line));
        }
        lines.finish().iter().for_each(|line| self.heard(line));
        stderr.end()
    }

    fn heard(&self, line: &Line) {
        let (Line::Whole(line) | Line::TooLong(line)) = line;
        let mut said = self.said();
        if said.stderr.len() == KEPT {
            said.stderr.pop_front();
        }
        said.stderr.push_back(printable(line));
    }

    fn said(&self) -> std::sync::MutexGuard<'_, Said> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The line as text that moves no cursor and hides nothing: control and direction-changing characters are escaped.
fn printable(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end();
    let mut shown = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == WIDTH {
            shown.push('…');
            break;
        }
        match c {
            '\t' => shown.push(' '),
            '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {
                shown.extend(c.escape_unicode());
            }
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept() {
        let tail = Tail::default();
        for i in 0..50 {
            tail.heard(&Line::Whole(format!("line {i}\r").into_bytes()));
        }
        let stderr = tail.stderr();
        assert_eq!(stderr.len(), KEPT);
        assert_eq!(stderr.first().map(String::as_str), Some("line 30"));
        assert_eq!(stderr.last().map(String::as_str), Some("line 49"));
    }

    #[test]
    fn noise_is_counted() {
        let tail = Tail::default();
        assert_eq!(tail.noise(), None);
        tail.heard_noise(b"one");
        tail.heard_noise(b"two");
        assert_eq!(tail.noise(), Some((2, "two".to_owned())));
    }

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(printable(b"\x1b[31mred\x1b[0m\tx\xff"), "\\u{1b}[31mred\\u{1b}[0m x\u{fffd}");
        assert_eq!(printable("a\u{202e}b".as_bytes()), "a\\u{202e}b");
        assert_eq!(printable(&[b'x'; 1000]).chars().count(), WIDTH + 1);
    }
}
