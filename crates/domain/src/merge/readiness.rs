//! Whether a pull request is ready to be woven, by what was judged of its merge.

use super::{Judgement, MissingChecksCause, Reason};

/// Whether nothing stands in the way of a weave.
pub(crate) fn is_weavable(judgement: &Judgement, on_woven: bool) -> bool {
    match judgement {
        Judgement::Merge { .. } | Judgement::Conflict { .. } => true,
        Judgement::Wait { reasons, .. } | Judgement::Refuse { reasons } => {
            hindering_weave(reasons, on_woven).is_empty()
        }
    }
}

/// The reasons against a merge that stand in the way of a weave, too.
pub(crate) fn hindering_weave(reasons: &[Reason], on_woven: bool) -> Vec<&Reason> {
    // A weave says of what changes nothing that it does; a merge by itself would never come.
    let is_woven = reasons.iter().any(|it| matches!(it, Reason::Woven { .. }));
    let is_empty = is_woven && reasons.iter().any(Reason::is_without_files);
    let is_unchecked = is_empty || reasons.contains(&Reason::Conflict);
    let without_checks = on_woven && reasons.iter().any(is_without_checks);
    let passes = |reason: &Reason| {
        is_passed_over(reason, is_unchecked)
            || is_empty && reason.is_without_files()
            || on_woven && matches!(reason, Reason::Stacked { .. })
            || without_checks && is_about_missing_checks(reason)
    };
    reasons.iter().filter(|&it| !passes(it)).collect()
}

/// Whether no check comes. Many workflows run for some base branches only, and a branch that others are woven into is none of
/// them; the checks of the one pull request count in any case.
fn is_without_checks(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::CiNeverStarted {
            cause: MissingChecksCause::NoWorkflow | MissingChecksCause::Unknown
        }
    )
}

fn is_about_missing_checks(reason: &Reason) -> bool {
    let is_missing = matches!(
        reason,
        Reason::TooFewChecks { .. } | Reason::RequiredMissing { .. }
    );
    is_missing || is_without_checks(reason)
}

