//! `delivery::apply` over random histories of one delivery.

use super::*;
use crate::delivery::tests::{World, command, job, new_delivery, pull_ref};
use crate::delivery::{
    Act, Actor, Checkpoints, CheckpointsBy, Checks, ChildState, Closed, CommandKind, Delivery,
    DeliveryInput, Endpoint, Executor, IssueSight, IssueState, JobEnd, Observe, Part, PartsSight,
    Phase, PlanBy, ProviderReport, PullEnd, ReviewBy, ReviewResult, ReviewSight, ReviewState,
    Rules, RunResult, RunStatus, SPANS_MAX, SessionWork, Sight, Verdict, apply, create, due, gate,
    legal, wants,
};

mod happenings;
mod live_jobs;

use happenings::{DeliveryHappening, after_the_last_round, happening, rules};
use live_jobs::LiveJobs;

/// What comes in when something happens now.
fn input(
    delivery: &Delivery,
    happening: &DeliveryHappening,
    n: usize,
    now: Timestamp,
) -> DeliveryInput {
    match happening {
        DeliveryHappening::Ordered(by, act) => {
            command(&format!("happening {n}"), by.clone(), act.clone())
        }
        DeliveryHappening::Job(work, has_pull, elsewhere) => {
            let mut seen = job(delivery, work.clone(), has_pull.then(pull_ref));
            if let DeliveryInput::Job(sight, _) = &mut seen {
                sight.glimpse.approved_elsewhere = *elsewhere;
            }
            seen
        }
        DeliveryHappening::Pull(glimpse) => DeliveryInput::Pull(glimpse.clone(), now),
        DeliveryHappening::Issue(state) => DeliveryInput::Issue(IssueSight {
            read_at: now,
            state: state.clone(),
        }),
        DeliveryHappening::Reviewed(state) => {
            let asked = delivery.review.asked.as_ref();
            let job = asked.and_then(|asked| asked.job.clone());
            let job = job.unwrap_or_else(|| crate::ids::JobId::from_ulid(ulid::Ulid(3)));
            DeliveryInput::Review(ReviewSight {
                job,
                session: None,
                state: state.clone(),
            })
        }
        DeliveryHappening::Child(place, state) => {
            let child = delivery.children.get(*place);
            let id = child.map_or(delivery.id.clone(), |child| child.id.clone());
            DeliveryInput::Child(id, *state)
        }
        DeliveryHappening::Parts(is_any_merged, is_known) => DeliveryInput::Parts(PartsSight {
            is_any_merged: *is_any_merged,
            read_at: is_known.then_some(now),
        }),
        DeliveryHappening::AskedFor(why) => DeliveryInput::AskedFor(why.clone()),
        DeliveryHappening::Provider(phase, report) => {
            DeliveryInput::Provider(*phase, report.clone())
        }
        DeliveryHappening::Cancelled => DeliveryInput::Cancelled(Actor::person("kim")),
        DeliveryHappening::Deadline => DeliveryInput::Deadline,
    }
}

/// Every span but the last one ended, once; what it says of executor and verdict fits.
fn check_spans(before: &Delivery, after: &Delivery) {
    assert!(after.phase_runs.len() <= SPANS_MAX);
    let (last, earlier) = after.phase_runs.split_last().unwrap();
    assert!(last.ended_at.is_none());
    let is_here = (last.phase, last.run_status, last.verdict);
    assert_eq!(is_here, (after.phase, after.run_status, after.verdict));
    for (at, span) in earlier.iter().enumerate() {
        let end = span.ended_at.unwrap();
        assert!(end >= span.started_at);
        if let Some(known) = before.phase_runs.get(at) {
            assert!(known.ended_at.is_none_or(|known| known == end));
            assert_eq!(
                (known.phase, known.started_at),
                (span.phase, span.started_at)
            );
        }
        let reviewed = (span.phase, span.run_status) == (Phase::Review, RunStatus::Succeeded);
        assert_eq!(span.verdict.is_some(), reviewed);
        assert!(matches!(
            span.executor(),
            Executor::Agent | Executor::System
        ));
    }
}

