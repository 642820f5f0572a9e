//! Plans: compiling, loading, showing.
#![expect(unsafe_code, reason = "exports functions, which enter the boundary for a C caller")]

use std::ffi::c_char;
use std::sync::Arc;

use plangate_compiler::{Options, compile};
use plangate_graph::card::{Card, mermaid};
use plangate_graph::{Author, Catalog, Plan, Policy, VerifiedPlan};

use crate::caller::plangate_buf;
use crate::document;
use crate::failure::Failure;
use crate::guard::{boundary, quietly};
use crate::handle::{self, Handle, Table};
use crate::stack::own_stack;
use crate::status::{PLANGATE_E_PANIC, PLANGATE_OK, plangate_status};

/// A plan, held against its catalog and policy. Immutable; any number of threads may use it at once.
#[derive(Debug)]
pub struct plangate_plan {
    _opaque: [u8; 0],
}

static PLANS: Table<VerifiedPlan> = Table::new();

impl Handle for plangate_plan {
    type Of = VerifiedPlan;
    const NAME: &'static str = "plan";

    fn table() -> &'static Table<VerifiedPlan> {
        &PLANS
    }
}

/// Compiles a recipe against a catalog and a policy, both of which may be empty. `diagnostics` gets everything there is to
/// say about the recipe, also where there is a plan all the same; it stays empty where there is nothing. Who wrote the
/// recipe counts as a model: `without asking` in it is void unless the policy says otherwise.
///
/// A policy about servers or tools that are not in the catalog is refused. A server that the policy is about and that is
/// not listed, or not with all its tools, says so: `{"servers":{"mail":{"tools":[],"partial":true}}}`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_compile(
    recipe: *const c_char,
    recipe_len: usize,
    catalog_json: *const c_char,
    catalog_len: usize,
    policy_toml: *const c_char,
    policy_len: usize,
    out: *mut *mut plangate_plan,
    diagnostics: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(diagnostics, |caller| {
            let out = caller.out("out", out)?;
            let recipe = caller.document("recipe", recipe, recipe_len)?;
            let catalog = caller.document("catalog_json", catalog_json, catalog_len)?;
            let policy = caller.document("policy_toml", policy_toml, policy_len)?;
            let (plan, said) = own_stack(|| compiled(recipe, catalog, policy))?;
            if let Some(said) = said {
                caller.fill(diagnostics, said);
            }
            out.set(handle::keep(Arc::new(plan)));
            Ok(PLANGATE_OK)
        })
    }
}

/// Loads actions.json and believes nothing in it: effects, gates and edges are derived again from catalog and policy. A plan
/// that lacks one of them is refused, and every reason stands in `diagnostics`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_plan_load(
    actions_json: *const c_char,
    len: usize,
    catalog_json: *const c_char,
    catalog_len: usize,
    policy_toml: *const c_char,
    policy_len: usize,
    out: *mut *mut plangate_plan,
    diagnostics: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(diagnostics, |caller| {
            let out = caller.out("out", out)?;
            let actions = caller.document("actions_json", actions_json, len)?;
            let catalog = caller.document("catalog_json", catalog_json, catalog_len)?;
            let policy = caller.document("policy_toml", policy_toml, policy_len)?;
            let plan = own_stack(|| loaded(actions, catalog, policy))?;
            out.set(handle::keep(Arc::new(plan)));
            Ok(PLANGATE_OK)
        })
    }
}

/// The plan, and what there is to say about it all the same.
fn compiled(recipe: &str, catalog: &str, policy: &str) -> Result<(VerifiedPlan, Option<String>), Failure> {
    let catalog = document::catalog(catalog)?;
    let policy = document::policy(policy, &catalog)?;
    let compiled = compile(recipe, &Options::new(&catalog, &policy));
    let Some(plan) = compiled.plan else {
        return Err(Failure::diagnostics(recipe, compiled.diagnostics));
    };
    let plan = verified(plan, &catalog, &policy)?;
    let said = (!compiled.diagnostics.is_empty())
        .then(|| Failure::diagnostics(recipe, compiled.diagnostics).to_json());
    Ok((plan, said))
}

fn loaded(actions: &str, catalog: &str, policy: &str) -> Result<VerifiedPlan, Failure> {
    let catalog = document::catalog(catalog)?;
    let policy = document::policy(policy, &catalog)?;
    let plan = Plan::from_json(actions).map_err(|e| Failure::refused("the plan cannot be read", &e))?;
    verified(plan, &catalog, &policy)
}

fn verified(plan: Plan, catalog: &Catalog, policy: &Policy) -> Result<VerifiedPlan, Failure> {
    let plan = plan.verify(catalog, policy, Author::Model);
    plan.map_err(|problems| Failure::problems("the plan is refused", problems))
}

/// The plan as actions.json.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_plan_actions(
    plan: *const plangate_plan,
    out: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(std::ptr::null_mut(), |caller| {
            let out = caller.text("out", out)?;
            out.set(handle::look_up(plan)?.plan().to_json());
            Ok(PLANGATE_OK)
        })
    }
}

/// What is shown of the plan before it runs. `format` is "text", "markdown", "html", "mermaid" or "json".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_plan_card(
    plan: *const plangate_plan,
    format: *const c_char,
    out: *mut plangate_buf,
) -> plangate_status {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        boundary(std::ptr::null_mut(), |caller| {
            let out = caller.text("out", out)?;
            let plan = handle::look_up(plan)?;
            out.set(shown(&plan, caller.name("format", format)?)?);
            Ok(PLANGATE_OK)
        })
    }
}

fn shown(plan: &VerifiedPlan, format: &str) -> Result<String, Failure> {
    let card = || Card::of(plan, None);
    match format {
        "text" => Ok(card().to_text()),
        "markdown" => Ok(card().to_markdown()),
        "html" => Ok(card().to_html()),
        "mermaid" => Ok(mermaid(plan)),
        "json" => serde_json::to_string(&card())
            .map_err(|e| Failure::new(PLANGATE_E_PANIC, format!("the card cannot be written: {e}"))),
        #[cfg(test)]
        "panic" => panic!("as the test asked"),
        other => {
            let message = format!("{other:?} is no format of a card");
            Err(Failure::argument(message).help("text, markdown, html, mermaid or json"))
        }
    }
}

/// Frees a plan. NULL is fine; a run that uses it goes on.
#[unsafe(no_mangle)]
pub extern "C" fn plangate_plan_free(plan: *mut plangate_plan) {
    quietly((), || handle::free(plan));
}
