//! A short list of places for each of many items, kept as one.

/// For each index from 0 a list of places. Read by index; made from front to back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    /// Where each list ends in `flat`.
    ends: Vec<usize>,
    flat: Vec<usize>,
}

impl Lists {
    /// Adds a place to the list that is being made.
    pub(super) fn push(&mut self, place: usize) {
        self.flat.push(place);
    }

    /// Ends the list that is being made; the next one begins.
    pub(super) fn end(&mut self) {
        self.ends.push(self.flat.len());
    }

    /// The list at an index; empty where there is none.
    pub(super) fn get(&self, at: usize) -> &[usize] {
        let begin = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(at).copied().unwrap_or(begin);
        self.flat.get(begin..end).unwrap_or_default()
    }

    /// All lists in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[usize]> {
        (0..self.ends.len()).map(|at| self.get(at))
    }
}