/// Whether a person sends a change back by it, which no number of rounds limits.
fn is_sent_back_by_person(input: &DeliveryInput) -> bool {
    let DeliveryInput::Command(command) = input else {
        return false;
    };
    let sends_back = match &command.act {
        Act::Verdict(review) => review.verdict == Verdict::NotPass,
        Act::Retry { reason } => reason.is_some(),
        Act::Start
        | Act::Approve { .. }
        | Act::Reject { .. }
        | Act::Cancel
        | Act::Plan { .. }
        | Act::Split { .. }
        | Act::Merge { .. }
        | Act::Edit(_)
        | Act::Collect { .. }
        | Act::Analyse { .. } => false,
    };
    sends_back && command.by.is_person()
}

/// The counters that limit loops do, and at most one run is under way. A round begins at a time, and beyond the allowed
/// ones only by a person's word.
fn check_bounds(before: &Delivery, after: &Delivery, (rules, input): (&Rules, &DeliveryInput)) {
    let begins = after.review_round != before.review_round;
    assert!(!begins || after.review_round == before.review_round + 1);
    let is_beyond = begins && after.review_round > rules.review_rounds;
    assert!(!is_beyond || is_sent_back_by_person(input), "{input:?}");
    assert!(after.attempt >= before.attempt);
    assert!(after.attempt <= before.attempt + 1);
    let running = after
        .runs
        .iter()
        .filter(|run| run.status == RunResult::Running);
    assert!(running.count() <= 1);
    assert_eq!(after.error.is_some(), after.run_status == RunStatus::Failed);
    assert!(serde_json::to_string(after).unwrap().len() < 64 * 1024);
    assert_eq!(after.is_terminal(), after.closed.is_some());
}

/// Phases follow the table: onwards by one, back to plan or implement, to verify by a merge, and to the end.
fn check_moves(before: &Delivery, after: &Delivery, input: &DeliveryInput) {
    let from = before.phase_runs.len() - 1;
    for pair in after.phase_runs[from..].windows(2) {
        let (a, b) = (&pair[0], &pair[1]);
        let stays = a.phase == b.phase;
        let onwards = b.phase == a.phase.next() && a.run_status == RunStatus::Succeeded;
        let back = matches!(b.phase, Phase::Plan | Phase::Implement) && b.phase < a.phase;
        let again = (a.phase, b.phase) == (Phase::Verify, Phase::Review);
        let merged = b.phase == Phase::Verify && b.run_status == RunStatus::Succeeded;
        let closed = b.phase == Phase::Close;
        assert!(
            stays || onwards || back || again || merged || closed,
            "{a:?} {b:?}"
        );
        if a.phase == Phase::Review
            && b.phase == Phase::Verify
            && b.run_status == RunStatus::Pending
        {
            assert_eq!(
                (a.run_status, a.verdict),
                (RunStatus::Succeeded, Some(Verdict::Pass))
            );
        }
        let is_failed = a.run_status == RunStatus::Failed;
        let is_ordered = matches!(input, DeliveryInput::Command(_));
        assert!(!is_failed || is_ordered || closed || merged, "{a:?} {b:?}");
    }
}

/// No head but the reviewed one gets through.
fn check_gate(after: &Delivery) {
    for digit in ['a', 'b', 'c', 'd'] {
        let head = sha(digit);
        if gate(after, &head).is_none() {
            assert_eq!(after.phase, Phase::Verify);
            assert_eq!(after.review.head.as_ref(), Some(&head));
        }
    }
    if let Some(approved) = &after.review.approved {
        assert!(
            approved.by.is_person()
                || after.rules.checkpoints_by == CheckpointsBy::Anyone
                || after.phase >= Phase::Verify
        );
    }
}

fn check_terminal(before: &Delivery, after: &Delivery) {
    if before.is_terminal() {
        assert_eq!(before, after);
    }
}

