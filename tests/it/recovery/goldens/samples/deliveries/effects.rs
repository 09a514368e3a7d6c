//! Samples of what deliveries see of others and do to others.

use domain::delivery::{
    Checks, IssueRef, JobEnd, JobGlimpse, Phase, PullEnd, PullGlimpse, Seen, SessionWork,
};
use domain::effect::{Action, Effect, TrackerAction};
use domain::event::{DeliveryAsk, Event, EventContext, Occurrence};
use domain::ids::RepoId;
use domain::merge::LastingReason;
use engine::keys;
use engine::work::{IssueWebhook, Work};

use super::super::jobs::approval_refused;
use super::super::{AT, Samples, event, job_id, plan, pull_ref, sha};
use super::id;

pub(super) fn put(samples: &mut Samples) {
    let pk = keys::delivery_pk(&id());
    for action in actions() {
        let effect = Effect::new(Action::Tracker(action), AT);
        samples.put(keys::effect(&pk, &effect.id), &effect);
    }
    for (n, ask) in (200..).zip(asks()) {
        let what = Occurrence::Delivery {
            ask,
            summary: "Add search".to_owned(),
        };
        let event = Event {
            job: None,
            aid: EventContext {
                delivery: Some(id()),
                ..EventContext::default()
            },
            ..event(n, what)
        };
        samples.put(keys::delivery_event(&id(), &event.id), &event);
    }
    for (n, work) in (200..).zip(works()) {
        let row = ulid::Ulid::from_parts(0, n);
        samples.put(keys::out(&pk, &row), &work);
    }
}

fn works() -> [Work; 3] {
    let intake = |number: Option<u64>| Work::Intake {
        repo: pull_ref().repo,
        number,
        webhook: number.map(|_| IssueWebhook {
            repo_id: RepoId(7),
            received_at: AT,
        }),
    };
    [Work::Delivery { id: id() }, intake(None), intake(Some(12))]
}

fn actions() -> [TrackerAction; 3] {
    let issue = || -> IssueRef { "Acme/Shop#12".parse().expect("an issue") };
    [
        TrackerAction::Tell {
            issue: issue(),
            text: "At plan, running.".to_owned(),
            cause: "3:0123456789abcdef".to_owned(),
        },
        TrackerAction::CloseIssue { issue: issue() },
        TrackerAction::DispatchWorkflow {
            repo: pull_ref().repo,
            file: "deploy.yml".to_owned(),
            branch: "main".parse().expect("a branch"),
            cause: "deploy:1".to_owned(),
            since: AT,
            merge: Some(sha('f')),
        },
    ]
}

fn asks() -> [DeliveryAsk; 5] {
    [
        DeliveryAsk::Start,
        DeliveryAsk::Plan,
        DeliveryAsk::Checkpoint {
            phase: Phase::Plan,
            plan: Some(plan()),
        },
        DeliveryAsk::Review {
            pull: pull_ref(),
            head: sha('a'),
        },
        DeliveryAsk::Merge {
            pull: pull_ref(),
            head: sha('a'),
        },
    ]
}

/// Everything that a delivery can see of its job and its pull request.
pub(super) fn seen() -> impl Iterator<Item = Seen> {
    let jobs = works_of_jobs().into_iter().map(|work| Seen {
        job: Some(JobGlimpse {
            job: job_id(),
            branch: "main".parse().expect("a branch"),
            attempt: 2,
            work,
            pull: Some(pull_ref()),
            message_sent: Some(2),
            message_refused: Some(2),
            approval_refused: Some(approval_refused()),
            approved_elsewhere: true,
        }),
        ..Seen::default()
    });
    let pulls = CHECKS.into_iter().zip(ends().into_iter().cycle());
    let pulls = pulls.map(|(checks, end)| Seen {
        pull: Some(PullGlimpse {
            pull: pull_ref(),
            head: Some(sha('a')),
            same_work_as: Some(sha('b')),
            checks,
            lacks_approval: true,
            held_by: LastingReason::ALL.to_vec(),
            approved_by: Some("kim".to_owned()),
            closed_at: Some(AT),
            end,
        }),
        ..Seen::default()
    });
    jobs.chain(pulls)
}

const CHECKS: [Checks; 7] = [
    Checks::Unknown,
    Checks::Awaited,
    Checks::Missing,
    Checks::Running,
    Checks::Passed,
    Checks::Failed,
    Checks::GivenUp,
];

fn ends() -> [Option<PullEnd>; 3] {
    let merged = PullEnd::Merged {
        commit: Some(sha('f')),
        by: Some("kim".to_owned()),
    };
    let closed = PullEnd::Closed {
        by: Some("kim".to_owned()),
    };
    [None, Some(merged), Some(closed)]
}

fn works_of_jobs() -> Vec<SessionWork> {
    let ends = [
        JobEnd::Merged,
        JobEnd::PullClosed,
        JobEnd::Completed,
        JobEnd::Failed("no disk".to_owned()),
        JobEnd::Lost,
        JobEnd::Refused("it is not allowed".to_owned()),
        JobEnd::Canceled("kim".to_owned()),
    ];
    let mut all = vec![
        SessionWork::Waiting,
        SessionWork::Working,
        SessionWork::Asking,
        SessionWork::Planned(plan().id),
        SessionWork::Resting(Some(AT)),
        SessionWork::Resting(None),
    ];
    all.extend(ends.map(SessionWork::Ended));
    all
}
