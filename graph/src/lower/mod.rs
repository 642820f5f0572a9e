//! From an outline to a plan: effects, edges that earn their place, gates and joins.
//!
//! Compiling and verifying are this one function. It believes nothing but the outline, the catalog and the policy.

mod derived;
mod edges;
mod frontier;
mod guards;
mod judge;
mod lists;
mod notes;
mod shape;
mod typed;

pub(crate) use derived::Derived;
pub(crate) use judge::{Judgements, Schemas};
pub use shape::is_name;
pub(crate) use typed::Typed;

use std::sync::Arc;

use crate::catalog::Catalog;
use crate::digest::Digest;
use crate::effect::Effect;
use crate::outline::Outline;
use crate::plan::{Note, Plan};
use crate::policy::{Author, Policy};
use crate::problem::{Problem, Severity};

/// What an earlier judgement said of the calls, by item: the effect, and whether there is a gate. Of an item beyond its
/// end it said nothing.
///
/// Where a plan is verified, the stronger of this and of what catalog and policy say now counts, so that a policy that
/// became looser changes nothing and one that became stricter shows.
pub(crate) type Floor = Vec<(Effect, bool)>;

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
    let floor = Floor::new();
    let mut lowered = lower_above(Arc::new(Typed::of(outline)), catalog, policy, author, &floor);
    (lowered.plan(policy.digest()), lowered.problems)
}

/// What follows from what was typed, with what was found on the way.
pub(crate) struct Lowered {
    typed: Arc<Typed>,
    /// Nodes and edges; nothing where a problem is an error.
    pub(crate) derived: Option<Derived>,
    pub(crate) problems: Vec<Problem>,
    /// What each call is.
    pub(crate) judgements: Judgements,
    /// The input schemas of the tools that are called.
    pub(crate) schemas: Schemas,
}

impl Lowered {
    /// The plan, which says that it was made under this policy. Made once.
    pub(crate) fn plan(&mut self, policy: Digest) -> Option<Plan> {
        let derived = self.derived.take()?;
        let mut plan = derived.into_plan(Arc::clone(&self.typed), policy, &self.judgements)?;
        plan.notes = self.notes();
        Some(plan)
    }

    /// What is worth saying about the plan.
    pub(crate) fn notes(&self) -> Vec<Note> {
        self.problems.iter().map(notes::keep).collect()
    }

    /// The problems that are errors.
    pub(crate) fn errors(&mut self) -> Vec<Problem> {
        self.problems.extract_if(.., |p| p.severity == Severity::Error).collect()
    }
}

/// As [`lower`], never below `floor`.
pub(crate) fn lower_above(
    typed: Arc<Typed>,
    catalog: &Catalog,
    policy: &Policy,
    author: Author,
    floor: &Floor,
) -> Lowered {
    let mut lowered = Lowered {
        derived: None,
        problems: typed.faults.clone(),
        judgements: Judgements::default(),
        schemas: Schemas::new(),
        typed,
    };
    let Lowered { typed, problems, .. } = &mut lowered;
    let is_error = |problems: &[Problem]| problems.iter().any(|p| p.severity == Severity::Error);
    if is_error(problems) {
        return lowered;
    }
    problems.extend(policy.certain_faults(catalog));
    let (judgements, schemas) = judge::calls(typed, catalog, policy, author, floor, problems);
    if !is_error(problems) {
        let guards = guards::Guards::of(typed, &judgements);
        let derived = edges::derive(typed, &judgements, &guards, policy);
        problems.extend(notes::of(typed, &judgements, &derived, &guards));
        lowered.derived = Some(derived);
    }
    lowered.problems.sort_by_key(|p| p.item);
    Lowered { judgements, schemas, ..lowered }
}
