//! `judge` merges exactly the complete green record, by a second implementation of what that is.

use super::*;
use crate::delivery::Phase;
use crate::facts::ACTIONS_BOT_ID;
use crate::ids::SprintNumber;
use crate::merge::{
    FACTS_AGE_MAX, Gate, Hold, Judgement, MAX_ATTEMPTS, MergeContext, MergeRefusals, Owner,
    SessionStatus, SprintGate, judge,
};

fn refused() -> impl Strategy<Value = MergeRefusals> {
    (0u32..8, time()).prop_map(|(attempts, again_at)| MergeRefusals {
        why: "405".to_owned(),
        attempts,
        again_at,
    })
}

pub(super) fn owner() -> impl Strategy<Value = Owner> {
    prop_oneof![8 => Just(Owner::Created), 1 => Just(Owner::Adopted), 1 => Just(Owner::Foreign)]
}

pub(super) fn session() -> impl Strategy<Value = SessionStatus> {
    prop_oneof![
        8 => Just(SessionStatus::Resting),
        1 => Just(SessionStatus::Working),
        1 => Just(SessionStatus::Failed),
        1 => Just(SessionStatus::Cancelled),
    ]
}

pub(super) fn hold() -> impl Strategy<Value = Option<Hold>> {
    prop_oneof![8 => Just(None), 1 => Just(Some(Hold::Paused)), 1 => Just(Some(Hold::ObserveOnly))]
}

/// Why a delivery does not let a head be merged; mostly it does.
fn gate() -> impl Strategy<Value = Option<Gate>> {
    let phase = Phase::Review;
    let delivery = "0123456789ab".parse().unwrap();
    prop_oneof![
        8 => Just(None),
        1 => Just(Some(Gate::Collected { delivery })),
        1 => Just(Some(Gate::NotInVerify { phase })),
        1 => Just(Some(Gate::OtherHead)),
    ]
}

/// Why a sprint does not let a pull request be merged by itself; mostly it does.
fn sprint_gate() -> impl Strategy<Value = Option<SprintGate>> {
    let sprint = SprintNumber::FIRST;
    prop_oneof![
        8 => Just(None),
        1 => Just(Some(SprintGate::Woven { sprint })),
        1 => Just(Some(SprintGate::Mail)),
        1 => Just(Some(SprintGate::Unreadable)),
        1 => Just(Some(SprintGate::TakenBack)),
        1 => Just(Some(SprintGate::Over)),
    ]
}

fn context() -> impl Strategy<Value = MergeContext> {
    (
        owner(),
        session(),
        proptest::option::of(commit()),
        prop_oneof![4 => time(), 4 => Just(at(-100))],
        prop_oneof![8 => Just(None), 1 => refused().prop_map(Some)],
        prop_oneof![8 => Just(0u32), 1 => 0u32..30],
        hold(),
        (
            prop_oneof![8 => Just(false), 1 => Just(true)],
            prop_oneof![8 => Just(None), 1 => Just(Some(vec!["x.rs".to_owned()]))],
            gate(),
            sprint_gate(),
        ),
    )
        .prop_map(
            |(owner, session, approved, head_since, refused, merges_today, hold, strange)| {
                MergeContext {
                    owner,
                    session,
                    wanted_base: "main".parse().unwrap(),
                    approved,
                    gate: strange.2,
                    sprint_gate: strange.3,
                    plan_unreviewed: strange.0,
                    unexpected: strange.1,
                    head_since,
                    refused,
                    merges_today,
                    merge_day_ends: (merges_today > 0).then(|| at(900)),
                    hold,
                }
            },
        )
}

