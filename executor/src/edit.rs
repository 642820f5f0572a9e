//! Other arguments for a call that waits for people, held against everything that the first were held against.

use plangate_approval::{Approvals, Edit, Person, Row, RowId, RowState, Storage, StoreError};
use plangate_graph::effect::classify;
use plangate_graph::template::Template;
use plangate_graph::{Digest, Value};

use crate::error::RunError;
use crate::executor::Present;
use crate::gate::{Rules, Verdict, stricter, why};
use crate::resume::{Refused, verified};
use crate::stored::Stored;
use crate::values::{call_of, names};

/// Why a call was not edited. It waits as it did.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The arguments do not fit the tool's schema, policy denies them, or they make of a read something else.
    #[error("{0}")]
    Refused(String),
    /// The store refuses, or cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run cannot be read.
    #[error(transparent)]
    Run(RunError),
}

/// Edits a pending call: the new arguments are held against the tool's schema, classified, and held against the policies
/// that the run was stored with and, where given, those of now; then they take the place of what was asked. `seen` is
/// the digest that the person saw. The row that stands now is the answer, and it still waits for its votes.
///
/// A driver of this process is told by [`Executor::notice`](crate::Executor::notice).
pub fn edit<S: Storage + ?Sized>(
    store: &S,
    row: &RowId,
    seen: Digest,
    by: &Person,
    args: &Value,
    note: Option<&str>,
    present: Option<&Present>,
) -> Result<Row, EditError> {
    let shown = store.row(row)?;
    let mut edit = Edit {
        row: row.clone(),
        seen,
        by: by.clone(),
        args: args.canonical(),
        reason: shown.reason.clone(),
        terms: shown.terms.clone(),
        note: note.map(str::to_owned),
    };
    // What is over or has no call is refused by the store, in its own words.
    if shown.state == RowState::Pending && shown.call.is_some() {
        hold(store, &shown, args, present, &mut edit)?;
    }
    Ok(Approvals::new(store).edit(&shown, &edit)?)
}

/// Holds the arguments against schema, classification and policy.
fn hold<S: Storage + ?Sized>(
    store: &S,
    row: &Row,
    args: &Value,
    present: Option<&Present>,
    edit: &mut Edit,
) -> Result<(), EditError> {
    let stored = Stored::read(store, &row.run).map_err(EditError::Run)?;
    let plan = verified(store, &stored, present).map_err(|refused| match refused {
        Refused::Run(error) => EditError::Run(error),
        Refused::Plan(why) => EditError::Refused(format!("the run needs attention first: {why}")),
    })?;
    let node = row.call.as_ref().map_or(&row.node, |call| &call.node);
    let names = names(plan.plan());
    let of = names.get(node).and_then(|ix| Some((ix, call_of(plan.plan(), ix)?.1)));
    let Some((ix, call)) = of else {
        return Err(EditError::Run(RunError::Fault(format!("the plan has no call {node}"))));
    };
    plan.validate(ix, args).map_err(|why| {
        EditError::Refused(format!("the arguments do not fit {}.{}: {why}", call.server, call.tool))
    })?;
    let Some(definition) = plan.catalog().definition(&call.server, &call.tool) else {
        return Err(EditError::Refused(format!("{}.{} is not in the catalog", call.server, call.tool)));
    };
    let rules = Rules { present: present.map(|present| present.policy.clone()) };
    let template = Template::Lit(args.clone());
    let now = classify(&call.server, definition, Some(&template), plan.policy());
    if now.effect.changes() && !plan.effect(ix).is_some_and(plangate_graph::Effect::changes) {
        // Nothing of the plan waits for it as for a change.
        let why = format!(
            "with these arguments `{}` would change something, and the plan takes it for a read",
            call.name
        );
        return Err(EditError::Refused(why));
    }
    if let Verdict::Deny(why) = rules.verdict_as(&plan, ix, call, args, &now) {
        return Err(EditError::Refused(format!("policy denies this call: {why}")));
    }
    edit.reason = why(&plan, call, args, &now.evidence);
    edit.terms = stricter(row.terms.clone(), rules.terms(&plan, call, args));
    Ok(())
}
