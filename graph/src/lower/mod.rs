//! From an outline to a plan: effects, edges that earn their place, gates and joins.
//!
//! Compiling and verifying are this one function. It believes nothing but the outline, the catalog and the policy.

mod derived;
mod drawn;
mod edges;
mod faults;
mod frontier;
mod guards;
mod judge;
mod judgements;
mod kinds;
mod lists;
mod notes;
mod shape;
mod typed;
mod worlds;

use derived::Derived;
pub(crate) use drawn::{Drawn, Read};
pub(crate) use judge::Schemas;
pub(crate) use judgements::{Judgements, Marks};
pub use shape::is_name;
pub(crate) use typed::Typed;
pub(crate) use worlds::Worlds;

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::digest::Digest;
use crate::outline::Outline;
use crate::plan::{Note, Plan};
use crate::policy::{Author, Policy};
use crate::problem::{Problem, Severity};

/// Lowers an outline: judges every call against catalog and policy, derives edges, puts gates and joins.
///
/// A policy that cannot be meant is an error too, as far as these servers show it (`P0201`, `P0203`, `P0204`).
///
/// Returns the plan unless a problem is an error. Problems come in typed order; warnings and notes come with the plan
/// too, and stay in it as notes. Linear in steps and references (times the number of worlds); no recursion.
pub fn lower(
    outline: Outline,
    catalog: &Catalog,
    policy: &Policy,
    author: Author,
) -> (Option<Plan>, Vec<Problem>) {
    let typed = Arc::new(Typed::of(outline));
    let worlds = Worlds::of(&typed, policy);
    let mut lowered = judge(typed, catalog, policy, author, &Marks::default());
    lowered.derive(worlds);
    (lowered.plan(policy.digest()), lowered.into_problems())
}

/// What follows from what was typed, with what was found on the way: first what each call is, then nodes and edges.
pub(crate) struct Lowered {
    typed: Arc<Typed>,
    /// In typed order.
    problems: Vec<Problem>,
    /// What each call is.
    pub(crate) judgements: Judgements,
    /// The input schemas of the tools that are called.
    pub(crate) schemas: Schemas,
    /// Nodes and edges, and what is worth saying of them.
    derived: Option<(Derived, Worlds)>,
    /// In typed order.
    said: Vec<Problem>,
}

/// Judges every call of an outline, never below `floor`: the first half of lowering.
pub(crate) fn judge(
    typed: Arc<Typed>,
    catalog: &Catalog,
    policy: &Policy,
    author: Author,
    floor: &Marks,
) -> Lowered {
    let mut problems = typed.faults.clone();
    let (mut judgements, mut schemas) = (Judgements::default(), Schemas::new());
    if !are_errors(&problems) {
        problems.extend(policy.certain_faults(catalog));
        (judgements, schemas) = judge::calls(&typed, catalog, policy, author, floor, &mut problems);
    }
    problems.sort_by_key(|problem| problem.item);
    Lowered { typed, problems, judgements, schemas, derived: None, said: Vec::new() }
}

/// The nodes and edges of an outline without faults, and what is worth saying of them.
fn derive(typed: &Typed, marks: &Marks, worlds: &Worlds) -> (Derived, Vec<Problem>) {
    let guards = guards::Guards::of(typed, marks);
    let derived = edges::derive(typed, marks, &guards, worlds);
    let mut said = notes::of(typed, marks, &derived, &guards);
    said.sort_by_key(|problem| problem.item);
    (derived, said)
}

fn are_errors(problems: &[Problem]) -> bool {
    problems.iter().any(|problem| problem.severity == Severity::Error)
}

impl Lowered {
    /// Derives nodes and edges, unless a problem is an error: the second half of lowering.
    pub(crate) fn derive(&mut self, worlds: Worlds) {
        self.find_faults();
        if !self.is_wrong() {
            let (derived, said) = derive(&self.typed, &self.judgements.marks, &worlds);
            self.derived = Some((derived, worlds));
            self.said = said;
        }
    }

    /// Finds what is wrong with calls for what they count as. Once.
    pub(crate) fn find_faults(&mut self) {
        if self.typed.faults.is_empty() {
            self.problems.extend(faults::of(&self.typed, &self.judgements.marks));
            self.problems.sort_by_key(|problem| problem.item);
        }
    }

    /// Whether a problem is an error.
    pub(crate) fn is_wrong(&self) -> bool {
        are_errors(&self.problems)
    }

    /// Whether these nodes and edges were derived.
    pub(crate) fn is(&self, drawn: &Drawn) -> bool {
        self.derived.as_ref().is_some_and(|(derived, _)| derived.is(drawn, &self.judgements.marks))
    }

    /// The plan, which says that it was made under this policy. Made once, of what was derived.
    pub(crate) fn plan(&mut self, policy: Digest) -> Option<Plan> {
        let (derived, worlds) = self.derived.take()?;
        let said: Arc<[Note]> = self.said.iter().map(notes::keep).collect();
        let notes = self.notes(&said);
        let drawn = Drawn::derived(derived, worlds, said, &self.typed, &self.judgements)?;
        Some(Plan::of(Arc::new(drawn), policy, notes))
    }

    /// What is worth saying about a plan of whose nodes and edges this is worth saying.
    pub(crate) fn notes(&self, said: &Arc<[Note]>) -> Arc<[Note]> {
        if self.problems.is_empty() {
            return Arc::clone(said);
        }
        let mut notes: Vec<Note> =
            self.problems.iter().map(notes::keep).chain(said.iter().cloned()).collect();
        notes.sort_by_key(|note| note.item);
        notes.into()
    }

    /// The problems that are errors.
    pub(crate) fn errors(&mut self) -> Vec<Problem> {
        self.problems.extract_if(.., |p| p.severity == Severity::Error).collect()
    }

    /// All problems in typed order.
    fn into_problems(self) -> Vec<Problem> {
        let mut problems = self.problems;
        problems.extend(self.said);
        problems.sort_by_key(|problem| problem.item);
        problems
    }
}
