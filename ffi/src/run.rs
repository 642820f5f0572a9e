//! Running, resuming, cancelling, and what is known of runs.
#![expect(unsafe_code, reason = "exports functions, which enter the boundary for a C caller")]

use std::ffi::c_char;
use std::sync::Arc;

use plangate_approval::{RunId, RunState, Storage as _};
use plangate_executor::{Ended, Executor, Present, Record, Start, Writer};
use plangate_graph::{Catalog, Digest, Policy, Value, VerifiedPlan};

use crate::caller::{Text, plangate_buf};
use crate::document;
use crate::failure::Failure;
use crate::guard::boundary;
use crate::handle;
use crate::host::{Host, plangate_host};
use crate::plan::plangate_plan;
use crate::stack::own_stack;
use crate::status::{PLANGATE_E_CANCELLED, PLANGATE_FAILED, PLANGATE_OK, PLANGATE_PARKED, plangate_status};
use crate::store::{Kept, Store, plangate_store};
use crate::tools::{HostTools, HostWriter};
use crate::view;

/// Runs a plan until every step has ended (OK, or FAILED) or only people are waited for (PARKED). Never waits for a person.
/// `inputs_json` is an object of values by name, or empty. `record` gets what happened, with the run's id under `run`; what
/// was asked is durable before it returns. Each run has threads of its own, which have ended by then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_run(
    store: *mut plangate_store,
    plan: *const plangate_plan,
    inputs_json: *const c_char,
    len: usize,
    host: *const plangate_host,
    record: *mut plangate_buf,
    err: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(err, |caller| {
            let record = caller.text("record", record)?;
            let store = handle::look_up(store)?;
            let plan = handle::look_up(plan)?;
            let inputs = match caller.document("inputs_json", inputs_json, len)? {
                "" => Value::Null,
                text => Value::parse(text)
                    .map_err(|e| Failure::argument(format!("`inputs_json` cannot be read: {e}")))?,
            };
            let host = Host::read(caller, host)?;
            told(own_stack(|| run(&store, &plan, inputs, &host))?, record)
        })
    }
}

/// Goes on with a run from the store. Its stored plan is verified again; if that refuses, nothing starts and the status is
/// ATTENTION. A run that has ended stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_resume(
    store: *mut plangate_store,
    run_id: *const c_char,
    host: *const plangate_host,
    record: *mut plangate_buf,
    err: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(err, |caller| {
            let record = caller.text("record", record)?;
            let store = handle::look_up(store)?;
            let run = RunId(caller.name("run_id", run_id)?.to_owned());
            let host = Host::read(caller, host)?;
            told(own_stack(|| resume(&store, &run, &host))?, record)
        })
    }
}

fn run(store: &Arc<Store>, plan: &VerifiedPlan, inputs: Value, host: &Host<'_>) -> Result<Ended, Failure> {
    if host.catalog.is_some() || host.policy.is_some() {
        let now = present(host, plan.catalog(), plan.policy())?;
        let held = plan.hold(&now.catalog, &now.policy);
        held.map_err(|problems| Failure::problems("the plan no longer passes", problems))?;
    }
    let catalog = host.catalog.map_or_else(|| Ok(plan.catalog().clone()), document::catalog)?;
    let start = Start { inputs, requester: host.requester.clone(), title: host.title.clone() };
    Ok(executor(store, host, catalog).run(plan, start)?)
}

fn resume(store: &Arc<Store>, run: &RunId, host: &Host<'_>) -> Result<Ended, Failure> {
    let stored = store.kept.run(run)?;
    let was = Catalog::from_json(&stored_text(store, &stored.catalog)?)
        .map_err(|e| Failure::attention(&format!("its catalog cannot be read: {e}")))?;
    let now = if host.catalog.is_some() || host.policy.is_some() {
        let policy = Policy::from_toml(&stored_text(store, &stored.policy)?)
            .map_err(|e| Failure::attention(&format!("its policy cannot be read: {e}")))?;
        Some(present(host, &was, &policy)?)
    } else {
        None
    };
    let catalog = now.as_ref().map_or(was, |now| now.catalog.clone());
    Ok(executor(store, host, catalog).resume(run, now)?)
}

