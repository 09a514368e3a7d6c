//! Jobs that belong to no delivery, shown as deliveries, and what can be seen of jobs and pull requests.

use super::*;
use crate::ids::EventId;
use crate::job::tests::{creating, queued, watched_job, watching};
use crate::job::{self, Job};
use crate::policy::Timing;
use crate::pull::{Pull, PullPhase, PullVerdict, SeenHead, track};

fn shown(job: &Job, pull: Option<&Pull>) -> String {
    let delivery = of_job(job, pull, &Timing::default(), at(10));
    assert_eq!(delivery.id.as_str(), job.id.as_str());
    assert_eq!((delivery.kind, delivery.version), (DeliveryKind::Adhoc, 0));
    place(&delivery)
}

fn ended(how: job::EndReason) -> Job {
    let mut job = watched_job();
    job.phase = job::JobPhase::Ended(job::Ending {
        at: at(5),
        session: None,
        pull: Some(pull_ref()),
        how,
        plan_unreviewed: false,
    });
    job
}

#[test]
fn a_bare_job_is_shown_where_it_is() {
    assert_eq!(shown(&queued(), None), "implement/pending");
    assert_eq!(shown(&creating(), None), "implement/pending");
    assert_eq!(shown(&watched_job(), None), "implement/running");
    let merged = ended(job::EndReason::Merged { sha: sha('a') });
    assert_eq!(shown(&merged, None), "close/succeeded");
    assert_eq!(
        shown(&ended(job::EndReason::Completed), None),
        "close/succeeded"
    );
    assert_eq!(
        shown(&ended(job::EndReason::PullClosed), None),
        "verify/failed"
    );
    assert_eq!(
        shown(&ended(job::EndReason::Lost), None),
        "implement/failed"
    );
    let cancelled = ended(job::EndReason::Cancelled {
        by: "kim".to_owned(),
    });
    let delivery = of_job(&cancelled, None, &Timing::default(), at(10));
    let told = reasons(&delivery, None);
    let told: Vec<(&str, &str)> = told
        .iter()
        .map(|it| (it.code, it.sentence.as_str()))
        .collect();
    assert_eq!(told, [("canceled", "It was cancelled.")]);
    assert_eq!(delivery.error.unwrap().text, CANCELED);
}

fn steps() -> crate::session::Plan {
    crate::session::Plan {
        id: "p1".parse().unwrap(),
        steps: vec![crate::session::PlanStep {
            title: "Look".to_owned(),
            description: "At the cart".to_owned(),
        }],
    }
}

/// A job whose session asks something, and has shown a plan if there is one.
fn asking(attention: job::Attention, plan: Option<crate::session::Plan>) -> Job {
    let mut job = watched_job();
    let watch = watching(&mut job);
    watch.attention = attention;
    watch.log.plan = plan.map(|plan| job::PendingPlan {
        at: at(5),
        plan,
        cut: false,
        worked_on: false,
    });
    job
}

#[test]
fn a_plan_that_waits_is_shown_and_told_as_its_job_tells_it() {
    // Its steps may be late.
    for plan in [Some(steps()), None] {
        let waits = job::Attention::Plan {
            event: EventId::from_name("p"),
            since: at(6),
            plan: plan.clone(),
        };
        let job = asking(waits, plan.clone());
        assert_eq!(shown(&job, None), "plan/blocked");
        let delivery = of_job(&job, None, &Timing::default(), at(10));
        let (code, sentence) = job::plan_open(at(6));
        assert_eq!(
            reasons(&delivery, None),
            [DeliveryReason { code, sentence }]
        );
        let content = delivery.plan.as_ref().map(|plan| plan.content.as_str());
        assert_eq!(content, plan.as_ref().map(|_| "1. Look\nAt the cart"));
        // What is shown is what an approval is about.
        let read = delivery.plan.as_ref().map(|plan| &plan.id);
        let (now, timing) = (at(10), &Timing::default());
        assert!(job::approve(&job, None, read, now, timing).is_ok());
        let other = Some("p0".parse().unwrap());
        let refused = job::approve(&job, None, other.as_ref(), now, timing);
        assert_eq!(refused.unwrap_err().code, "plan_moved");
    }
}

#[test]
fn no_question_is_told_of_a_plan_about_which_no_one_is_asked() {
    let answered = job::Attention::Answered { since: at(7) };
    for attention in [job::Attention::None, answered] {
        let job = asking(attention, Some(steps()));
        assert_eq!(shown(&job, None), "plan/running");
        let delivery = of_job(&job, None, &Timing::default(), at(10));
        assert_eq!(reasons(&delivery, None)[0].code, "planning");
        assert_eq!(delivery.plan.unwrap().id.as_str(), "p1");
    }
    let question = job::Attention::Question {
        event: EventId::from_name("q"),
        since: at(6),
        text: None,
    };
    let job = asking(question, None);
    assert_eq!(shown(&job, None), "implement/blocked");
    let delivery = of_job(&job, None, &Timing::default(), at(10));
    assert_eq!(reasons(&delivery, None)[0].code, "blocked");
}

fn tracked() -> Pull {
    let job = watched_job();
    let session = job.session().unwrap().clone();
    let mut pull = track(pull_ref(), job.id, Some(session), at(0));
    pull.head = Some(SeenHead {
        sha: sha('a'),
        since: at(0),
    });
    pull
}