fn is_empty(text: &Act) -> bool {
    match text {
        Act::Reject { reason } => is_blank(reason),
        Act::Verdict(review) => review.verdict == Verdict::NotPass && review.feedback.is_none(),
        Act::Split { children } => children.is_empty(),
        Act::Approve { head, .. } | Act::Merge { head, .. } => head.is_some(),
        Act::Edit(changes) => changes.summary.as_deref().is_some_and(is_blank),
        Act::Start
        | Act::Retry { .. }
        | Act::Cancel
        | Act::Plan { .. }
        | Act::Collect { .. }
        | Act::Analyse { .. } => false,
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Whether it went on from where something was refused: refused once more, that is about where it is now.
fn is_refused_elsewhere(before: &Delivery, after: &Delivery, input: &DeliveryInput) -> bool {
    let has_moved = after.phase_runs.len() > before.phase_runs.len();
    has_moved && matches!(input, DeliveryInput::AskedFor(Some(_)))
}

/// For what an order is refused that is legal.
const ODD: [&str; 4] = [
    "head_moved",
    "rounds_used_up",
    "collected_already",
    "no_reason_taken",
];

/// What happens one after the other, each with the seconds before it.
type Story = Vec<(DeliveryHappening, i64)>;

/// Plays a story from a delivery on, and checks each decision.
fn play(mut delivery: Delivery, rules: &Rules, story: Story) -> Result<Delivery, TestCaseError> {
    let mut now = delivery.updated_at;
    let mut jobs = LiveJobs::default();
    for (n, (happening, seconds)) in story.into_iter().enumerate() {
        now = crate::when::plus(now, SignedDuration::from_secs(seconds));
        let input = input(&delivery, &happening, n, now);
        jobs.see(&delivery, &input);
        let decided = apply(&delivery, &input, now, rules);
        if let DeliveryHappening::Ordered(by, act) = &happening {
            let listed = legal(&delivery, by, rules);
            let is_listed = listed.contains(&act.kind());
            if let Err(refused) = &decided {
                prop_assert_eq!(&refused.legal, &listed);
                let is_odd = is_empty(act) || ODD.contains(&refused.code);
                prop_assert!(!is_listed || is_odd, "{:?}", refused);
            } else {
                prop_assert!(is_listed);
            }
        }
        let Ok(step) = decided else {
            continue;
        };
        let after = step.aggregate;
        prop_assert!(after.version >= delivery.version);
        prop_assert_eq!(after.version > delivery.version, after != delivery);
        let again = apply(&after, &input, now, rules).unwrap();
        if !is_refused_elsewhere(&delivery, &after, &input) {
            prop_assert_eq!(&again.aggregate, &after);
        }
        check_terminal(&delivery, &after);
        check_spans(&delivery, &after);
        check_bounds(&delivery, &after, (rules, &input));
        check_moves(&delivery, &after, &input);
        check_gate(&after);
        jobs.follow(&after);
        prop_assert!(jobs.is_one_of_each(), "{:?}", jobs);
        prop_assert_eq!(step.due, due(&after, now));
        prop_assert!(after.is_terminal() || step.due.is_some_and(|due| due > now));
        let seen = Sight {
            job: after.seen.job.clone(),
            issue_open: true,
            ..Sight::default()
        };
        prop_assert!(wants(&after, &seen).len() <= 8);
        if after.run_status == RunStatus::Failed && after.phase != Phase::Close {
            let may = legal(&after, &Actor::person("kim"), rules);
            prop_assert!(may.contains(&CommandKind::Retry));
        }
        delivery = after;
    }
    Ok(delivery)
}

/// A delivery whose review sends nothing back any more, and did not pass head `a`.
fn used_up() -> World {
    let mut world = World::in_review(Rules {
        review_rounds: 0,
        ..crate::delivery::tests::rules(&[Phase::Review], "verify", ReviewBy::Agent)
    });
    let not_pass = crate::delivery::tests::verdict(Verdict::NotPass, 'a');
    let answer = world.orders(Actor::agent("zai"), not_pass);
    assert_eq!(answer, Ok("review/failed".to_owned()));
    world
}

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn deliveries_in_every_world(
        story in proptest::collection::vec((happening(), 0i64..400), 1..40),
        rules in rules(),
        can_be_woken in any::<bool>(),
    ) {
        let rules = rules.with_agent(can_be_woken).into_owned();
        let delivery = create(&new_delivery(), &rules, at(0)).unwrap().aggregate;
        let delivery = play(delivery, &rules, story)?;
        if delivery.closed == Some(Closed::Finished) && delivery.endpoint.merges() {
            let end = delivery.seen.pull.as_ref().and_then(|pull| pull.end.clone());
            let is_merged = matches!(end, Some(PullEnd::Merged { .. }));
            prop_assert!(is_merged);
        }
        let text = serde_json::to_string(&delivery).unwrap();
        prop_assert_eq!(serde_json::from_str::<Delivery>(&text).unwrap(), delivery);
    }

    /// Here every order that sends it back once more is a person's.
    #[test]
    fn deliveries_whose_rounds_are_used_up(
        story in proptest::collection::vec((after_the_last_round(), 0i64..400), 1..12),
    ) {
        let world = used_up();
        play(world.delivery, &world.rules, story)?;
    }
}
