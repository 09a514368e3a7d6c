//! `job::observe` and the commands over random histories of one job.

use super::*;
use crate::effect::{Action, JulesAction};
use crate::event::{Audience, Event};
use crate::job::tests::{creating, view as job_view};
use crate::job::{
    ATTEMPTS_MAX, AnnouncementTopic, Attention, Job, JobPhase, NUDGES_MAX, Observation,
    REFUSALS_MAX, Snapshot, approve, cancel, created, creation_failed, linked, may_still_be_merged,
    observe, order_failed, pull_settled, retry, said, say, session_found, start,
};
use crate::session::{
    Activity, ActivityKind, Originator, Plan, PlanStep, SessionState, SessionView,
};
use crate::step::Step;

/// How long a session's log is.
const LOG_MAX: usize = 40;

const SESSIONS: [&str; 3] = ["14550388554331055113", "222222222222", "333333333333"];

/// What happens to a job.
#[derive(Debug, Clone)]
enum JobHappening {
    Seen(Box<SessionView>, Option<Vec<usize>>),
    NotFound,
    Start,
    Created(Box<SessionView>),
    CreationFailed(Failure),
    Twin(usize, u32),
    Say,
    Said,
    Approve,
    Cancel,
    Retry,
    Linked(PullRef),
    PullSettled(PullRef, PullState),
}

fn state() -> impl Strategy<Value = SessionState> {
    let states = vec![
        "STATE_UNSPECIFIED",
        "QUEUED",
        "PLANNING",
        "AWAITING_PLAN_APPROVAL",
        "AWAITING_USER_FEEDBACK",
        "IN_PROGRESS",
        "PAUSED",
        "COMPLETED",
        "MEDITATING",
    ];
    let usual = proptest::sample::select(states).prop_map(|state| state.to_owned().into());
    prop_oneof![20 => usual, 1 => Just(SessionState::Failed)]
}

fn kind() -> impl Strategy<Value = ActivityKind> {
    let plan = (0u8..3).prop_map(|n| Plan {
        id: format!("p{n}").parse().unwrap(),
        steps: vec![PlanStep {
            title: "Look".to_owned(),
            description: String::new(),
        }],
    });
    let approved = proptest::option::of(0u8..3);
    prop_oneof![
        4 => "[a-c ?]{0,6}".prop_map(|text| ActivityKind::AgentMessaged { text }),
        3 => Just(ActivityKind::UserMessaged { text: "answer".to_owned() }),
        2 => plan.prop_map(ActivityKind::PlanGenerated),
        2 => approved.prop_map(|n| ActivityKind::PlanApproved { plan: n.map(|n| format!("p{n}").parse().unwrap()) }),
        2 => Just(ActivityKind::Completed),
        2 => Just(ActivityKind::Progressed { title: "On it".to_owned(), description: String::new() }),
        1 => Just(ActivityKind::Failed { reason: "boom".to_owned() }),
        1 => Just(ActivityKind::Other { label: "new".to_owned() }),
    ]
}

/// A log: activities never change, a reading only shows some of them in some order.
fn log() -> impl Strategy<Value = Vec<Activity>> {
    proptest::collection::vec((time(), kind()), LOG_MAX).prop_map(|log| {
        let activity = |(n, (at, kind)): (usize, (Timestamp, ActivityKind))| {
            let id = format!("a{n}").parse().unwrap();
            Activity {
                id,
                at,
                originator: Originator::System,
                kind,
            }
        };
        log.into_iter().enumerate().map(activity).collect()
    })
}

/// A reading of the session, with the places of the activities it shows.
fn sight() -> impl Strategy<Value = JobHappening> {
    let places = proptest::option::weighted(0.8, proptest::collection::vec(0..LOG_MAX, 0..5));
    let seen =
        (view(), places).prop_map(|(view, places)| JobHappening::Seen(Box::new(view), places));
    prop_oneof![12 => seen, 1 => Just(JobHappening::NotFound)]
}

/// The reading itself, for happenings that are one.
fn reading(happening: &JobHappening, log: &[Activity]) -> Option<Observation> {
    if let JobHappening::Seen(view, places) = happening {
        let show = |places: &Vec<usize>| places.iter().map(|place| log[*place].clone()).collect();
        let activities = places.as_ref().map(show);
        return Some(Observation::Seen(Box::new(Snapshot {
            view: (**view).clone(),
            activities,
        })));
    }
    matches!(happening, JobHappening::NotFound).then_some(Observation::NotFound)
}

fn view() -> impl Strategy<Value = SessionView> {
    let session = prop_oneof![8 => Just(0usize), 1 => 0usize..3];
    let pulls = proptest::collection::vec(pull_ref(), 0..3);
    (session, state(), proptest::option::of(time()), pulls).prop_map(
        |(session, state, updated_at, pulls)| SessionView {
            state,
            updated_at,
            pulls,
            ..job_view(SESSIONS[session], "QUEUED")
        },
    )
}

