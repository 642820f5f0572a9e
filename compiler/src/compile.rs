//! The stages in a row.

use plangate_graph::lower::lower;
use plangate_graph::outline::Outline;
use plangate_graph::policy::Author;
use plangate_graph::problem::Problem;
use plangate_graph::{Catalog, Plan, Policy};

use crate::diagnostic::{Diagnostic, Finding, Severity, settle};
use crate::recipe::Recipe;
use crate::resolve::{Resolution, resolve};
use crate::source::{Place, Source};

/// What a recipe is compiled against.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options<'a> {
    /// The tools.
    pub catalog: &'a Catalog,
    /// What the host decided about them.
    pub policy: &'a Policy,
    /// Who wrote the recipe, as the host says; a model unless it says otherwise.
    pub author: Author,
}

/// What came of a recipe.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The plan, unless a diagnostic is an error.
    pub plan: Option<Plan>,
    /// Everything there is to say, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl<'a> Options<'a> {
    /// Against this catalog and policy, for a recipe that a model wrote.
    pub fn new(catalog: &'a Catalog, policy: &'a Policy) -> Options<'a> {
        Options { catalog, policy, author: Author::default() }
    }

    /// With another author.
    pub fn author(self, author: Author) -> Options<'a> {
        Options { author, ..self }
    }
}

/// Compiles a recipe. Never panics, whatever the text is; linear in it.
pub fn compile(recipe: &str, options: &Options<'_>) -> Compiled {
    let source = Source::new(recipe);
    let (parsed, mut findings) = crate::parse::parse(&source, options.catalog);
    let Resolution { outline, sound, usable, findings: more } = resolve(&parsed, &source, options.catalog);
    findings.extend(more);
    let clean = !findings.iter().any(|finding| finding.severity == Severity::Error);
    let mut plan = None;
    if usable && !parsed.is_empty() {
        let (lowered, problems) = lower(outline, options.catalog, options.policy, options.author);
        plan = lowered.filter(|_| clean);
        // Where something is wrong already, only errors about the policy and about items that are as they were typed are
        // sure to be no consequence of it; and the `V` codes speak of files, where the compiler has words of its own.
        let counts = |problem: &Problem| {
            let typed = problem.item.is_none_or(|item| sound.get(item) == Some(&true));
            clean || problem.severity == Severity::Error && typed && !problem.code.starts_with('V')
        };
        findings.extend(problems.into_iter().filter(counts).map(|problem| finding(problem, &parsed)));
    }
    Compiled { plan, diagnostics: settle(findings, &source) }
}

/// Parses a recipe, the first stage alone. The catalog says which steps are calls: a step is one if its first word
/// names a server, or if arguments follow it.
pub fn parse(recipe: &str, catalog: &Catalog) -> (Recipe, Vec<Diagnostic>) {
    let source = Source::new(recipe);
    let (parsed, findings) = crate::parse::parse(&source, catalog);
    (parsed, settle(findings, &source))
}

/// Parses a recipe and looks up its names and tools, the stages before the plan. No outline if a diagnostic is an error.
pub fn outline(recipe: &str, catalog: &Catalog) -> (Option<Outline>, Vec<Diagnostic>) {
    let source = Source::new(recipe);
    let (parsed, mut findings) = crate::parse::parse(&source, catalog);
    let resolution = resolve(&parsed, &source, catalog);
    findings.extend(resolution.findings);
    let clean = !findings.iter().any(|finding| finding.severity == Severity::Error);
    (clean.then_some(resolution.outline), settle(findings, &source))
}

/// A problem that lowering found, at its item.
fn finding(problem: Problem, recipe: &Recipe) -> Finding {
    let place = problem.item.and_then(|item| recipe.items.get(item)).map(|item| item.line);
    Finding {
        code: problem.code,
        severity: problem.severity,
        message: problem.message,
        labels: place.map(|place: Place| (place, String::new())).into_iter().collect(),
        help: problem.help,
        fix: None,
    }
}
