//! Plans: shown once each, or approved by policy, also when Jules says COMPLETED meanwhile.

use super::*;
use crate::cadence::wants_activities;

const WAITING: &str = "AWAITING_PLAN_APPROVAL";

fn approvals(story: &Story) -> Vec<String> {
    story.effects.iter().map(ToString::to_string).collect()
}

fn waiting(policy: PlanApproval) -> Story {
    let mut story = Story::new();
    story.policy.plan_approval = policy;
    story.log = vec![planned("p1", 5)];
    story
}

#[test]
fn plans_are_shown_once_to_whom_the_policy_names() {
    use crate::event::Audience;
    for (policy, audience) in [
        (PlanApproval::Agent, Audience::Agent),
        (PlanApproval::Human, Audience::Human),
    ] {
        let mut story = waiting(policy);
        assert_eq!(story.poll(10, WAITING), ["plan: p1"]);
        for second in 11..50 {
            assert!(story.poll(second, WAITING).is_empty());
        }
        assert_eq!(story.events[0].audience, audience);
        assert_eq!(
            (story.events[0].what.name(), story.events[0].what.kind()),
            ("question", "plan_approval")
        );
        assert!(story.effects.is_empty());
    }
}

#[test]
fn a_message_settles_a_question_and_no_plan() {
    let mut plan = waiting(PlanApproval::Agent);
    plan.poll(10, WAITING);
    let question = Story::polled(vec![agent("a1", 5)], 10, ASKING);
    for (order, of_plan) in [
        (Order::Say, false),
        (Order::Approve, true),
        (Order::Cancel, true),
    ] {
        assert_eq!(settles(order, &plan.events[0].what), of_plan, "{order:?}");
        assert!(settles(order, &question.events[0].what), "{order:?}");
    }
}

#[test]
fn by_policy_a_plan_is_approved_once_and_nobody_is_told() {
    let mut story = waiting(PlanApproval::Auto);
    for second in 10..50 {
        assert!(story.poll(second, WAITING).is_empty());
    }
    assert_eq!(approvals(&story), [format!("approve:{SESSION}:p1")]);
}

#[test]
fn a_regenerated_plan_is_a_new_occurrence() {
    let mut story = waiting(PlanApproval::Agent);
    story.poll(10, WAITING);
    story.log.push(planned("p2", 15));
    assert_eq!(story.poll(20, WAITING), ["plan: p2"]);
    assert_ne!(story.events[0].id, story.events[1].id);
    let mut story = waiting(PlanApproval::Auto);
    story.poll(10, WAITING);
    story.log.push(planned("p2", 15));
    story.poll(20, WAITING);
    assert_eq!(
        approvals(&story),
        [
            format!("approve:{SESSION}:p1"),
            format!("approve:{SESSION}:p2")
        ]
    );
}

#[test]
fn after_words_about_a_plan_the_log_is_read_until_it_has_another_one() {
    let timing = Timing::default();
    let session: SessionId = SESSION.parse().unwrap();
    let mut story = waiting(PlanApproval::Delivery);
    story.poll(10, WAITING);
    let reads = |story: &Story, second| {
        let shown = view(SESSION, WAITING);
        let last_read = Some(at(second - 1));
        wants_activities(story.watch(), &shown, last_read, at(second), &timing)
    };
    assert!(!reads(&story, 12));
    // The second is sent so soon that the echo of the first counts as its own.
    for (second, plan) in [(20, "p2"), (30, "p3")] {
        let step = say(&story.job, None, ("Smaller", plan), (at(second), &timing));
        story.take(step.unwrap());
        let step = said(&story.job, &session, Some(at(second + 1)), &timing);
        story.take(step);
        story.log.push(user(&format!("for-{plan}"), second + 1));
        story.poll(second + 2, WAITING);
        assert!(reads(&story, second + 4), "{plan}");
        story.log.push(planned(plan, second + 5));
        story.poll(second + 6, WAITING);
        let shown = &story.watch().attention;
        let is_it =
            matches!(shown, Attention::Plan { plan: Some(it), .. } if it.id.as_str() == plan);
        assert!(is_it, "{shown:?}");
        assert!(!reads(&story, second + 7), "{plan}");
    }
}