fn happening() -> impl Strategy<Value = JobHappening> {
    let settled = vec![
        PullState::Open,
        PullState::Closed,
        PullState::Merged { commit: None },
    ];
    prop_oneof![
        40 => sight(),
        4 => Just(JobHappening::Start),
        4 => view().prop_map(|view| JobHappening::Created(Box::new(view))),
        2 => failure().prop_map(JobHappening::CreationFailed),
        1 => (0usize..3, 1..=ATTEMPTS_MAX + 1).prop_map(|(n, attempt)| JobHappening::Twin(n, attempt)),
        1 => Just(JobHappening::Say),
        2 => Just(JobHappening::Said),
        1 => Just(JobHappening::Approve),
        1 => Just(JobHappening::Cancel),
        2 => Just(JobHappening::Retry),
        1 => pull_ref().prop_map(JobHappening::Linked),
        1 => (pull_ref(), proptest::sample::select(settled)).prop_map(|(pull, state)| JobHappening::PullSettled(pull, state)),
    ]
}

/// Carries out what happens; `None` where a command is refused.
fn happen(
    job: &Job,
    happening: &JobHappening,
    now: Timestamp,
    timing: &Timing,
) -> Option<Step<Job>> {
    let session = job
        .session()
        .cloned()
        .unwrap_or_else(|| SESSIONS[0].parse().unwrap());
    Some(match happening {
        JobHappening::Seen(..) | JobHappening::NotFound => return None,
        JobHappening::Start => start(job, now).ok()?,
        JobHappening::Created(view) => created(job, view, now, timing),
        JobHappening::CreationFailed(failure) => creation_failed(job, failure, now),
        JobHappening::Twin(n, attempt) => {
            let session = SESSIONS[*n].parse().unwrap();
            session_found(job, &session, *attempt, None, timing)
        }
        JobHappening::Say => say(job, None, ("hello", "c1"), (now, timing)).ok()?,
        JobHappening::Said => said(job, &session, Some(now), timing),
        JobHappening::Approve => approve(job, None, None, now, timing).ok()?,
        JobHappening::Cancel => cancel(job, "me", now).ok()?,
        JobHappening::Retry => retry(job, None, now).ok()?,
        JobHappening::Linked(pull) => linked(job, &session, pull, timing),
        JobHappening::PullSettled(pull, state) => pull_settled(job, pull, state, &sha('a'), now),
    })
}

/// What must hold of any decision.
fn check(before: &Job, step: &Step<Job>, happening: &JobHappening) {
    let after = &step.aggregate;
    assert_eq!(step.due.is_none(), after.is_ended());
    assert!(after.attempt <= ATTEMPTS_MAX);
    if let JobPhase::Queued { refusals, .. } = after.phase {
        assert!(refusals <= REFUSALS_MAX);
    }
    if before.is_ended() && !matches!(happening, JobHappening::Retry) {
        let may_be_merged = matches!(happening, JobHappening::PullSettled(..));
        let turned_out_merged = may_still_be_merged(before) && !may_still_be_merged(after);
        assert!(after == before || may_be_merged && turned_out_merged);
        assert_eq!(after.pull(), before.pull());
        assert!(step.events.is_empty());
        assert!(
            step.effects
                .iter()
                .all(|effect| matches!(effect, Action::Jules(JulesAction::Archive { .. })))
        );
    }
    if let (Some(known), JobPhase::Watching(watch)) = (before.pull(), &after.phase) {
        let kept = watch
            .pull
            .as_ref()
            .is_some_and(|pull| pull.repo == known.repo && pull.number >= known.number);
        assert!(kept, "{known} was forgotten");
    }
    if let (JobHappening::Twin(..), [Action::Jules(JulesAction::Archive { session })]) =
        (happening, &step.effects[..])
    {
        assert!(before.session() != Some(session) && !before.earlier.contains(session));
    }
    for event in step.events.iter().chain(&step.amended) {
        assert_eq!(event.job.as_ref(), Some(&before.id));
    }
}

