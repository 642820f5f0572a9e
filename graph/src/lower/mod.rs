//! From an outline to a plan: effects, edges that earn their place, gates and joins.
//!
//! Compiling and verifying are this one function. It believes nothing but the outline, the catalog and the policy.

mod edges;
mod frontier;
mod guards;
mod judge;
mod notes;
mod shape;

pub(crate) use judge::{Judgement, Schemas};
pub use shape::is_name;

use std::collections::BTreeMap;

use crate::catalog::Catalog;
use crate::digest::Digest;
use crate::effect::Effect;
use crate::outline::Outline;
use crate::plan::Plan;
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
    let lowered = lower_above(outline, catalog, policy.digest(), policy, author, &floor);
    (lowered.plan, lowered.problems)
}

/// A plan with what was found on the way.
pub(crate) struct Lowered {
    pub(crate) plan: Option<Plan>,
    pub(crate) problems: Vec<Problem>,
    /// What each call is, by item.
    pub(crate) judgements: BTreeMap<usize, Judgement>,
    /// The input schemas of the tools that are called.
    pub(crate) schemas: Schemas,
}

/// As [`lower`], never below `floor`; the plan says that it was made under `policy_digest`.
pub(crate) fn lower_above(
    outline: Outline,
    catalog: &Catalog,
    policy_digest: Digest,
    policy: &Policy,
    author: Author,
    floor: &Floor,
) -> Lowered {
    let mut problems = shape::check(&outline);
    if problems.iter().any(|p| p.severity == Severity::Error) {
        return Lowered { plan: None, problems, judgements: BTreeMap::new(), schemas: Schemas::new() };
    }
    problems.extend(policy.certain_faults(catalog));
    let (judgements, schemas) = judge::calls(&outline, catalog, policy, author, floor, &mut problems);
    if problems.iter().any(|p| p.severity == Severity::Error) {
        problems.sort_by_key(|p| p.item);
        return Lowered { plan: None, problems, judgements, schemas };
    }
    let guards = guards::Guards::of(&outline, &judgements);
    let derived = edges::derive(&outline, &judgements, &guards, policy);
    let mut plan = derived.into_plan(outline, policy_digest);
    problems.extend(notes::of(&plan, &guards));
    problems.sort_by_key(|p| p.item);
    plan.notes = problems.iter().map(notes::keep).collect();
    Lowered { plan: Some(plan), problems, judgements, schemas }
}