#[test]
fn an_approved_plan_is_answered_while_the_state_lags() {
    let mut story = waiting(PlanApproval::Agent);
    story.poll(10, WAITING);
    story.log.push(approved("p1", 15));
    assert!(story.poll(20, WAITING).is_empty());
    assert!(story.is_answered());
    assert!(story.poll(90, WAITING).is_empty());
    assert!(story.poll(100, WORKING).is_empty());
    assert_eq!(story.watch().attention, Attention::None);
}

#[test]
fn a_plan_without_steps_goes_out_and_the_steps_join() {
    let mut story = Story::new();
    assert!(story.poll(10, WAITING).is_empty());
    assert!(story.poll(39, WAITING).is_empty());
    assert_eq!(story.poll(40, WAITING), ["plan: -"]);
    story.log = vec![planned("p1", 8)];
    assert_eq!(story.poll(50, WAITING), ["+plan: p1"]);
    assert_eq!(story.amended[0].id, story.events[0].id);
    story.poll(60, WORKING);
    assert!(story.poll(70, WAITING).is_empty());
}

/// A plan that was announced without its steps at 40.
fn without_steps() -> Story {
    let mut story = Story::polled(vec![], 10, WAITING);
    assert_eq!(story.poll(40, WAITING), ["plan: -"]);
    story
}

#[test]
fn steps_join_whenever_they_come() {
    let mut written_since = without_steps();
    written_since.log = vec![planned("p1", 45)];
    assert_eq!(written_since.poll(50, WAITING), ["+plan: p1"]);
    let mut seen_after_flapping = without_steps();
    seen_after_flapping.poll(50, WORKING);
    seen_after_flapping.log = vec![planned("p1", 9)];
    assert_eq!(seen_after_flapping.poll(60, WAITING), ["+plan: p1"]);
}

#[test]
fn a_plan_after_the_late_one_is_another() {
    let mut story = without_steps();
    story.log = vec![planned("p1", 9)];
    assert_eq!(story.poll(50, WAITING), ["+plan: p1"]);
    story.log.push(planned("p2", 20));
    assert_eq!(story.poll(60, WAITING), ["plan: p2"]);
}

#[test]
fn a_plan_without_steps_that_comes_back_and_stays_is_the_same() {
    let mut story = without_steps();
    story.poll(50, WORKING);
    for second in [60, 61, 200] {
        assert!(story.poll(second, WAITING).is_empty());
        let told = &story.events[0].id;
        assert!(matches!(&story.watch().attention, Attention::Plan { event, .. } if event == told));
    }
}

#[test]
fn steps_that_come_late_do_not_approve_twice() {
    let mut story = Story::new();
    story.policy.plan_approval = PlanApproval::Auto;
    story.poll(10, WAITING);
    story.poll(40, WAITING);
    story.log = vec![planned("p1", 8)];
    assert!(story.poll(50, WAITING).is_empty());
    assert_eq!(story.effects.len(), 1);
}

#[test]
fn a_plan_that_nobody_was_shown_is_shown_once_the_policy_asks_somebody() {
    let mut story = waiting(PlanApproval::Auto);
    story.poll(10, WAITING);
    story.policy.plan_approval = PlanApproval::Human;
    assert_eq!(story.poll(20, WAITING), ["plan: p1"]);
    assert!(story.poll(30, WAITING).is_empty());
}

#[test]
fn an_automatic_approval_that_does_not_help_is_found_stuck() {
    let mut story = waiting(PlanApproval::Auto);
    story.poll(10, WAITING);
    assert!(story.poll(10 + 899, WAITING).is_empty());
    assert_eq!(story.poll(10 + 900, WAITING), ["stuck: made a plan"]);
}

#[test]
fn completed_with_a_plan_that_waits_is_a_plan_that_waits() {
    let mut story = waiting(PlanApproval::Agent);
    assert!(story.poll(10, "COMPLETED").is_empty());
    assert_eq!(story.poll(40, "COMPLETED"), ["plan: p1"]);
    assert!(story.poll(50, "COMPLETED").is_empty());
    // Approved, and the state still says COMPLETED: that is no completion.
    story.log.push(approved("p1", 55));
    assert!(story.poll(60, "COMPLETED").is_empty());
    assert!(story.poll(120, "COMPLETED").is_empty());
    story.poll(130, WORKING);
    story.log.push(done("d1", 300));
    story.pulls = vec!["acme/shop#7".parse().unwrap()];
    assert_eq!(story.poll(310, "COMPLETED"), ["completed: acme/shop#7"]);
}

