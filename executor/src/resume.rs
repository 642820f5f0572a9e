//! Going on with a run: from the stored plan, not from a file.

use std::sync::Arc;

use plangate_approval::storage::ParkAnswer;
use plangate_approval::{Lease, RunId, RunState, Storage};
use plangate_graph::problem::Problem;
use plangate_graph::{Author, Catalog, Digest, Plan, Policy, VerifiedPlan};

use crate::drive::Restore;
use crate::error::RunError;
use crate::executor::{Ended, Executor, Present, author_text, shape_of};
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

    fn prepared(&self, run: &RunId, present: Option<Present>) -> Result<Prepared, Refused> {
        let stored = Stored::read(&**self.store(), run)?;
        let plan = self.verified(&stored, present.as_ref())?;
        self.writer_for(&plan)?;
        let names = names(plan.plan());
        let shape = shape_of(&plan)?;
        let limits = self.limits(&shape, stored.run.hold_siblings);
        let picture = stored.picture(&shape, &names)?;
        let restore = picture.restore(plan.plan(), &shape, &names, stored.inputs, &limits);
        let rules = Rules { present: present.map(|present| present.policy) };
        Ok(Prepared { plan, rules, names, shape, limits, restore })
    }

    /// The stored plan, verified again.
    fn verified(&self, stored: &Stored, present: Option<&Present>) -> Result<VerifiedPlan, Refused> {
        let run = &stored.run;
        let document = |digest: &Digest, what: &str| {
            let bytes = self.store().document(digest).map_err(RunError::from)?;
            if Digest::of(&bytes) != *digest {
                return Err(Refused::Plan(format!(
                    "the stored {what} is not the one that the run started with"
                )));
            }
            String::from_utf8(bytes).map_err(|e| Refused::Plan(format!("the stored {what} is no text: {e}")))
        };
        let broken =
            |what: &str, why: String| Refused::Plan(format!("the stored {what} cannot be read: {why}"));
        let plan =
            Plan::from_json(&document(&run.plan, "plan")?).map_err(|e| broken("plan", e.to_string()))?;
        let catalog = Catalog::from_json(&document(&run.catalog, "catalog")?)
            .map_err(|e| broken("catalog", e.to_string()))?;
        let policy = Policy::from_toml(&document(&run.policy, "policy")?)
            .map_err(|e| broken("policy", e.to_string()))?;
        // The day is no part of a stored policy: rules that have ended since no longer loosen.
        let policy = match Date::of_unix_ms(self.store().now().0) {
            Some(today) => policy.on(today),
            None => policy,
        };
        let author = [Author::Person, Author::Model].into_iter().find(|a| author_text(*a) == run.author);
        let verified = plan
            .verify(&catalog, &policy, author.unwrap_or_default())
            .map_err(|p| Refused::Plan(lines(&p)))?;
        if let Some(Present { catalog, policy }) = present {
            verified.hold(catalog, policy).map_err(|p| Refused::Plan(lines(&p)))?;
        }
        Ok(verified)
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
enum Refused {
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
