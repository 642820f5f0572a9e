//! What stands in front of a call: whether it is asked with its final arguments, under which terms, and the row for it.

use plangate_approval::approvals::Ask;
use plangate_approval::row::RowCall;
use plangate_graph::card::files::path_only;
use plangate_graph::effect::Classification;
use plangate_graph::outline::Call;
use plangate_graph::plan::NodeKind;
use plangate_graph::policy::{Asking, AskingOf, Terms};
use plangate_graph::template::Template;
use plangate_graph::{Evidence, NodeIx, Policy, Value, VerifiedPlan};

/// The policies that hold for a run: the one stored with it, and that of now where the host gave it. The stricter counts.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) present: Option<Policy>,
}

/// What policy says of a call with its final arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A person is asked.
    Ask,
    /// It goes through; the rule, in words.
    Through(String),
    /// It may not be called; why.
    Deny(String),
}

impl Rules {
    /// Asks policy about a call. A gate of the plan stays, unless it is there only because arguments were not known.
    pub(crate) fn verdict(&self, plan: &VerifiedPlan, ix: NodeIx, call: &Call, args: &Value) -> Verdict {
        let Some(classification) = plan.classification(ix) else {
            return Verdict::Deny(format!("{}.{} is not in the catalog", call.server, call.tool));
        };
        self.verdict_as(plan, ix, call, args, classification)
    }

    /// The same, of a call that was classified anew.
    pub(crate) fn verdict_as(
        &self,
        plan: &VerifiedPlan,
        ix: NodeIx,
        call: &Call,
        args: &Value,
        classification: &Classification,
    ) -> Verdict {
        let Some(definition) = plan.catalog().definition(&call.server, &call.tool) else {
            return Verdict::Deny(format!("{}.{} is not in the catalog", call.server, call.tool));
        };
        let ask = |policy: &Policy, final_args: Option<&Value>| {
            let of = AskingOf {
                server: &call.server,
                definition,
                classification,
                args: Some(&call.args),
                final_args,
                without_asking: call.without_asking,
            };
            policy.asking(&of, plan.author())
        };
        let gated = matches!(&plan.plan().node(ix).kind, NodeKind::Call { judged, .. } if judged.asked);
        let planned = ask(plan.policy(), call.args.literal());
        let stored = match ask(plan.policy(), Some(args)) {
            Asking::Through(_) if gated && !matches!(planned, Asking::Ask(_)) => Verdict::Ask,
            asking => Verdict::from(asking),
        };
        let present = self.present.as_ref().map(|policy| Verdict::from(ask(policy, Some(args))));
        match (stored, present) {
            (Verdict::Deny(why), _) | (_, Some(Verdict::Deny(why))) => Verdict::Deny(why),
            (Verdict::Ask, _) | (_, Some(Verdict::Ask)) => Verdict::Ask,
            (Verdict::Through(rule), _) => Verdict::Through(rule),
        }
    }

    /// Whether a read that was under way when its process ended is not made again, by either policy.
    pub(crate) fn once(&self, plan: &VerifiedPlan, call: &Call) -> bool {
        let once = |policy: &Policy| policy.once(&call.server, &call.tool);
        once(plan.policy()) || self.present.as_ref().is_some_and(once)
    }

    /// What a row of this call needs to be decided, with its final arguments: the stricter of both policies, field by field.
    pub(crate) fn terms(&self, plan: &VerifiedPlan, call: &Call, args: &Value) -> Terms {
        let terms = |policy: &Policy| policy.terms_of(&call.server, &call.tool, Some(args));
        match &self.present {
            Some(present) => stricter(terms(plan.policy()), terms(present)),
            None => terms(plan.policy()),
        }
    }
}

impl From<Asking> for Verdict {
    fn from(asking: Asking) -> Verdict {
        match asking {
            Asking::Ask(_) => Verdict::Ask,
            Asking::Through(why) => Verdict::Through(format!("{} ({})", why.says, why.code)),
            Asking::Deny(why) => Verdict::Deny(format!("{} ({})", why.says, why.code)),
        }
    }
}