#[test]
fn a_word_of_completion_counts_if_it_came_after_the_plan() {
    for (word, told) in [(9, "completed: "), (3, "plan: p1")] {
        let mut story = waiting(PlanApproval::Agent);
        story.log.push(done("d1", word));
        assert!(story.poll(10, "COMPLETED").is_empty());
        assert_eq!(story.poll(40, "COMPLETED"), [told]);
    }
}

/// A plan that waited under COMPLETED was approved, which was seen at 60.
fn approved_under_completed() -> Story {
    let mut story = waiting(PlanApproval::Agent);
    story.poll(10, "COMPLETED");
    assert_eq!(story.poll(40, "COMPLETED"), ["plan: p1"]);
    story.log.push(approved("p1", 55));
    assert!(story.poll(60, "COMPLETED").is_empty());
    story
}

#[test]
fn after_an_approval_a_pull_request_or_long_silence_is_a_completion() {
    let mut made = approved_under_completed();
    made.pulls = vec!["acme/shop#7".parse().unwrap()];
    assert_eq!(made.poll(70, "COMPLETED"), ["completed: acme/shop#7"]);
    let mut silent = approved_under_completed();
    assert!(silent.poll(60 + 899, "COMPLETED").is_empty());
    assert_eq!(silent.poll(60 + 900, "COMPLETED"), ["completed: "]);
}

#[test]
fn a_plan_whose_approval_never_showed_does_not_hide_a_completion() {
    let mut story = waiting(PlanApproval::Agent);
    story.pulls = vec!["acme/shop#7".parse().unwrap()];
    story.log.push(done("d1", 9));
    assert_eq!(story.poll(10, "COMPLETED"), ["completed: acme/shop#7"]);
}

#[test]
fn approval_read_before_its_plan_counts() {
    let mut story = Story::polled(vec![approved("p1", 8)], 9, "PLANNING");
    story.log.insert(0, planned("p1", 8));
    story.poll(10, WORKING);
    assert_eq!(story.watch().log.plan, None);
}

/// It may have been made and approved between two polls. What was ordered here was seen before, and any other job has no
/// use for it.
#[test]
fn a_plan_that_is_approved_elsewhere_is_kept_for_a_delivery() {
    let kept = |story: &Story| {
        let approved = story.watch().log.approved_plan.as_ref();
        approved.map(|approved| approved.plan.id.to_string())
    };
    let delivery = crate::ids::DeliveryId::of_issue(&new_job().repo, 12);
    for (delivery, wanted) in [(None, None), (Some(delivery.clone()), Some("p1"))] {
        let mut story = Story::new();
        story.job.delivery = delivery;
        story.log = vec![planned("p1", 5), approved("p1", 8)];
        story.poll(10, WORKING);
        assert_eq!(kept(&story).as_deref(), wanted);
        story.log.push(planned("p2", 20));
        story.poll(25, WAITING);
        assert_eq!(kept(&story), None, "another one waits");
    }

    let mut ordered = waiting(PlanApproval::Auto);
    ordered.job.delivery = Some(delivery);
    ordered.poll(10, WAITING);
    ordered.log.push(approved("p1", 12));
    ordered.poll(15, WORKING);
    assert_eq!(kept(&ordered), None);
}

#[test]
fn a_pull_request_shows_that_no_plan_waits() {
    let mut story = waiting(PlanApproval::Agent);
    story.pulls = vec!["acme/shop#7".parse().unwrap()];
    assert!(story.poll(10, "COMPLETED").is_empty());
    assert_eq!(story.poll(40, "COMPLETED"), ["completed: acme/shop#7"]);
}

#[test]
fn an_older_plan_that_comes_late_does_not_replace_a_newer_one() {
    let mut story = Story::polled(vec![planned("p2", 10)], 11, "AWAITING_PLAN_APPROVAL");
    story.log.push(planned("p1", 9));
    assert!(story.poll(12, "AWAITING_PLAN_APPROVAL").is_empty());
    let waiting = story.watch().log.plan.as_ref().unwrap();
    assert_eq!(waiting.plan.id.as_str(), "p2");
}

