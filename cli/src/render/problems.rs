//! What the verifier refuses, in the style of the compiler's diagnostics, without a text to point into.

use plangate_graph::card::visible::visible;
use plangate_graph::problem::{Problem, Severity};

use super::paint::Paint;
use super::put::Put as _;

/// One after the other, with an empty line after each.
pub(crate) fn drawn(problems: &[Problem], paint: Paint) -> String {
    let mut out = String::new();
    for problem in problems {
        let word = match problem.severity {
            Severity::Error => paint.bad(&format!("error[{}]", problem.code)),
            Severity::Warning => paint.wait(&format!("warning[{}]", problem.code)),
            Severity::Note => paint.strong(&format!("note[{}]", problem.code)),
        };
        out.put(format_args!("{word}: {}\n", visible(&problem.message)));
        if let Some(help) = &problem.help {
            out.put(format_args!("  {} {}\n", paint.good("help:"), visible(help)));
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_sentence_and_help() {
        let problems =
            [Problem::error("V0401", Some(3), "the gate in front of `post` is missing")
                .help("compile again")];
        assert_eq!(
            drawn(&problems, Paint::plain()),
            "error[V0401]: the gate in front of `post` is missing\n  help: compile again\n\n"
        );
    }
}
