//! Approvals that Jules refuses, or that come too late for their plan.

use super::*;
use crate::effect::{ATTEMPTS_MAX, Effect, EffectState, backoff};
use crate::failure::{Failure, FailureClass};
use crate::ids::PlanId;
use crate::when::plus;

fn plan() -> Plan {
    Plan {
        id: "p1".parse().unwrap(),
        steps: Vec::new(),
    }
}

/// A job whose plan was approved at second 1.
fn approved_job(delivery: bool) -> Job {
    let mut job = watched_job();
    job.delivery = delivery.then(|| "0123456789ab".parse().unwrap());
    if let JobPhase::Watching(watch) = &mut job.phase {
        watch.log.plan = Some(PendingPlan {
            plan: plan(),
            at: at(1),
            cut: false,
            worked_on: false,
        });
        watch.announced.approved_plan = Some(plan().id);
        watch.attention = Attention::None;
    }
    job
}

fn refused(job: &Job, attempt: u32, class: FailureClass) -> Step<Job> {
    let action = Action::Jules(JulesAction::ApprovePlan {
        session: job.session().unwrap().clone(),
        plan: plan().id,
    });
    let failure = Failure::new(class, "no").never_sent();
    let state = EffectState::Failed {
        at: at(9),
        attempt,
        failure: failure.clone(),
    };
    let effect = Effect {
        state,
        ..Effect::new(action, at(1))
    };
    order_failed(job, &effect, &failure, at(9))
}

#[test]
fn a_refused_approval_of_a_delivery_opens_the_plan_until_its_last_attempt() {
    let job = approved_job(true);
    let passes = FailureClass::Unavailable;
    let is_never = FailureClass::Invalid;
    for (attempt, class, is_again) in [
        (1, is_never, true),
        (ATTEMPTS_MAX - 1, is_never, true),
        (ATTEMPTS_MAX, is_never, false),
        (16, FailureClass::NotFound, false),
        (ATTEMPTS_MAX, passes, true),
        (40, passes, true),
    ] {
        let step = refused(&job, attempt, class);
        assert!(step.events.is_empty(), "{attempt} {class:?}");
        let found = refused_approval(&step.aggregate).unwrap();
        let again_at = is_again.then(|| plus(at(9), backoff(attempt)));
        assert_eq!(found.again_at, again_at, "{attempt} {class:?}");
        assert_eq!((found.at, found.why.as_str()), (at(9), "no"));
        let watch = watched(&step.aggregate);
        assert_eq!(watch.announced.approved_plan, None);
        let taken = crate::job::approved(&step.aggregate, &Timing::default());
        assert_eq!(refused_approval(&taken.aggregate), None);
    }
}

#[test]
fn the_refused_approval_of_a_job_without_a_delivery_is_announced() {
    let step = refused(&approved_job(false), 1, FailureClass::Invalid);
    assert_eq!(step.events.len(), 1);
    assert_eq!(step.aggregate.approval_refused, None);
}

#[test]
fn a_plan_that_does_not_wait_any_more_is_not_refused() {
    let mut job = refused(&approved_job(true), 1, FailureClass::Invalid).aggregate;
    watching(&mut job).log.plan = None;
    assert_eq!(refused_approval(&job), None);
}

#[test]
fn a_late_refusal_of_an_earlier_plan_hides_no_refusal_of_the_present_one() {
    let given_up = refused(&approved_job(true), ATTEMPTS_MAX, FailureClass::Invalid).aggregate;
    let action = Action::Jules(JulesAction::ApprovePlan {
        session: given_up.session().unwrap().clone(),
        plan: "p0".parse().unwrap(),
    });
    let failure = Failure::new(FailureClass::Invalid, "no").never_sent();
    let state = EffectState::Failed {
        at: at(12),
        attempt: 1,
        failure: failure.clone(),
    };
    let effect = Effect {
        state,
        ..Effect::new(action, at(1))
    };
    let later = order_failed(&given_up, &effect, &failure, at(12)).aggregate;
    assert!(refused_approval(&later).is_some());
    assert_eq!(later.approval_refused, given_up.approval_refused);
}

/// Whether an approval of the open plan is under way.
fn has_approval(story: &Story) -> bool {
    pending_answer(&story.job).unwrap().is_answered
}

/// Approves the present plan, unless the policy does so.
fn approve_present(story: &mut Story, second: i64) {
    if story.policy.plan_approval.is_asked() {
        let step = approve(&story.job, None, None, at(second), &story.timing);
        story.take(step.unwrap());
    }
}

/// An approval fails for good; answers how many events tell of it.
fn fails(story: &mut Story, action: &Action, second: i64) -> usize {
    let failure = Failure::new(FailureClass::Conflict, "no");
    let effect = Effect::new(action.clone(), at(second));
    let step = order_failed(&story.job, &effect, &failure, at(second));
    story.take(step).len()
}

#[test]
fn an_approval_is_of_the_plan_that_it_names_and_of_no_later_one() {
    const WAITING: &str = "AWAITING_PLAN_APPROVAL";
    let (first, second): (PlanId, PlanId) = ("p1".parse().unwrap(), "p2".parse().unwrap());
    for policy in [PlanApproval::Human, PlanApproval::Agent, PlanApproval::Auto] {
        let mut story = Story::new();
        story.policy.plan_approval = policy;
        story.log = vec![planned("p1", 5)];
        story.poll(10, WAITING);
        approve_present(&mut story, 12);
        assert!(has_approval(&story), "{policy:?}");
        assert!(!is_plan_replaced(story.watch(), &first), "{policy:?}");
        // It waits for its retry, and a message brings another plan.
        story.log.push(planned("p2", 15));
        story.poll(20, WAITING);
        for (plan, is_replaced) in [
            (&first, true),
            (&second, false),
            (&PlanId::unnamed(at(10)), false),
        ] {
            let found = is_plan_replaced(story.watch(), plan);
            assert_eq!(found, is_replaced, "{policy:?} {plan}");
        }
        // People and agents have their turn again; the policy has decided again.
        assert_eq!(has_approval(&story), !policy.is_asked(), "{policy:?}");
        approve_present(&mut story, 22);
        let (earlier, present) = (story.effects[0].clone(), story.effects[1].clone());
        assert_eq!(fails(&mut story, &earlier, 25), 0, "{policy:?}");
        assert!(has_approval(&story), "{policy:?}");
        assert_eq!(fails(&mut story, &present, 30), 1, "{policy:?}");
        assert!(!has_approval(&story), "{policy:?}");
    }
}
