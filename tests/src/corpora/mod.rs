//! Plans that nobody here wrote, as recipes: each line of a file of plans becomes a recipe, a catalog of the tools that
//! it names, and a policy that says which of them only read.

mod given;
mod recipe;

pub use given::{Given, GivenStep, read};
pub use recipe::{Imported, Manner, import};
