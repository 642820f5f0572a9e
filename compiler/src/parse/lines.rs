//! The lines of a recipe: indentation and content. Blank lines and comments are passed over here and nowhere else.

use crate::characters::{Region, RegionKind, is_hidden, is_odd_space};
use crate::source::{Place, Source};

/// A line that says something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// How many columns it is indented. A tab counts as two.
    pub(super) indent: usize,
    /// Without indentation and blanks at its end; never empty.
    pub(super) content: Place,
    /// The first comment below it that looks like text (`#daily …`), with its indentation.
    pub(super) doubtful_comment: Option<(usize, Place)>,
}

/// All lines that say something, in order, and the comments between them.
pub(super) fn lines(source: &Source<'_>) -> (Vec<Line>, Vec<Region>) {
    let mut lines: Vec<Line> = Vec::new();
    let mut comments = Vec::new();
    for index in 0..source.line_count() {
        let whole = source.line(index);
        let text = source.slice(whole).trim_end_matches(['\n', '\r', ' ', '\t']);
        let mut indent = 0;
        let mut skipped = 0;
        for c in text.chars() {
            match c {
                ' ' => indent += 1,
                '\t' => indent += 2,
                c if is_odd_space(c) => indent += 1,
                c if is_hidden(c) => {}
                _ => break,
            }
            skipped += c.len_utf8();
        }
        let content = Place::new(whole.start + skipped, whole.start + text.len());
        let text = source.slice(content);
        if text.is_empty() {
            continue;
        }
        let Some(comment) = text.strip_prefix('#') else {
            lines.push(Line { indent, content, doubtful_comment: None });
            continue;
        };
        comments.push(Region { place: content, kind: RegionKind::Comment });
        if comment.starts_with(char::is_alphanumeric)
            && let Some(above) = lines.last_mut()
            && above.doubtful_comment.is_none()
        {
            above.doubtful_comment = Some((indent, content));
        }
    }
    (lines, comments)
}