#[test]
fn of_a_long_plan_the_first_steps_are_kept() {
    let mut story = Story::new();
    // 220 bytes and 30 for the names of its fields: twenty of them fill the 5,000 bytes that are kept.
    let step = PlanStep {
        title: "x".repeat(220),
        description: String::new(),
    };
    let plan = Plan {
        id: "p1".parse().unwrap(),
        steps: vec![step; 21],
    };
    story.log = vec![activity("made", 10, ActivityKind::PlanGenerated(plan))];
    story.poll(11, "AWAITING_PLAN_APPROVAL");
    let waiting = story.watch().log.plan.as_ref().unwrap();
    assert_eq!(waiting.plan.steps.len(), 20);
}

/// A person approved the first plan; a message made Jules write another one, on which it works without asking.
fn replanned(policy: PlanApproval) -> Story {
    let mut story = waiting(policy);
    story.poll(10, WAITING);
    story.log.extend([approved("p1", 15), worked("w1", 20)]);
    story.poll(25, WORKING);
    story.log.push(planned("p2", 30));
    assert!(story.poll(32, WORKING).is_empty(), "it may still ask");
    story.log.push(worked("w2", 40));
    story
}

#[test]
fn a_plan_that_is_worked_on_without_an_approval_is_told_once() {
    use crate::event::Audience;
    for (policy, audience) in [
        (PlanApproval::Agent, Audience::Agent),
        (PlanApproval::Human, Audience::Human),
    ] {
        let mut story = replanned(policy);
        assert_eq!(story.poll(45, WORKING), ["unreviewed plan: p2"]);
        assert_eq!(story.events.last().unwrap().audience, audience);
        assert!(story.poll(50, WORKING).is_empty());
        assert!(has_unreviewed_plan(&story.job));
        story.log.push(planned("p3", 60));
        story.poll(62, WORKING);
        story.log.push(worked("w3", 65));
        assert_eq!(story.poll(70, WORKING), ["unreviewed plan: p3"]);
        // An approval answers for the present plan alone.
        let told = story.events.iter().rev().take(2);
        let answered: Vec<bool> = told
            .map(|event| answers(&story.job, Order::Approve, event))
            .collect();
        assert_eq!(answered, [true, false]);
    }
}

#[test]
fn a_pull_request_that_is_not_linked_yet_comes_from_an_unreviewed_plan_too() {
    let mut story = replanned(PlanApproval::Human);
    story.poll(45, "COMPLETED");
    let watch = story.watch();
    assert_eq!(watch.pull, None);
    assert!(has_unreviewed_plan(&story.job));
    // Nor is it forgotten once the job has ended.
    story.log.push(done("d1", 50));
    story.poll(60, "COMPLETED");
    story.poll(90, "COMPLETED");
    story.poll(90 + 7 * 24 * 3600, "COMPLETED");
    assert!(story.job.is_ended());
    assert!(has_unreviewed_plan(&story.job));
}

#[test]
fn a_plan_may_be_approved_after_the_fact() {
    let timing = Timing::default();
    // Here.
    let mut story = replanned(PlanApproval::Human);
    story.poll(45, WORKING);
    let (earlier, present) = ("p1".parse().unwrap(), "p2".parse().unwrap());
    let refused = approve(&story.job, None, Some(&earlier), at(50), &timing);
    assert_eq!(refused.unwrap_err().code, "plan_moved");
    let step = approve(&story.job, None, Some(&present), at(50), &timing).unwrap();
    assert_eq!(step.effects.len(), 1);
    assert!(!has_unreviewed_plan(&step.aggregate));
    let watch = watched(&step.aggregate);
    assert!(is_worked_on(watch, &"p2".parse().unwrap()));
    // Or on Jules's page.
    story.log.push(approved("p2", 55));
    story.poll(60, WORKING);
    assert!(!has_unreviewed_plan(&story.job));
}

#[test]
fn a_plan_that_waits_or_that_needs_no_approval_is_not_unreviewed() {
    // The word of work may be older than the state in which it waits.
    let mut story = replanned(PlanApproval::Human);
    assert_eq!(story.poll(45, WAITING), ["plan: p2"]);
    assert!(!has_unreviewed_plan(&story.job));
    // Where the first plan needs no approval, work on it is no news; on a second one it is.
    let mut story = Story::new();
    story.policy.plan_approval = PlanApproval::Auto;
    story.log = vec![planned("p1", 5), worked("w1", 10)];
    assert!(story.poll(15, WORKING).is_empty());
    let mut story = replanned(PlanApproval::Auto);
    assert_eq!(story.poll(45, WORKING), ["unreviewed plan: p2"]);
}
