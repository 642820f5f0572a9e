//! Values by node.

use std::ops::{Index, IndexMut};

use plangate_graph::NodeIx;
use plangate_graph::plan::Asks;

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
    /// Where the links of each node end; they begin where those of the node before it end.
    ends: Vec<u32>,
    links: Vec<Link>,
}

/// What stands in a list until its links are put there.
const NOBODY: Link =
    Link { node: NodeIx(u32::MAX), asks: Asks::Ended, guard: false, data: false, counted: false };

impl Links {
    /// Groups links by the node that they are of. Linear, but for links of one node that do not come by the other end.
    pub(super) fn group(nodes: usize, of: impl Iterator<Item = (NodeIx, Link)> + Clone) -> Links {
        let mut next = Table(vec![0_u32; nodes]);
        let mut count = 0;
        for (at, _) in of.clone() {
            next[at] += 1;
            count += 1;
        }
        let mut begin = 0;
        for n in &mut next.0 {
            begin += std::mem::replace(n, begin);
        }
        let mut links = vec![NOBODY; count];
        for (at, link) in of {
            if let Some(place) = links.get_mut(next[at] as usize) {
                *place = link;
            }
            next[at] += 1;
        }
        let ends = next.0;
        let mut grouped = Links { ends, links };
        for ix in Table(vec![(); nodes]).indices() {
            let own = grouped.range(ix);
            if let Some(own) = grouped.links.get_mut(own).filter(|own| !own.is_sorted_by_key(|l| l.node)) {
                own.sort_by_key(|link| link.node);
            }
        }
        grouped
    }

    fn range(&self, ix: NodeIx) -> std::ops::Range<usize> {
        let at = ix.0 as usize;
        let end = |at: usize| self.ends.get(at).map_or(0, |end| *end as usize);
        at.checked_sub(1).map_or(0, end)..end(at)
    }

    pub(super) fn of(&self, ix: NodeIx) -> &[Link] {
        self.links.get(self.range(ix)).unwrap_or_default()
    }
}
