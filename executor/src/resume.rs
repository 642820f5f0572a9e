//! Going on with a run: from the stored plan, not from a file.

use std::sync::Arc;

use plangate_approval::storage::ParkAnswer;
use plangate_approval::{Accepted, Lease, Person, Run, RunId, RunState, Storage};
use plangate_graph::policy::Date;
use plangate_graph::problem::Problem;
use plangate_graph::{Author, Catalog, Digest, Documents, Plan, Policy, VerifiedPlan};

use crate::drive::Restore;
use crate::error::RunError;
use crate::executor::{Ended, Executor, Present, author_text, known_arguments, shape_of};
use crate::gate::Rules;
use crate::journal::Watch;
use crate::schedule::{Limits, Topology};
use crate::stored::Stored;
use crate::values::{Names, names};

impl<S: Storage + 'static> Executor<S> {
    /// Goes on with a run where it stands.
    ///
    /// Ended steps keep their results; reads that were in flight run again; a call in flight whose driver is gone is
    /// uncertain and waits. The stored plan is verified again, against the stored catalog and policy and, where given,
    /// those of now: what became stricter holds at once, what became looser changes nothing. If that refuses, nothing
    /// starts, and the run [needs attention](Ended::Attention). A run that has ended stays as it is.
    pub fn resume(&self, run: &RunId, present: Option<Present>) -> Result<Ended, RunError> {
        let watch = Watch::start(self.store().now());
        let Some(lease) = self.take_lease(run)? else { return Ok(Ended::Done(self.record(run)?)) };
        self.go_on(run, present, lease, watch)
    }

    fn go_on(
        &self,
        run: &RunId,
        present: Option<Present>,
        lease: Lease,
        watch: Watch,
    ) -> Result<Ended, RunError> {
        match self.prepared(run, present) {
            Ok(Prepared { plan, rules, names, shape, limits, restore }) => {
                self.drive(plan, rules, names, shape, &limits, watch, lease, restore)
            }
            Err(Refused::Plan(reason)) => self.attention(lease, reason),
            Err(Refused::Run(error)) => {
                self.let_go(lease);
                Err(error)
            }
        }
    }

    /// A person accepts what changed of the tools or the policy since a run was stored, as its [attention](Ended::Attention)
    /// showed it: from now on the run has these, and whatever was asked and not called yet is asked again. What ended
    /// keeps its results.
    ///
    /// If what would be shown now is something else than what was shown then, nothing changes, and the run needs attention
    /// for the new reason; so does a recipe that no longer compiles against the tools and policy of now.
    pub fn accept(&self, run: &RunId, by: &Person, present: Present) -> Result<Ended, RunError> {
        let before = self.store().run(run)?;
        if before.state != RunState::Attention {
            return self.resume(run, Some(present));
        }
        let Some(lease) = self.take_lease(run)? else { return Ok(Ended::Done(self.record(run)?)) };
        let lease = match self.accepted(run, &before, &present) {
            Ok(None) => lease,
            Ok(Some(accepted)) => match self.store().accept(&lease, by, &accepted) {
                Ok(lease) => lease,
                Err(error) => {
                    self.let_go(lease);
                    return Err(error.into());
                }
            },
            Err(Refused::Plan(reason)) => return self.attention(lease, reason),
            Err(Refused::Run(error)) => {
                self.let_go(lease);
                return Err(error);
            }
        };
        self.go_on(run, Some(present), lease, Watch::start(self.store().now()))
    }

    /// The documents to go on with, if the change is the one that was shown; nothing if there is none any more.
    fn accepted(&self, run: &RunId, before: &Run, present: &Present) -> Result<Option<Accepted>, Refused> {
        let store = &**self.store();
        let stored = Stored::read(store, run)?;
        let shown = match verified(store, &stored, Some(present)) {
            Ok(_) => return Ok(None),
            Err(Refused::Plan(reason)) => reason,
            Err(error) => return Err(error),
        };
        if before.reason.as_ref() != Some(&shown) {
            return Err(Refused::Plan(shown));
        }
        let Typed { plan, author } = typed(store, &stored)?;
        let refused =
            |p: Vec<Problem>| Refused::Plan(format!("{shown}\nand it cannot be accepted:\n{}", lines(&p)));
        let again = plan.again(&present.catalog, &present.policy, author).map_err(refused)?;
        known_arguments(&again, &names(again.plan()), &stored.inputs)
            .map_err(|e| Refused::Plan(format!("{shown}\nand it cannot be accepted:\n{e}")))?;
        let Documents { plan, catalog, policy } = again.documents().clone();
        Ok(Some(Accepted { plan, catalog, policy, shown }))
    }

    fn prepared(&self, run: &RunId, present: Option<Present>) -> Result<Prepared, Refused> {
        let stored = Stored::read(&**self.store(), run)?;
        let plan = verified(&**self.store(), &stored, present.as_ref())?;
        self.writer_for(&plan)?;
        let names = names(plan.plan());
        let shape = shape_of(&plan)?;
        let limits = self.limits(&shape, stored.run.hold_siblings);
        let picture = stored.picture(&shape, &names)?;
        let restore = picture.restore(plan.plan(), &shape, &names, stored.inputs.clone(), &limits)?;
        let rules = Rules { present: present.map(|present| present.policy) };
        Ok(Prepared { plan, rules, names, shape, limits, restore })
    }

    fn attention(&self, mut lease: Lease, reason: String) -> Result<Ended, RunError> {
        let run = lease.run.clone();
        // A cancel that came meanwhile is the better end.
        let mut state = if lease.cancelled { RunState::Cancelled } else { RunState::Attention };
        while let ParkAnswer::LookAgain(newer) = self.store().end(&lease, state, Some(&reason))? {
            if newer.cancelled {
                state = RunState::Cancelled;
            }
            lease = newer;
        }
        let record = self.record(&run)?;
        match state {
            RunState::Attention => Ok(Ended::Attention { run, reason, record }),
            _ => Ok(Ended::Done(record)),
        }
    }
}