fn stored_text(store: &Store, digest: &Digest) -> Result<String, Failure> {
    let bytes = store.kept.document(digest)?;
    String::from_utf8(bytes).map_err(|e| Failure::attention(&format!("a stored document is no text: {e}")))
}

/// The catalog and policy of now; what the host does not give is as it was.
fn present(host: &Host<'_>, was: &Catalog, policy: &Policy) -> Result<Present, Failure> {
    let catalog = host.catalog.map_or_else(|| Ok(was.clone()), document::catalog)?;
    let policy = match (host.policy, host.catalog) {
        (Some(toml), Some(_)) => document::policy(toml, &catalog)?,
        (Some(toml), None) => document::policy_alone(toml)?,
        (None, _) => policy.clone(),
    };
    Ok(Present { catalog, policy })
}

fn executor(store: &Arc<Store>, host: &Host<'_>, catalog: Catalog) -> Arc<Executor<Kept>> {
    let tools = HostTools {
        callback: host.callback,
        reconcile: host.reconcile,
        catalog,
        store: Arc::downgrade(store),
    };
    let writer: Arc<dyn Writer> = Arc::new(HostWriter(host.callback));
    let executor =
        Executor::new(Arc::clone(&store.kept), Arc::new(tools), Some(writer), host.options.clone());
    let executor = Arc::new(executor);
    store.drives(&executor);
    executor
}

/// Hands the record over, and says by the status how the run was laid down.
fn told(ended: Ended, to: Text<'_>) -> Result<plangate_status, Failure> {
    to.set(ended.record().to_json()?);
    match ended {
        Ended::Parked { .. } | Ended::Stopped { .. } => Ok(PLANGATE_PARKED),
        Ended::Attention { reason, .. } => Err(Failure::attention(&reason)),
        Ended::Done(record) => match record.state {
            RunState::Done => Ok(PLANGATE_OK),
            RunState::Cancelled => {
                let reason = record.reason.map(|why| format!(": {why}")).unwrap_or_default();
                Err(Failure::new(PLANGATE_E_CANCELLED, format!("the run was cancelled{reason}")))
            }
            _ => Ok(PLANGATE_FAILED),
        },
    }
}

/// Cancels a run: rows that nobody claimed are cancelled with it, running calls are asked to stop, and what they did is
/// still recorded. A run that has ended stays as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_cancel(
    store: *mut plangate_store,
    run_id: *const c_char,
    err: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(err, |caller| {
            let store = handle::look_up(store)?;
            let run = RunId(caller.name("run_id", run_id)?.to_owned());
            store.kept.cancel(&run, &document::the_host(), None)?;
            store.notice(&run);
            Ok(PLANGATE_OK)
        })
    }
}

/// All runs, newest first: {"runs": [...]}.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_run_list(
    store: *mut plangate_store,
    out: *mut plangate_buf,
    err: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(err, |caller| {
            let out = caller.text("out", out)?;
            let store = handle::look_up(store)?;
            out.set(view::runs(&store.kept.runs()?)?);
            Ok(PLANGATE_OK)
        })
    }
}

/// The record of a run, as it is stored at this moment.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_run_record(
    store: *mut plangate_store,
    run_id: *const c_char,
    out: *mut plangate_buf,
    err: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(err, |caller| {
            let out = caller.text("out", out)?;
            let store = handle::look_up(store)?;
            let run = RunId(caller.name("run_id", run_id)?.to_owned());
            out.set(Record::read(&*store.kept, &run)?.to_json()?);
            Ok(PLANGATE_OK)
        })
    }
}
