//! What a model needs to write recipes.

/// The language on a page, compact, with one example; Markdown. Without a catalog, which the host adds: an author
/// who does not see the tools invents them.
pub fn language_guide() -> &'static str {
    include_str!("../docs/guide.md")
}
