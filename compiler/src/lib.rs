//! Compiles a recipe to a plan, with diagnostics for whoever wrote it.
//!
//! ```
//! use plangate_compiler::{Colour, Options, compile, render};
//! use plangate_graph::{Catalog, Policy};
//!
//! let catalog = Catalog::from_json(
//!     r#"{"servers": {"mail": {"tools": [{"name": "list", "inputSchema": {"type": "object"}}]}}}"#,
//! )?;
//! let policy = Policy::default();
//! let recipe = "then:\n  unread: mail.lst {}\n";
//!
//! let compiled = compile(recipe, &Options::new(&catalog, &policy));
//! assert!(compiled.plan.is_none());
//! assert_eq!(compiled.diagnostics[0].code, "R0120");
//! assert!(render(&compiled.diagnostics, recipe, "mail.recipe", Colour::Plain).contains("did you mean `mail.list`?"));
//! # Ok::<(), plangate_graph::catalog::CatalogError>(())
//! ```
//!
//! The stages are types: text, [`Recipe`] (parsed), [`Outline`] (names and tools looked up), [`Plan`] (lowered by
//! `plangate_graph`, which judges every call and puts the gates).
//!
//! What it does not do: read files, start servers, run anything, or decide what is asked. The same recipe, catalog
//! and policy give the same plan and the same diagnostics everywhere.

mod characters;
mod compile;
mod diagnostic;
mod grammar;
mod guide;
mod parse;
mod recipe;
mod resolve;
mod source;
mod suggest;
mod tokens;

pub use compile::{Compiled, Options, compile, outline, parse};
pub use diagnostic::{
    Colour, Diagnostic, Fix, Label, Severity, Span, documented_codes, explain, render, to_json,
};
pub use guide::language_guide;
pub use plangate_graph::{Outline, Plan};
pub use recipe::Recipe;
