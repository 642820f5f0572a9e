//! The graph in Graphviz's language.

use std::fmt::Write as _;

use super::reason::word;
use super::visible::visible;
use crate::plan::{Join, NodeKind};
use crate::verify::VerifiedPlan;

/// A plan in DOT, for Graphviz: gates and questions as hexagons, checks as diamonds, joins as circles, edges with their
/// reasons. Linear.
pub fn dot(verified: &VerifiedPlan) -> String {
    let plan = verified.plan();
    let mut out = String::from("digraph plan {\n  node [shape=box];\n");
    for (ix, node) in plan.nodes() {
        let (shape, label) = match &node.kind {
            NodeKind::Call { .. } | NodeKind::Write { .. } => ("box", node.id.clone()),
            NodeKind::Gate { call, .. } => ("hexagon", format!("⏸ {}", plan.node(*call).id)),
            NodeKind::Ask { .. } => ("hexagon", format!("⏸ {}", node.id)),
            NodeKind::Check { .. } => ("diamond", node.id.clone()),
            NodeKind::Join(Join::Need { k, of, .. }) => ("circle", format!("{k} of {}", of.len())),
            NodeKind::Join(Join::All) => ("circle", "all".to_owned()),
        };
        let _ = writeln!(out, "  n{} [shape={shape}, label={}];", ix.0, quoted(&label));
    }
    for (ix, _) in plan.nodes() {
        for (to, edge) in plan.outgoing(ix) {
            let words: Vec<&str> = edge.reasons.iter().map(|(reason, _)| word(*reason)).collect();
            let _ = writeln!(out, "  n{} -> n{} [label={}];", ix.0, to.0, quoted(&words.join(" ")));
        }
    }
    out.push_str("}\n");
    out
}

/// A quoted string, in which a backslash would begin an escape.
fn quoted(text: &str) -> String {
    format!("\"{}\"", visible(text).replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_label_ends_it() {
        assert_eq!(quoted("a\"];b"), "\"a\\\"];b\"");
        assert_eq!(quoted("a\nb").matches('\n').count(), 0);
        assert!(quoted("ends\\").ends_with("\\\\\""));
    }
}