pub(crate) fn stricter(a: Terms, b: Terms) -> Terms {
    // A voter needs a role under either; where the two have none in common, those of now count.
    let common: Vec<String> = a.roles.iter().filter(|role| b.roles.contains(role)).cloned().collect();
    let roles = match (a.roles.is_empty(), b.roles.is_empty()) {
        (_, true) => a.roles,
        (true, false) => b.roles,
        (false, false) if common.is_empty() => b.roles,
        (false, false) => common,
    };
    let may_edit = match (a.may_edit, b.may_edit) {
        (Some(a), Some(b)) => Some(a.into_iter().filter(|role| b.contains(role)).collect()),
        _ => None,
    };
    Terms {
        deadline_ms: a.deadline_ms.min(b.deadline_ms),
        quorum: a.quorum.max(b.quorum),
        roles,
        verified_only: a.verified_only || b.verified_only,
        requester_may_decide: a.requester_may_decide && b.requester_may_decide,
        may_edit,
        repeat: a.repeat.map_or(b.repeat, |a| Some(b.repeat.map_or(a, |b| a.and(b)))),
    }
}

/// What is put: the exact call, its canonical bytes made here and nowhere else.
pub(crate) fn ask_of_call(
    plan: &VerifiedPlan,
    node: NodeIx,
    ix: NodeIx,
    call: &Call,
    args: &Value,
    timeout_ms: i64,
    terms: Terms,
) -> Option<Ask> {
    let NodeKind::Call { judged, .. } = &plan.plan().node(ix).kind else { return None };
    Some(Ask {
        node: plan.plan().node(node).id.clone(),
        ask: 0,
        call: Some(RowCall {
            node: plan.plan().node(ix).id.clone(),
            server: call.server.clone(),
            origin: plan.catalog().server(&call.server).and_then(|s| s.origin.clone()),
            tool: call.tool.clone(),
            definition: judged.definition,
            args: args.canonical(),
            timeout_ms,
        }),
        question: None,
        reason: why(plan, call, args, &judged.evidence),
        policy: plan.policy().digest(),
        terms,
    })
}

/// Why a call is asked, in sentences with their codes, and what an approval of it is not about.
pub(crate) fn why(plan: &VerifiedPlan, call: &Call, args: &Value, evidence: &[Evidence]) -> Vec<String> {
    let definition = plan.catalog().definition(&call.server, &call.tool);
    let mut why = reasons(evidence);
    why.extend(definition.and_then(|of| path_only(of, &Template::Lit(args.clone()))));
    why
}

/// Evidence as sentences with their codes.
fn reasons(evidence: &[Evidence]) -> Vec<String> {
    evidence.iter().map(|e| format!("{} ({})", e.says, e.code)).collect()
}

/// What is put for a question in front of several steps, or of none.
pub(crate) fn ask_of_question(plan: &VerifiedPlan, node: NodeIx, words: String) -> Ask {
    Ask {
        node: plan.plan().node(node).id.clone(),
        ask: 0,
        call: None,
        question: Some(words),
        reason: vec!["the recipe asks (question)".to_owned()],
        policy: plan.policy().digest(),
        terms: Terms::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stricter_terms_hold_field_by_field() {
        let roles = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        let stored = Terms {
            quorum: 2,
            roles: roles(&["ops", "dev"]),
            may_edit: Some(roles(&["ops"])),
            ..Terms::default()
        };
        let present = Terms {
            deadline_ms: 60_000,
            roles: roles(&["ops", "lead"]),
            verified_only: true,
            requester_may_decide: false,
            ..Terms::default()
        };
        let both = stricter(stored.clone(), present.clone());
        assert_eq!(both, stricter(present, stored));
        assert_eq!((both.deadline_ms, both.quorum, both.roles), (60_000, 2, roles(&["ops"])));
        assert!(both.verified_only && !both.requester_may_decide && both.may_edit.is_none());
    }
}