/// While an answer is pending, or the log was not read, no silence is announced.
fn check_stuck(step: &Step<Job>, sight: &Observation, policy: &Policy) {
    let told = step.events.iter().any(|event| event.what.name() == "stuck");
    let read = matches!(sight, Observation::Seen(snapshot) if snapshot.activities.is_some());
    assert!(!told || read);
    if let (true, JobPhase::Watching(watch)) = (told, &step.aggregate.phase) {
        match &watch.attention {
            Attention::None | Attention::Answered { .. } => {}
            Attention::Plan { .. } => assert_eq!(policy.plan_approval, PlanApproval::Auto),
            Attention::Expecting { .. } | Attention::Question { .. } => {
                panic!("{:?}", watch.attention)
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn jobs_in_every_world(
        story in proptest::collection::vec((happening(), prop_oneof![9 => Just(None), 1 => time().prop_map(Some)], 0i64..400), 1..24),
        log in log(),
        policy in policy(),
        timing in timing(),
    ) {
        let (mut job, mut now) = (creating(), at(0));
        for (happening, jump, seconds) in story {
            now = jump.unwrap_or_else(|| crate::when::plus(now, SignedDuration::from_secs(seconds)));
            let sight = reading(&happening, &log);
            let step = match &sight {
                Some(sight) => Some(observe(&job, sight, now, &policy, &timing)),
                None => happen(&job, &happening, now, &timing),
            };
            let Some(step) = step else { continue };
            check(&job, &step, &happening);
            if let Some(sight) = &sight {
                check_stuck(&step, sight, &policy);
                let again = observe(&step.aggregate, sight, now, &policy, &timing);
                let nothing = Step { due: again.due, ..Step::unchanged(step.aggregate.clone()) };
                prop_assert_eq!(again, nothing);
            }
            job = step.aggregate;
        }
        let text = serde_json::to_string(&job).unwrap();
        prop_assert_eq!(serde_json::from_str::<Job>(&text).unwrap(), job);
    }
}

/// One thing that a session shows, and how many seconds later.
fn moment() -> impl Strategy<Value = (SessionState, ActivityKind, u8, i64)> {
    let states = vec![
        "AWAITING_PLAN_APPROVAL",
        "AWAITING_USER_FEEDBACK",
        "IN_PROGRESS",
        "COMPLETED",
    ];
    let state = proptest::sample::select(states).prop_map(|state| state.to_owned().into());
    let quiet = prop_oneof![4 => 1i64..200, 2 => 1_000i64..5_000, 1 => Just(100_000i64)];
    (state, kind(), 0u8..6, quiet)
}

/// One attempt's wakes by kind, as an agent received them.
fn wakes_of(events: &[Event], kind: &str) -> u32 {
    let for_agent = |event: &&Event| event.audience == Audience::Agent && event.what.kind() == kind;
    u32::try_from(events.iter().filter(for_agent).count()).unwrap()
}

proptest! {
    #![proptest_config(cases(40))]

    /// However a session flaps, asks, plans, finishes and falls silent.
    #[test]
    fn no_session_wakes_anybody_for_ever(
        moments in proptest::collection::vec(moment(), 400),
        policy in policy(),
        chain in answers(),
    ) {
        let policy = Policy { answers: chain, ..policy };
        let timing = Timing::default();
        let (mut job, mut now, mut events, mut nudges) = (crate::job::tests::watched_job(), at(0), Vec::new(), 0);
        for (n, (state, kind, order, seconds)) in moments.into_iter().enumerate() {
            now = crate::when::plus(now, SignedDuration::from_secs(seconds));
            let (JobPhase::Watching(watch), Some(session)) = (&job.phase, job.session()) else { break };
            let id = format!("a{n}").parse().unwrap();
            let activity = Activity { id, at: now, originator: Originator::System, kind };
            let (mut view, activities) = (job_view(session.as_str(), "STATE_UNSPECIFIED"), Some(vec![activity]));
            (view.state, view.updated_at) = (state, Some(watch.state_since));
            let mut step = observe(&job, &Observation::Seen(Box::new(Snapshot { view, activities })), now, &policy, &timing);
            if order == 0 {
                events.append(&mut step.events);
                nudges += step.effects.iter().filter(|it| matches!(it, Action::Jules(JulesAction::Say { .. }))).count();
                let cause = format!("c{n}");
                let Ok(said) = say(&step.aggregate, None, ("hello", &cause), (now, &timing)) else { break };
                let effect = crate::effect::Effect::new(said.effects[0].clone(), now);
                let refused = Failure::new(FailureClass::Invalid, "400");
                step = order_failed(&said.aggregate, &effect, &refused, now);
            }
            nudges += step.effects.iter().filter(|it| matches!(it, Action::Jules(JulesAction::Say { .. }))).count();
            events.append(&mut step.events);
            job = step.aggregate;
        }
        for topic in AnnouncementTopic::ALL {
            let kind = match topic {
                AnnouncementTopic::Question => "question",
                AnnouncementTopic::Plan => "plan_approval",
                AnnouncementTopic::Completed => "completed",
                AnnouncementTopic::Stuck => "stuck",
                AnnouncementTopic::Order => "message_failed",
            };
            prop_assert!(wakes_of(&events, kind) <= topic.most(), "{kind}");
        }
        prop_assert!(nudges <= usize::try_from(NUDGES_MAX).unwrap());
        let too_often = events.iter().filter(|event| event.what.kind() == "too_often").count();
        prop_assert!(too_often <= AnnouncementTopic::ALL.len());
        // The plans of this world come back under their ids; those are recorded once, where they are saved.
        let is_plan = |event: &&Event| ["plan_approval", "unreviewed_plan"].contains(&event.what.kind());
        let others = events.iter().filter(|event| !is_plan(event));
        let ids: Vec<String> = others.map(|event| event.id.to_string()).collect();
        let distinct: std::collections::BTreeSet<&String> = ids.iter().collect();
        prop_assert_eq!(distinct.len(), ids.len(), "one event for one occurrence");
    }
}