/// The stored plan, verified again.
pub(crate) fn verified<S: Storage + ?Sized>(
    store: &S,
    stored: &Stored,
    present: Option<&Present>,
) -> Result<VerifiedPlan, Refused> {
    let plan = as_stored(store, stored)?;
    if let Some(Present { catalog, policy }) = present {
        plan.hold(catalog, policy).map_err(|p| Refused::Plan(lines(&p)))?;
    }
    Ok(plan)
}

/// The stored plan against the documents that it was stored with.
fn as_stored<S: Storage + ?Sized>(store: &S, stored: &Stored) -> Result<VerifiedPlan, Refused> {
    let broken = |why: String| Refused::Plan(format!("the stored plan cannot be read: {why}"));
    let Typed { plan, author } = typed(store, stored)?;
    let catalog = text(store, &stored.run.catalog, "catalog")?;
    let catalog = Catalog::from_json(&catalog).map_err(|e| broken(format!("its catalog: {e}")))?;
    let policy = text(store, &stored.run.policy, "policy")?;
    let policy = Policy::from_toml(&policy).map_err(|e| broken(format!("its policy: {e}")))?;
    // The day is no part of a stored policy: rules that have ended since no longer loosen.
    let policy = match Date::of_unix_ms(store.now().0) {
        Some(today) => policy.on(today),
        None => policy,
    };
    plan.verify(&catalog, &policy, author).map_err(|p| Refused::Plan(lines(&p)))
}

/// A stored plan, held against nothing, and who the host says wrote it.
struct Typed {
    plan: Plan,
    author: Author,
}

fn typed<S: Storage + ?Sized>(store: &S, stored: &Stored) -> Result<Typed, Refused> {
    let run = &stored.run;
    let plan = Plan::from_json(&text(store, &run.plan, "plan")?)
        .map_err(|e| Refused::Plan(format!("the stored plan cannot be read: {e}")))?;
    let author = [Author::Person, Author::Model].into_iter().find(|a| author_text(*a) == run.author);
    Ok(Typed { plan, author: author.unwrap_or_default() })
}

fn text<S: Storage + ?Sized>(store: &S, digest: &Digest, what: &str) -> Result<String, Refused> {
    let bytes = store.document(digest).map_err(RunError::from)?;
    if Digest::of(&bytes) != *digest {
        return Err(Refused::Plan(format!("the stored {what} is not the one that the run started with")));
    }
    String::from_utf8(bytes).map_err(|e| Refused::Plan(format!("the stored {what} is no text: {e}")))
}

/// What a drive goes on with.
struct Prepared {
    plan: VerifiedPlan,
    rules: Rules,
    names: Names,
    shape: Arc<Topology>,
    limits: Limits,
    restore: Restore,
}

/// Why a stored run cannot go on.
pub(crate) enum Refused {
    /// The store cannot be read, or this executor lacks what the plan needs.
    Run(RunError),
    /// The plan no longer passes.
    Plan(String),
}

impl From<RunError> for Refused {
    fn from(error: RunError) -> Refused {
        Refused::Run(error)
    }
}

/// Problems, one a line.
fn lines(problems: &[Problem]) -> String {
    let line = |p: &Problem| match &p.help {
        Some(help) => format!("{}: {}; {help}", p.code, p.message),
        None => format!("{}: {}", p.code, p.message),
    };
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}
