//! Compiles a recipe to a plan, with diagnostics for whoever wrote it.
