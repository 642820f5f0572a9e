//! Cuts a stream of bytes into lines, none longer than a limit.

/// How much of a line that is too long is kept, to find out what it was.
const KEPT: usize = 4096;

/// The lines of a stream as its bytes come in. Holds at most one line and never more than the limit.
#[derive(Debug)]
pub(crate) struct Lines {
    limit: usize,
    line: Vec<u8>,
    /// In the rest of a line that was too long.
    skipping: bool,
}

/// A line, without its line feed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// The whole line.
    Whole(Vec<u8>),
    /// The beginning of a line that is longer than the limit. It comes as soon as the limit is passed; the rest is dropped.
    TooLong(Vec<u8>),
}

impl Lines {
    pub(crate) fn new(limit: usize) -> Lines {
        Lines { limit, line: Vec::new(), skipping: false }
    }

    /// Takes more bytes and gives the lines that ended with them, in order.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Vec<Line> {
        let mut ended = Vec::new();
        let mut pieces = bytes.split(|b| *b == b'\n');
        // What follows the last line feed is the beginning of a line; `split` gives at least one piece.
        let last = pieces.next_back().unwrap_or_default();
        for piece in pieces {
            self.append(piece, &mut ended);
            if !std::mem::take(&mut self.skipping) {
                ended.push(Line::Whole(std::mem::take(&mut self.line)));
            }
        }
        self.append(last, &mut ended);
        ended
    }

    /// What stands after the last line feed when the stream ends.
    pub(crate) fn finish(&mut self) -> Option<Line> {
        let line = std::mem::take(&mut self.line);
        (!line.is_empty()).then_some(Line::Whole(line))
    }

    fn append(&mut self, piece: &[u8], ended: &mut Vec<Line>) {
        if self.skipping {
            return;
        }
        self.line.extend_from_slice(piece);
        if self.line.len() > self.limit {
            let mut line = std::mem::take(&mut self.line);
            line.truncate(KEPT);
            ended.push(Line::TooLong(line));
            self.skipping = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Line {
        Line::Whole(text.into())
    }

    #[test]
    fn lines_come_out_however_the_bytes_are_cut() {
        let text = "one\n\ntwo\r\nå🙂\nrest";
        for size in 1..=text.len() {
            let mut lines = Lines::new(100);
            let mut got = Vec::new();
            for chunk in text.as_bytes().chunks(size) {
                got.extend(lines.push(chunk));
            }
            got.extend(lines.finish());
            assert_eq!(got, [whole("one"), whole(""), whole("two\r"), whole("å🙂"), whole("rest")]);
            assert_eq!(lines.finish(), None);
        }
    }

    #[test]
    fn a_line_at_the_limit_passes_and_one_byte_more_does_not() {
        for size in [1, 2, 7, 100] {
            let mut lines = Lines::new(4);
            let mut got = Vec::new();
            for chunk in b"1234\n12345\nnext\n".chunks(size) {
                got.extend(lines.push(chunk));
            }
            let [first, Line::TooLong(start), last] = got.as_slice() else { unreachable!("{got:?}") };
            assert_eq!((first, last), (&whole("1234"), &whole("next")));
            assert!(b"12345".starts_with(start) && !start.is_empty());
        }
    }

    #[test]
    fn a_line_without_end_is_reported_at_once_and_not_kept() {
        let mut lines = Lines::new(10_000);
        let mut reported = 0;
        for _ in 0..100 {
            reported += lines.push(&[b'x'; 1000]).len();
            assert!(lines.line.len() <= 11_000);
        }
        assert_eq!(reported, 1);
        assert_eq!(lines.push(b"\nok\n"), [whole("ok")]);
    }
}
