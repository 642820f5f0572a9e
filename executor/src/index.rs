//! Texts by hash, for as many as a large run has steps.
//!
//! A map that owns its keys takes ten times the room, and in a plan of 100,000 nodes nearly every look into it leaves the
//! caches. Here a look touches a number, and the texts themselves, which stand elsewhere, only where it finds something.

use std::hash::{BuildHasher as _, RandomState};

/// Numbers of texts that are kept in a list elsewhere: the first has the number 0.
#[derive(Debug)]
pub(crate) struct Index {
    /// Open addressing, at most half full: a number and one, or 0.
    slots: Vec<u32>,
    /// Of each text by its number.
    hashes: Vec<u32>,
    hasher: RandomState,
}

impl Index {
    /// The texts in their order. One that stands there twice has its first number.
    pub(crate) fn of<'t>(texts: impl ExactSizeIterator<Item = &'t str>) -> Index {
        let slots = vec![0; (2 * texts.len()).next_power_of_two()];
        let mut index = Index { slots, hashes: Vec::with_capacity(texts.len()), hasher: RandomState::new() };
        for (text, after) in texts.zip(1..) {
            let hash = index.hash(text);
            index.hashes.push(hash);
            index.put(after, hash);
        }
        index
    }

    /// The number of a text. `is` says whether the text with a number is this one.
    pub(crate) fn find(&self, text: &str, is: impl Fn(usize) -> bool) -> Option<usize> {
        self.place(self.hash(text), is)
    }

    /// Half of the bits.
    fn hash(&self, text: &str) -> u32 {
        (self.hasher.hash_one(text) >> 32) as u32
    }

    /// The slots of a hash, the likeliest first, each of them once.
    fn probe(hash: u32, slots: usize) -> impl Iterator<Item = usize> {
        (0..slots).map(move |step| (hash as usize).wrapping_add(step) & slots.wrapping_sub(1))
    }

    fn place(&self, hash: u32, is: impl Fn(usize) -> bool) -> Option<usize> {
        Index::probe(hash, self.slots.len())
            .map_while(|at| (*self.slots.get(at)? as usize).checked_sub(1))
            .find(|number| self.hashes.get(*number) == Some(&hash) && is(*number))
    }

    /// Puts a number and one into the first slot that is free.
    fn put(&mut self, after: u32, hash: u32) {
        let free = Index::probe(hash, self.slots.len()).find(|at| self.slots.get(*at) == Some(&0));
        if let Some(slot) = free.and_then(|at| self.slots.get_mut(at)) {
            *slot = after;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_found_under_its_number_and_nothing_else_is() {
        for count in [0, 1, 2, 3, 64, 65, 1_000] {
            let texts: Vec<String> = (0..count).map(|n| format!("r{n}")).collect();
            let index = Index::of(texts.iter().map(String::as_str));
            for (n, text) in texts.iter().enumerate() {
                assert_eq!(index.find(text, |n| texts[n] == *text), Some(n));
            }
            for other in ["", "r", "R0", &format!("r{count}")] {
                assert_eq!(index.find(other, |n| texts[n] == other), None, "{other} of {count}");
            }
        }
    }

    #[test]
    fn equal_hashes_are_told_apart() {
        let texts = ["a", "b", "c"];
        let mut index = Index { slots: vec![0; 8], hashes: Vec::new(), hasher: RandomState::new() };
        for after in 1..=3 {
            index.hashes.push(7);
            index.put(after, 7);
        }
        for (n, text) in texts.iter().enumerate() {
            assert_eq!(index.place(7, |n| texts[n] == *text), Some(n));
        }
        assert_eq!(index.place(7, |_| false), None);
    }

    #[test]
    fn a_text_that_stands_twice_has_its_first_number() {
        let texts = ["a", "b", "a"];
        assert_eq!(Index::of(texts.into_iter()).find("a", |n| texts[n] == "a"), Some(0));
    }
}