/// Whether a reason against a merge is none against a weave. GitHub starts no checks of a head that conflicts, and
/// workflows may leave one alone that changes nothing.
fn is_passed_over(reason: &Reason, is_unchecked: bool) -> bool {
    match reason {
        Reason::Woven { .. }
        | Reason::MailUncollected
        | Reason::MailUnreadable
        | Reason::NeedsApproval
        | Reason::ApprovalsMissing { .. }
        | Reason::ProtectedPath { .. }
        | Reason::Draft
        | Reason::Behind { .. }
        | Reason::DailyCap { .. }
        | Reason::Conflict
        | Reason::Settling { .. }
        | Reason::CiNeverStarted {
            cause: MissingChecksCause::Conflict,
        } => true,
        Reason::NoChecksYet { .. }
        | Reason::TooFewChecks { .. }
        | Reason::RequiredMissing { .. }
        | Reason::CiNeverStarted {
            cause:
                MissingChecksCause::ActionsToken
                | MissingChecksCause::ApprovalPending
                | MissingChecksCause::NoWorkflow
                | MissingChecksCause::Unknown,
        } => is_unchecked,
        Reason::NotOurs
        | Reason::AdoptedMayNotMerge
        | Reason::Fork
        | Reason::Closed
        | Reason::AlreadyMerged
        | Reason::DeliveryNotInVerify { .. }
        | Reason::VerdictOfAnotherHead
        | Reason::Collected { .. }
        | Reason::TakenBack
        | Reason::SprintOver
        | Reason::Paused
        | Reason::ObserveOnly
        | Reason::SessionWorking
        | Reason::SessionFailed
        | Reason::JobCancelled
        | Reason::WrongBase { .. }
        | Reason::Stacked { .. }
        | Reason::BlockingLabel { .. }
        | Reason::PlanUnreviewed
        | Reason::UnexpectedPush { .. }
        | Reason::MergeableUnknown
        | Reason::ChangesRequested
        | Reason::ChecksPending { .. }
        | Reason::ChecksFailed { .. }
        | Reason::ActionRequired { .. }
        | Reason::MergeQueue
        | Reason::Forbidden { .. }
        | Reason::Unknown { .. }
        | Reason::FactsStale
        | Reason::MergeRefused { .. }
        | Reason::MergeThrottled { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::fixture::{at, green_facts};
    use crate::facts::{Demands, Fact, PullFacts};
    use crate::merge::{MergeContext, Owner, SessionStatus, SprintGate, judge};
    use crate::policy::{Policy, Timing};

    /// Whether a pull request of a member is ready whose facts are green but for a change.
    fn is_ready_with(change: impl FnOnce(&mut PullFacts)) -> bool {
        let sprint = "50".parse().unwrap();
        is_ready_in(Some(SprintGate::Woven { sprint }), change)
    }

    /// The same where the sprint holds it for another reason, or not at all.
    fn is_ready_in(sprint_gate: Option<SprintGate>, change: impl FnOnce(&mut PullFacts)) -> bool {
        let mut facts = green_facts();
        change(&mut facts);
        is_ready_as(&facts, &context(sprint_gate))
    }

    fn is_ready_as(facts: &PullFacts, context: &MergeContext) -> bool {
        let (policy, timing) = (&Policy::default(), &Timing::default());
        is_weavable(&judge(facts, context, policy, timing, at(0)), false)
    }

    fn context(sprint_gate: Option<SprintGate>) -> MergeContext {
        MergeContext {
            owner: Owner::Created,
            session: SessionStatus::Resting,
            wanted_base: "main".parse().unwrap(),
            approved: None,
            gate: None,
            sprint_gate,
            plan_unreviewed: false,
            unexpected: None,
            head_since: at(-600),
            refused: None,
            merges_today: 0,
            merge_day_ends: None,
            hold: None,
        }
    }

    #[test]
    fn what_a_merge_waits_for_stands_in_the_way_of_no_weave() {
        assert!(is_ready_with(|facts| facts.draft = true));
        assert!(is_ready_with(|facts| facts.mergeable = Fact::Known(false)));
        assert!(is_ready_with(|facts| {
            facts.demands = Fact::Known(Demands {
                up_to_date: true,
                behind_by: Some(3),
                ..Demands::default()
            });
        }));
        let sprint = "50".parse().unwrap();
        let mut capped = context(Some(SprintGate::Woven { sprint }));
        capped.merges_today = Policy::default().merges_per_day;
        assert!(is_ready_as(&green_facts(), &capped));
    }

    #[test]
    fn what_changes_nothing_is_ready_and_what_is_unread_is_not() {
        assert!(is_ready_with(|_| {}));
        let no_files = |facts: &mut PullFacts| facts.files = Fact::Known(Vec::new());
        let no_checks = |facts: &mut PullFacts| facts.checks = Fact::Known(Vec::new());
        assert!(is_ready_with(no_files));
        for gate in [None, Some(SprintGate::Mail), Some(SprintGate::Unreadable)] {
            assert!(is_ready_in(gate, |_| {}), "nothing else holds it");
            assert!(!is_ready_in(gate, no_files), "it would never be merged");
        }
        assert!(!is_ready_with(no_checks));
        assert!(is_ready_with(|facts| {
            no_files(facts);
            no_checks(facts);
        }));
        let why = || "the list is cut off".to_owned();
        assert!(!is_ready_with(|facts| {
            facts.files = Fact::Unknown { why: why() };
        }));
        assert!(!is_ready_with(|facts| {
            no_files(facts);
            facts.mergeable = Fact::Unknown { why: why() };
        }));
    }

    #[test]
    fn a_branch_that_others_are_woven_into_needs_no_checks_of_its_own() {
        let not_started = |cause| Reason::CiNeverStarted { cause };
        let none = not_started(MissingChecksCause::NoWorkflow);
        let awaited = not_started(MissingChecksCause::ApprovalPending);
        let few = Reason::TooFewChecks { have: 0, need: 1 };
        let stacked = Reason::Stacked { position: 2 };
        let changes = Reason::ChangesRequested;
        for (reasons, on_woven, hindering) in [
            (vec![&none, &few], true, vec![]),
            (vec![&none, &few], false, vec![&none, &few]),
            (vec![&few], true, vec![&few]),
            (vec![&awaited], true, vec![&awaited]),
            (vec![&none, &changes], true, vec![&changes]),
            (vec![&stacked], true, vec![]),
            (vec![&stacked], false, vec![&stacked]),
        ] {
            let reasons: Vec<Reason> = reasons.into_iter().cloned().collect();
            let found = hindering_weave(&reasons, on_woven);
            assert_eq!(found, hindering, "{reasons:?} {on_woven}");
        }
    }
}
