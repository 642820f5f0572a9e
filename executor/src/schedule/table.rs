//! Values by node.

use std::ops::{Index, IndexMut};

use plangate_graph::NodeIx;

use super::topology::Link;

/// One value per node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table<T>(pub Vec<T>);

impl<T> Default for Table<T> {
    fn default() -> Table<T> {
        Table(Vec::new())
    }
}

impl<T> Table<T> {
    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All indices, ascending.
    pub fn indices(&self) -> impl ExactSizeIterator<Item = NodeIx> + use<T> {
        (0..u32::try_from(self.0.len()).unwrap_or(u32::MAX)).map(NodeIx)
    }
}

#[expect(clippy::indexing_slicing, reason = "a table and its indices come from one topology")]
impl<T> Index<NodeIx> for Table<T> {
    type Output = T;
    fn index(&self, ix: NodeIx) -> &T {
        &self.0[ix.0 as usize]
    }
}

#[expect(clippy::indexing_slicing, reason = "a table and its indices come from one topology")]
impl<T> IndexMut<NodeIx> for Table<T> {
    fn index_mut(&mut self, ix: NodeIx) -> &mut T {
        &mut self.0[ix.0 as usize]
    }
}

/// Links of all nodes in one list; those of a node stand together, by the other end.
#[derive(Clone, Debug)]
pub(super) struct Links {
    ends: Table<(u32, u32)>,
    links: Vec<Link>,
}

impl Links {
    pub(super) fn group(nodes: usize, of: impl Iterator<Item = (NodeIx, Link)>) -> Links {
        let mut all: Vec<_> = of.collect();
        all.sort_by_key(|(at, link)| (*at, link.node));
        let mut ends = Table(vec![(0, 0); nodes]);
        for (i, (at, _)) in (0..).zip(&all) {
            let (start, end) = &mut ends[*at];
            if start == end {
                *start = i;
            }
            *end = i + 1;
        }
        Links { ends, links: all.into_iter().map(|(_, link)| link).collect() }
    }

    pub(super) fn of(&self, ix: NodeIx) -> &[Link] {
        let (start, end) = self.ends[ix];
        self.links.get(start as usize..end as usize).unwrap_or_default()
    }
}
