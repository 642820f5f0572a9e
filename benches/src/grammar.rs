//! The compiler's grammar without the compiler: what matching the lines of a recipe costs alone.

use pest::Parser as _;

#[allow(missing_docs, clippy::all, clippy::pedantic, unreachable_pub, reason = "made by pest_derive")]
mod rules {
    #[derive(pest_derive::Parser)]
    #[grammar = "../../compiler/src/recipe.pest"]
    pub(super) struct Lines;
}
use rules::{Lines, Rule};

/// Matches each line of a well-formed recipe with the rule for its place, what stands after a step's name with the rules
/// for a body, and that with those for JSON or for a sentence. Returns how many tokens there were, so that nothing is left
/// out.
pub fn match_lines(recipe: &str) -> usize {
    let mut tokens = 0;
    let mut json = 0_isize;
    for line in recipe.lines() {
        let trimmed = line.trim_start();
        if json > 0 {
            json += depth(trimmed);
            tokens += count(Rule::json_line, trimmed);
            continue;
        }
        if trimmed.len() == line.len() {
            tokens += count(Rule::margin_line, line);
            continue;
        }
        tokens += count(Rule::block_line, trimmed);
        let Some((_, rest)) = trimmed.split_once(':') else {
            tokens += count(Rule::text, trimmed);
            continue;
        };
        tokens += count(Rule::body, rest);
        match rest.find('{') {
            Some(at) if rest.get(at + 1..).is_some_and(|r| r.is_empty() || r.starts_with(['"', '}'])) => {
                let arguments = rest.get(at..).unwrap_or_default();
                json += depth(arguments);
                tokens += count(Rule::json_line, arguments);
            }
            _ => tokens += count(Rule::text, rest),
        }
    }
    tokens
}

fn depth(text: &str) -> isize {
    text.bytes().map(|b| isize::from(b == b'{') - isize::from(b == b'}')).sum()
}

fn count(rule: Rule, text: &str) -> usize {
    Lines::parse(rule, text).map_or(0, |pairs| pairs.flatten().count())
}
