//! A diagnostic in the making: places instead of spans. What is a consequence of something else is dropped here.

use std::collections::HashSet;

use plangate_graph::problem::Severity;

use crate::diagnostic::{Diagnostic, Fix, Label, Span, code};
use crate::source::{Place, Source};

/// A diagnostic whose places have no lines and columns yet.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) code: &'static str,
    pub(crate) severity: Severity,
    pub(crate) message: String,
    pub(crate) labels: Vec<(Place, String)>,
    pub(crate) help: Option<String>,
    pub(crate) fix: Option<(Place, String)>,
}

impl Finding {
    pub(crate) fn error(code: &'static str, message: impl Into<String>) -> Finding {
        Finding {
            code,
            severity: Severity::Error,
            message: message.into(),
            labels: Vec::new(),
            help: None,
            fix: None,
        }
    }

    pub(crate) fn warning(code: &'static str, message: impl Into<String>) -> Finding {
        Finding { severity: Severity::Warning, ..Finding::error(code, message) }
    }

    /// The main place first, then others that explain it.
    pub(crate) fn at(mut self, place: Place, label: impl Into<String>) -> Finding {
        self.labels.push((place, label.into()));
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Finding {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn help_if(self, help: Option<String>) -> Finding {
        match help {
            Some(help) => self.help(help),
            None => self,
        }
    }

    pub(crate) fn fix(mut self, place: Place, replacement: impl Into<String>) -> Finding {
        self.fix = Some((place, replacement.into()));
        self
    }

    fn start(&self) -> usize {
        self.labels.first().map_or(0, |(place, _)| place.start)
    }
}

/// Orders findings by place and gives them lines and columns. Where a single character is wrong, what else seems
/// wrong with the shape of that line is its consequence and left out.
pub(crate) fn settle(mut findings: Vec<Finding>, source: &Source<'_>) -> Vec<Diagnostic> {
    let line = |f: &Finding| source.line_of(f.start());
    let misread: HashSet<usize> = findings.iter().filter(|f| about_a_character(f)).map(line).collect();
    findings.retain(|f| !about_shape(f) || !misread.contains(&line(f)));
    findings.sort_by_key(|f| (f.start(), f.code));
    findings.into_iter().map(|finding| diagnostic(finding, source)).collect()
}

fn about_a_character(finding: &Finding) -> bool {
    [code::SPACES_ONLY, code::HIDDEN_CHARACTER, code::CONTROL_CHARACTER].contains(&finding.code)
}

fn about_shape(finding: &Finding) -> bool {
    [
        code::NOT_A_LINE,
        code::UNKNOWN_BLOCK,
        code::BLOCK_LINE,
        code::INDENTATION,
        code::NOT_A_NAME,
        code::STRAY_LINE,
        code::JSON_SYNTAX,
        code::INPUT_SHAPE,
        code::CHECK_SHAPE,
        code::UNKNOWN_TEST,
        code::SETTING_VALUE,
        code::NEED_SHAPE,
        code::AFTER_ARGUMENTS,
    ]
    .contains(&finding.code)
}

fn diagnostic(finding: Finding, source: &Source<'_>) -> Diagnostic {
    Diagnostic {
        code: finding.code,
        severity: finding.severity,
        message: finding.message,
        labels: finding
            .labels
            .into_iter()
            .map(|(place, message)| Label { span: span(place, source), message })
            .collect(),
        help: finding.help,
        fix: finding.fix.map(|(place, replacement)| Fix { span: span(place, source), replacement }),
    }
}

fn span(place: Place, source: &Source<'_>) -> Span {
    let (line, column) = source.line_column(place.start);
    let (end_line, end_column) = source.line_column(place.end);
    Span { start: place.start, end: place.end, line, column, end_line, end_column }
}
