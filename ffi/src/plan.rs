//! Plans: compiling, loading, showing.
#![expect(unsafe_code, reason = "exports functions, which enter the boundary for a C caller")]

use std::ffi::c_char;
use std::sync::Arc;

use plangate_compiler::{Options, compile};
use plangate_graph::card::{Card, mermaid};
use plangate_graph::{Author, Catalog, Plan, Policy, VerifiedPlan};

use crate::caller::{Caller, plangate_buf};
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
/// say about the recipe, also where there is a plan all the same; it stays empty where there is nothing. It counts as
/// written by a model: `without asking` in it is void unless the policy says otherwise.
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
    // SAFETY: the caller keeps the rules of the header; an author may be null.
    unsafe {
        plangate_compile_as(
            std::ptr::null(),
            recipe,
            recipe_len,
            catalog_json,
            catalog_len,
            policy_toml,
            policy_len,
            out,
            diagnostics,
        )
    }
}

/// As plangate_compile, with the host's word on who wrote the recipe: `author` is "person" or "model"; NULL: a model. It is
/// kept with each run of the plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_compile_as(
    author: *const c_char,
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
            let author = said_author(caller, author)?;
            let recipe = caller.document("recipe", recipe, recipe_len)?;
            let catalog = caller.document("catalog_json", catalog_json, catalog_len)?;
            let policy = caller.document("policy_toml", policy_toml, policy_len)?;
            let (plan, said) = own_stack(|| compiled(recipe, catalog, policy, author))?;
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
    // SAFETY: the caller keeps the rules of the header; an author may be null.
    unsafe {
        plangate_plan_load_as(
            std::ptr::null(),
            actions_json,
            len,
            catalog_json,
            catalog_len,
            policy_toml,
            policy_len,
            out,
            diagnostics,
        )
    }
}

/// As plangate_plan_load, with the host's word on who wrote the recipe that the plan came from, as in plangate_compile_as.
/// A file is nobody's word: say "person" of one that you know to be as a person left it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plangate_plan_load_as(
    author: *const c_char,
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
            let author = said_author(caller, author)?;
            let actions = caller.document("actions_json", actions_json, len)?;
            let catalog = caller.document("catalog_json", catalog_json, catalog_len)?;
            let policy = caller.document("policy_toml", policy_toml, policy_len)?;
            let plan = own_stack(|| loaded(actions, catalog, policy, author))?;
            out.set(handle::keep(Arc::new(plan)));
            Ok(PLANGATE_OK)
        })
    }
}

/// Unsaid means a model.
fn said_author(caller: &Caller, author: *const c_char) -> Result<Author, Failure> {
    match caller.name_or_null("author", author)? {
        None | Some("model") => Ok(Author::Model),
        Some("person") => Ok(Author::Person),
        Some(other) => Err(Failure::argument(format!("`author` is {other:?}"))
            .help("\"person\" or \"model\"; NULL: a model")),
    }
}

/// The plan, and what there is to say about it all the same.
fn compiled(
    recipe: &str,
    catalog: &str,
    policy: &str,
    author: Author,
) -> Result<(VerifiedPlan, Option<String>), Failure> {
    let catalog = document::catalog(catalog)?;
    let policy = document::policy(policy, &catalog)?;
    let compiled = compile(recipe, &Options::new(&catalog, &policy).author(author));
    let Some(plan) = compiled.plan else {
        return Err(Failure::diagnostics(recipe, compiled.diagnostics));
    };
    let plan = verified(plan, &catalog, &policy, author)?;
    let said = (!compiled.diagnostics.is_empty())
        .then(|| Failure::diagnostics(recipe, compiled.diagnostics).to_json());
    Ok((plan, said))
}

fn loaded(actions: &str, catalog: &str, policy: &str, author: Author) -> Result<VerifiedPlan, Failure> {
    let catalog = document::catalog(catalog)?;
    let policy = document::policy(policy, &catalog)?;
    let plan = Plan::from_json(actions).map_err(|e| Failure::refused("the plan cannot be read", &e))?;
    verified(plan, &catalog, &policy, author)
}

fn verified(plan: Plan, catalog: &Catalog, policy: &Policy, author: Author) -> Result<VerifiedPlan, Failure> {
    let plan = plan.verify(catalog, policy, author);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::plangate_buf_free;

    #[test]
    fn a_fault_of_the_library_leaves_the_process_and_its_handles_alive() {
        let recipe = b"together:\n  a: bank.list_accounts {}\n";
        let catalog =
            br#"{"servers":{"bank":{"tools":[{"name":"list_accounts","inputSchema":{"type":"object"}}]}}}"#;
        let mut plan = std::ptr::null_mut();
        let (mut err, mut out) = (plangate_buf::EMPTY, plangate_buf::EMPTY);
        // SAFETY: pointers to locals, with their lengths; C strings end in NUL.
        unsafe {
            let status = plangate_compile(
                recipe.as_ptr().cast(),
                recipe.len(),
                catalog.as_ptr().cast(),
                catalog.len(),
                std::ptr::null(),
                0,
                &raw mut plan,
                &raw mut err,
            );
            assert_eq!(status, PLANGATE_OK, "{}", err.text());
            assert_eq!(plangate_plan_card(plan, c"panic".as_ptr(), &raw mut out), PLANGATE_E_PANIC);
            assert!(out.data.is_null());
            assert_eq!(plangate_plan_card(plan, c"text".as_ptr(), &raw mut out), PLANGATE_OK);
            assert!(out.text().contains("list_accounts"));
            plangate_buf_free(&raw mut out);
        }
        plangate_plan_free(plan);
        // On the stack of another thread, too.
        let work = || -> Result<(), Failure> { panic!("as expected") };
        assert_eq!(quietly(None, || own_stack(work).ok()), None);
    }
}
