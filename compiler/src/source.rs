//! The recipe's text, and where in it things stand.

/// A place in the text: byte offsets, end exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Place {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// A text with an index of its lines.
#[derive(Debug)]
pub(crate) struct Source<'t> {
    text: &'t str,
    /// Where each line starts.
    lines: Vec<usize>,
    /// How many characters begin before each multiple of [`STRIDE`] bytes, so that a column costs no walk along its line.
    marks: Vec<usize>,
}

const STRIDE: usize = 1024;

impl Place {
    pub(crate) fn new(start: usize, end: usize) -> Place {
        Place { start, end: end.max(start) }
    }

    /// The empty place behind it.
    pub(crate) fn after(self) -> Place {
        Place::new(self.end, self.end)
    }

    /// The empty place in front of it.
    pub(crate) fn before(self) -> Place {
        Place::new(self.start, self.start)
    }
}

impl<'t> Source<'t> {
    pub(crate) fn new(text: &'t str) -> Source<'t> {
        let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        let mut marks = Vec::with_capacity(text.len() / STRIDE + 1);
        let mut characters = 0;
        for chunk in text.as_bytes().chunks(STRIDE) {
            marks.push(characters);
            characters += starts(chunk);
        }
        marks.push(characters);
        Source { text, lines, marks }
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// The text of a place.
    pub(crate) fn slice(&self, place: Place) -> &'t str {
        self.text.get(place.start..place.end).unwrap_or_default()
    }

    /// How many lines there are; at least 1.
    pub(crate) fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// The line of an offset, from 0.
    pub(crate) fn line_of(&self, offset: usize) -> usize {
        self.lines.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// A line with its end.
    pub(crate) fn line(&self, line: usize) -> Place {
        let start = self.lines.get(line).copied().unwrap_or(self.text.len());
        Place::new(start, self.lines.get(line + 1).copied().unwrap_or(self.text.len()))
    }

    /// Line and column of an offset, both from 1, the column in characters.
    pub(crate) fn line_column(&self, offset: usize) -> (usize, usize) {
        let line = self.line_of(offset);
        (line + 1, self.characters(offset) - self.characters(self.line(line).start) + 1)
    }

    /// The place without blanks at both ends.
    pub(crate) fn trim(&self, place: Place) -> Place {
        let text = self.slice(place);
        let start = place.start + (text.len() - text.trim_start().len());
        Place::new(start, start + text.trim().len())
    }

    /// How many characters begin before this offset.
    fn characters(&self, offset: usize) -> usize {
        let mark = offset / STRIDE;
        let before = self.marks.get(mark).copied().unwrap_or_default();
        before + starts(self.text.as_bytes().get(mark * STRIDE..offset).unwrap_or_default())
    }
}

/// How many characters begin in these bytes.
fn starts(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| (**b).cast_signed() >= -0x40).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let source = Source::new("ab\näöü €x\n\n");
        assert_eq!(source.line_column(0), (1, 1));
        assert_eq!(source.line_column(3), (2, 1));
        assert_eq!(source.line_column(5), (2, 2));
        assert_eq!(source.line_column(source.text().find('x').unwrap_or(0)), (2, 6));
        assert_eq!(source.line_column(source.text().len()), (4, 1));
    }

    #[test]
    fn columns_of_long_lines_agree_with_a_walk() {
        let text = "aé€".repeat(2000);
        let source = Source::new(&text);
        for (i, (offset, _)) in text.char_indices().enumerate().step_by(97) {
            assert_eq!(source.line_column(offset), (1, i + 1));
        }
    }
}