fn judged(head: char, reasons: Vec<crate::merge::Reason>) -> Pull {
    let mut pull = tracked();
    pull.verdict = Some(PullVerdict {
        at: at(1),
        sha: sha(head),
        judgement: crate::merge::Judgement::Refuse { reasons },
        checks: Vec::new(),
    });
    pull
}

#[test]
fn checks_are_seen_by_the_last_judgement_of_the_present_head() {
    use crate::merge::Reason;
    let names = || vec!["build".to_owned()];
    let failed = || {
        vec![Reason::ChecksFailed {
            names: names(),
            others_pending: false,
        }]
    };
    let checks = |pull: &Pull| PullGlimpse::of_pull(pull).checks;
    assert_eq!(checks(&tracked()), Checks::Unknown);
    assert_eq!(checks(&judged('b', Vec::new())), Checks::Unknown);
    assert_eq!(
        checks(&judged('a', vec![Reason::NeedsApproval])),
        Checks::Passed
    );
    let running = vec![
        Reason::NeedsApproval,
        Reason::ChecksPending { names: names() },
    ];
    assert_eq!(checks(&judged('a', running)), Checks::Running);
    let awaited = vec![Reason::NoChecksYet { until: at(9) }];
    assert_eq!(checks(&judged('a', awaited)), Checks::Awaited);
    let mut pull = judged('a', failed());
    assert_eq!(checks(&pull), Checks::Failed);
    pull.alarms.push(crate::pull::Alarm {
        cause: crate::event::ErrorCause::CiFailed,
        sha: sha('a'),
    });
    assert_eq!(checks(&pull), Checks::GivenUp);
    pull.alarms[0].sha = sha('c');
    let words = "no later head is repaired either";
    assert_eq!(checks(&pull), Checks::GivenUp, "{words}");
    let what = crate::merge::MergeInput::Checks;
    let unread = vec![Reason::Unknown {
        what,
        why: "502".to_owned(),
    }];
    assert_eq!(checks(&judged('a', unread)), Checks::Unknown);
}

#[test]
fn what_lasts_against_a_merge_is_seen_while_the_pull_request_is_open() {
    use crate::merge::{Judgement, LastingReason, Reason};
    let held = |pull: &Pull| PullGlimpse::of_pull(pull).held_by;
    let pending = Reason::ChecksPending {
        names: vec!["build".to_owned()],
    };
    let mut pull = judged('a', vec![Reason::NeedsApproval, pending]);
    assert_eq!(held(&pull), [LastingReason::NeedsApproval]);
    let older = judged('b', vec![Reason::NeedsApproval]);
    assert!(held(&older).is_empty(), "that is another head");
    pull.verdict.as_mut().unwrap().judgement = Judgement::Conflict { sha: sha('a') };
    assert_eq!(held(&pull), [LastingReason::Conflict]);
    pull.phase = PullPhase::Settled {
        state: crate::facts::PullState::Closed,
        sha: sha('a'),
        at: at(5),
        by: None,
    };
    assert!(held(&pull).is_empty(), "it is over");
}

#[test]
fn a_settled_pull_request_is_seen_as_ended() {
    let mut pull = tracked();
    assert_eq!(PullGlimpse::of_pull(&pull).end, None);
    pull.phase = PullPhase::Settled {
        state: crate::facts::PullState::Closed,
        sha: sha('b'),
        at: at(5),
        by: None,
    };
    let glimpse = PullGlimpse::of_pull(&pull);
    assert_eq!(glimpse.head, Some(sha('b')));
    assert_eq!(glimpse.end, Some(PullEnd::Closed { by: None }));
    let cancelled = ended(job::EndReason::Cancelled {
        by: "kim".to_owned(),
    });
    assert_eq!(shown(&cancelled, Some(&pull)), "implement/failed");
    let closed = ended(job::EndReason::PullClosed);
    assert_eq!(shown(&closed, Some(&pull)), "verify/failed");
}

#[test]
fn what_a_session_does_is_seen_in_its_job() {
    let work = |job: &Job| JobGlimpse::of_job(job, &Timing::default(), at(10)).work;
    assert_eq!(work(&queued()), SessionWork::Waiting);
    let mut job = watched_job();
    assert_eq!(work(&job), SessionWork::Working);
    let watch = watching(&mut job);
    watch.log.plan = Some(job::PendingPlan {
        at: at(5),
        plan: steps(),
        cut: false,
        worked_on: false,
    });
    assert_eq!(work(&job), planned("p1"));
    let sight = JobSight::of_job(&job, &Timing::default(), at(10));
    assert_eq!(sight.plan.unwrap().content, "1. Look\nAt the cart");
    assert_eq!(sight.plan_summary.as_deref(), Some("1 step: Look"));
    assert_eq!(sight.said, None);
    let watch = watching(&mut job);
    watch.announced.approved_plan = Some("p1".parse().unwrap());
    let said = job::AgentMessage {
        id: "a1".parse().unwrap(),
        at: at(7),
        text: "On it.".to_owned(),
    };
    watch.log.agent = Some(said.clone());
    assert_eq!(work(&job), SessionWork::Working);
    let sight = JobSight::of_job(&job, &Timing::default(), at(10));
    assert_eq!(sight.said, Some(said));
}
