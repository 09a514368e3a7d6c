//! `pull::apply` over random histories of one pull request.

use super::merges::{hold, is_green, owner, session};
use super::*;
use crate::effect::{Action, PullAction};
use crate::event::Event;
use crate::ids::{JobId, SessionId};
use crate::merge::{MAX_ATTEMPTS, Owner};
use crate::pull::{
    MergeApproval, MergeStyle, Pull, PullContext, PullInput, PullPhase, apply, approve, track,
};
use crate::step::Step;

/// What happens to a pull request.
#[derive(Debug, Clone)]
enum PullHappening {
    In(Box<PullInput>),
    Approve(Option<CommitSha>),
}

fn outside() -> impl Strategy<Value = PullContext> {
    let rare = prop_oneof![9 => Just(false), 1 => Just(true)];
    let merges = prop_oneof![8 => Just(0u32), 1 => 0u32..30];
    let unexpected = prop_oneof![
        2 => Just(None),
        2 => Just(Some(Some(Vec::new()))),
        1 => Just(Some(None)),
        1 => Just(Some(Some(vec!["x.rs".to_owned()]))),
    ];
    let unreviewed = prop_oneof![9 => Just(false), 1 => Just(true)];
    (
        owner(),
        session(),
        merges,
        hold(),
        rare,
        unreviewed,
        unexpected,
    )
        .prop_map(
            |(owner, session, merges_today, hold, merge_unsettled, plan_unreviewed, unexpected)| {
                PullContext {
                    owner,
                    session,
                    account: "default".parse().unwrap(),
                    attempt: 1,
                    wanted_base: "main".parse().unwrap(),
                    merges_today,
                    merge_day_ends: (merges_today > 0).then(|| at(900)),
                    hold,
                    merge_unsettled,
                    logs: Vec::new(),
                    gate: None,
                    sprint_gate: None,
                    plan_unreviewed,
                    unexpected,
                    is_base_merge: None,
                    session_page: None,
                }
            },
        )
}

fn happening() -> impl Strategy<Value = PullHappening> {
    let input = |input| PullHappening::In(Box::new(input));
    prop_oneof![
        10 => (facts(), outside()).prop_map(move |(facts, outside)| input(PullInput::Facts(Box::new(facts), Box::new(outside)))),
        1 => commit().prop_map(move |commit| input(PullInput::Merged { commit })),
        2 => failure().prop_map(move |failure| input(PullInput::MergeFailed(failure))),
        1 => proptest::option::of(commit()).prop_map(PullHappening::Approve),
    ]
}

/// Small steps forward, with now and then a jump anywhere.
fn moment() -> impl Strategy<Value = (Option<Timestamp>, i64)> {
    (
        prop_oneof![9 => Just(None), 1 => time().prop_map(Some)],
        0i64..400,
    )
}

fn new_pull() -> Pull {
    let session: SessionId = "14550388554331055113".parse().unwrap();
    track(
        "acme/shop#7".parse().unwrap(),
        JobId::from_ulid(ulid::Ulid(7)),
        Some(session),
        at(0),
    )
}

/// What must hold of one decision about facts.
fn check_facts(
    before: &Pull,
    step: &Step<Pull>,
    (facts, outside): (&PullFacts, &PullContext),
    policy: &Policy,
    now: Timestamp,
) {
    let merges: Vec<&Action> = step
        .effects
        .iter()
        .filter(|effect| matches!(effect, Action::Pull(PullAction::Merge { .. })))
        .collect();
    if let [Action::Pull(PullAction::Merge { sha, base, .. })] = merges.as_slice() {
        let approved = before
            .approval
            .as_ref()
            .is_some_and(|approval| approval.sha == facts.head.sha);
        assert!(is_green(facts, policy, approved, now));
        assert_eq!((sha, base), (&facts.head.sha, &facts.base));
        assert!(
            matches!(&step.aggregate.phase, PullPhase::Merging { sha: merging, .. } if merging == sha)
        );
        assert!(!outside.merge_unsettled && outside.merges_today < policy.merges_per_day);
        assert!(
            before.refused.as_ref().is_none_or(
                |refused| refused.sha != *sha || refused.refused.attempts < MAX_ATTEMPTS
            )
        );
    } else {
        assert!(merges.is_empty());
    }
    let fork = facts.head.repo != Some(facts.pull.repo.clone())
        || facts.head.repo_id != Some(facts.repo.id);
    let is_theirs = outside.owner == Owner::Foreign || fork;
    if outside.hold.is_some() || is_theirs {
        // It is decided only once, and waits for the end of a pause.
        let is_last =
            |action: &Action| matches!(action, Action::Pull(PullAction::DeleteBranch { .. }));
        assert!(step.effects.iter().all(is_last));
        assert!(step.effects.is_empty() || !is_theirs);
        assert_eq!(step.aggregate.repairs, before.repairs);
    }
}

/// What must hold of any decision.
fn check_any(before: &Pull, step: &Step<Pull>, policy_cap: u32) {
    let after = &step.aggregate;
    assert_eq!(step.due.is_none(), after.is_settled());
    assert!(after.repairs.count >= before.repairs.count);
    assert!(after.repairs.count <= before.repairs.count.max(policy_cap));
    assert!(after.alarms.starts_with(&before.alarms) && after.alarms.len() <= 13);
    let asked = |event: &&Event| event.what.kind() == "unexpected_push";
    let asked = step.events.iter().filter(asked).count();
    assert_eq!(
        step.events.len() - asked,
        after.alarms.len() - before.alarms.len()
    );
    assert!(asked <= 1);
    if before.is_settled() {
        assert_eq!(
            (after, &step.effects, &step.events, &step.follow_ups),
            (before, &vec![], &vec![], &vec![])
        );
    }
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn pull_requests_in_every_world(
        story in proptest::collection::vec((happening(), moment()), 1..14),
        policy in policy(),
        timing in timing(),
    ) {
        let (mut pull, mut now) = (new_pull(), at(0));
        let style = MergeStyle {
            method: Some(MergeMethod::Rebase),
            title: Some("Add search".to_owned()),
            delete_branch: Some(false),
        };
        let word = MergeApproval { by: "me", style: &style };
        for (happening, (jump, seconds)) in story {
            now = jump.unwrap_or_else(|| crate::when::plus(now, SignedDuration::from_secs(seconds)));
            let step = match &happening {
                PullHappening::Approve(sha) => match approve(&pull, sha.as_ref(), &word, now) {
                    Ok(step) => step,
                    Err(_) => continue,
                },
                PullHappening::In(input) => {
                    let mut input = (**input).clone();
                    if let PullInput::Facts(facts, _) = &mut input {
                        facts.read_at = now;
                    }
                    let step = apply(&pull, &input, now, &policy, &timing);
                    if let PullInput::Facts(facts, outside) = &input {
                        if !pull.is_settled() {
                            check_facts(&pull, &step, (facts, outside), &policy, now);
                        }
                        let again = apply(&step.aggregate, &input, now, &policy, &timing);
                        prop_assert_eq!(&again.aggregate, &step.aggregate);
                        prop_assert!(again.events.is_empty() && again.follow_ups.is_empty());
                        prop_assert!(again.effects.iter().all(|effect| step.effects.contains(effect)));
                    }
                    step
                }
            };
            check_any(&pull, &step, policy.ci_repairs);
            pull = step.aggregate;
        }
        let text = serde_json::to_string(&pull).unwrap();
        prop_assert_eq!(serde_json::from_str::<Pull>(&text).unwrap(), pull);
    }
}