/// Everything that a merge needs, restated in the plainest way.
pub(super) fn is_green(facts: &PullFacts, policy: &Policy, approved: bool, now: Timestamp) -> bool {
    let (Fact::Known(checks), Fact::Known(files), Fact::Known(reviews), Fact::Known(true)) = (
        &facts.checks,
        &facts.files,
        &facts.reviews,
        &facts.mergeable,
    ) else {
        return false;
    };
    let none = Demands::default();
    let demands = match &facts.demands {
        Fact::Known(demands) => demands,
        Fact::Unknown { .. } | Fact::Forbidden { .. } if policy.required_checks.is_empty() => {
            return false;
        }
        Fact::Unknown { .. } | Fact::Forbidden { .. } => &none,
    };
    let fine = |check: &Check| matches!(check.outcome, CheckOutcome::Passed(_));
    let succeeded = checks
        .iter()
        .filter(|check| check.outcome == CheckOutcome::Passed(Pass::Success))
        .count();
    let has = |name: &str, app: Option<u64>| {
        checks
            .iter()
            .any(|check| check.name == name && (app.is_none() || app == check.app))
    };
    let mut last_words = std::collections::BTreeMap::new();
    for review in reviews
        .iter()
        .filter(|review| review.verdict != ReviewVerdict::Comment)
    {
        last_words.insert(review.reviewer, review.verdict);
    }
    let approvals = last_words
        .values()
        .filter(|verdict| **verdict == ReviewVerdict::Approved)
        .count();
    let age = now.duration_since(facts.read_at);
    facts.state == PullState::Open
        && facts.head.repo == Some(facts.pull.repo.clone())
        && facts.head.repo_id == Some(facts.repo.id)
        && facts.base.branch.as_str() == "main"
        && !facts.draft
        && checks.iter().all(fine)
        && succeeded >= policy.min_checks as usize
        && demands.checks.iter().all(|rule| has(&rule.name, rule.app))
        && policy.required_checks.iter().all(|name| has(name, None))
        && (demands.unread.is_none() || !policy.required_checks.is_empty())
        && !demands.merge_queue
        && (!demands.up_to_date || demands.behind_by == Some(0))
        && approvals >= demands.approvals as usize
        && !last_words
            .values()
            .any(|verdict| *verdict == ReviewVerdict::ChangesRequested)
        && !files.is_empty()
        && (approved || !files.iter().any(|file| file.starts_with(".github/")))
        && !facts.labels.iter().any(|label| label == "DO-NOT-MERGE")
        && (approved || policy.merge == MergePolicy::OnGreen)
        && age <= FACTS_AGE_MAX
        && -age <= FACTS_AGE_MAX
}

fn may_merge(
    facts: &PullFacts,
    context: &MergeContext,
    (policy, timing): (&Policy, &Timing),
    now: Timestamp,
) -> bool {
    let owned = match context.owner {
        Owner::Created | Owner::Gaffer => true,
        Owner::Adopted => policy.adopted_may_merge,
        Owner::Foreign => false,
    };
    let refused = context
        .refused
        .as_ref()
        .is_some_and(|refused| refused.attempts >= MAX_ATTEMPTS || refused.again_at > now);
    let settled = now.duration_since(context.head_since.min(now)) >= timing.settle;
    // Without any check, those that may still come are waited for, and those that are held up are missed.
    let held_up = facts.author.id == ACTIONS_BOT_ID
        || facts.ci.as_ref().is_some_and(|ci| ci.approval_pending);
    let had_time = now.duration_since(context.head_since) >= timing.ci_start;
    let none = facts.checks.known().is_some_and(Vec::is_empty);
    owned
        && !refused
        && settled
        && (!none || (had_time && !held_up))
        && !context.plan_unreviewed
        && (context.unexpected.is_none() || context.approved.as_ref() == Some(&facts.head.sha))
        && context.session == SessionStatus::Resting
        && context.hold.is_none()
        && context.gate.is_none()
        && context.sprint_gate.is_none()
        && context.merges_today < policy.merges_per_day
        && is_green(
            facts,
            policy,
            context.approved == Some(facts.head.sha.clone()),
            now,
        )
}

proptest! {
    #![proptest_config(cases(4_000))]

    #[test]
    fn judge_merges_the_complete_green_record_and_nothing_else(
        mut facts in facts(),
        read_at in prop_oneof![8 => Just(at(0)), 1 => time()],
        context in context(),
        policy in policy(),
        timing in timing(),
        now in prop_oneof![8 => Just(at(5)), 1 => time()],
    ) {
        facts.read_at = read_at;
        let judgement = judge(&facts, &context, &policy, &timing, now);
        let may = may_merge(&facts, &context, (&policy, &timing), now);
        prop_assert_eq!(matches!(judgement, Judgement::Merge { .. }), may, "{:?}", judgement);
        match judgement {
            Judgement::Merge { sha, .. } | Judgement::Conflict { sha } => prop_assert_eq!(sha, facts.head.sha),
            Judgement::Wait { reasons, .. } | Judgement::Refuse { reasons } => {
                prop_assert!(!reasons.is_empty());
                for reason in &reasons {
                    prop_assert!(!reason.sentence().is_empty());
                }
            }
        }
    }
}

#[test]
fn green_records_are_among_the_random_ones() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let green = (0..2_000).filter(|_| {
        let mut facts = facts().new_tree(&mut runner).unwrap().current();
        facts.read_at = at(5);
        let policy = Policy {
            merge: MergePolicy::OnGreen,
            ..Policy::default()
        };
        is_green(&facts, &policy, false, at(5))
    });
    let count = green.count();
    assert!(
        count > 100,
        "{count}: the properties would hold of next to nothing"
    );
}
