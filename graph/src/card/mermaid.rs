//! The graph as a Mermaid flowchart.

use std::fmt::Write as _;

use super::reason::word;
use super::visible::visible;
use crate::plan::{Join, NodeKind};
use crate::verify::VerifiedPlan;

/// A Mermaid flowchart of a plan: gates as hexagons, joins as circles, edges with their reasons. Linear.
pub fn mermaid(verified: &VerifiedPlan) -> String {
    let plan = verified.plan();
    let mut out = String::from("flowchart TD\n");
    for (ix, node) in plan.nodes() {
        let (open, close, label) = match &node.kind {
            NodeKind::Call { .. } | NodeKind::Write { .. } => ("[\"", "\"]", node.id.clone()),
            NodeKind::Gate { call, .. } => ("{{\"", "\"}}", format!("⏸ {}", plan.node(*call).id)),
            NodeKind::Ask { .. } => ("{{\"", "\"}}", format!("⏸ {}", node.id)),
            NodeKind::Check { .. } => ("{\"", "\"}", node.id.clone()),
            NodeKind::Join(Join::Need { k, of, .. }) => ("((\"", "\"))", format!("{k} of {}", of.len())),
            NodeKind::Join(Join::All) => ("((\"", "\"))", "all".to_owned()),
        };
        let label = visible(&label).replace('"', "#quot;");
        let _ = writeln!(out, "  n{}{open}{label}{close}", ix.0);
    }
    for (ix, _) in plan.nodes() {
        for (to, edge) in plan.outgoing(ix) {
            let words: Vec<&str> = edge.reasons.iter().map(|(reason, _)| word(*reason)).collect();
            let _ = writeln!(out, "  n{} -->|{}| n{}", ix.0, words.join(" "), to.0);
        }
    }
    out
}
