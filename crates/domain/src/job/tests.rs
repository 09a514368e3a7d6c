//! Stories of jobs, poll by poll. Every poll is decided twice, and the second decision must find nothing to do.

mod advised;
mod alone;
mod commands;
mod completions;
mod counters;
mod creation;
mod full_text;
mod lagging;
mod lines;
mod plans;
mod problems;
mod proposals;
mod questions;
mod records;
mod refused_approvals;
mod relation;
mod resting;
mod turns;

use jiff::Timestamp;

use super::*;
use crate::effect::{Action, JulesAction};
use crate::event::{Event, Occurrence};
use crate::facts::fixture::at;
use crate::policy::{PlanApproval, Policy, Timing};
use crate::session::{Activity, ActivityKind, Originator, Plan, PlanStep, SessionView};
use crate::step::{FollowUp, Step};

pub(crate) const SESSION: &str = "14550388554331055113";

pub(crate) fn new_job() -> NewJob {
    NewJob {
        id: JobId::from_ulid(ulid::Ulid(7)),
        installation: "home".parse().unwrap(),
        account: "default".parse().unwrap(),
        repo: "acme/shop".parse().unwrap(),
        branch: "main".parse().unwrap(),
        title: None,
        prompt: "Fix the cart\nIt loses items.".to_owned(),
        agent: None,
        resume: None,
        priority: crate::priority::Priority::default(),
        terms: crate::policy::Terms::default(),
        part: None,
        delivery: None,
    }
}

pub(crate) fn view(session: &str, state: &str) -> SessionView {
    SessionView {
        id: session.parse().unwrap(),
        title: String::new(),
        state: state.to_owned().into(),
        url: None,
        created_at: None,
        updated_at: None,
        repo: Some("acme/shop".parse().unwrap()),
        branch: Some("main".parse().unwrap()),
        pulls: Vec::new(),
        archived: false,
    }
}

pub(super) const ASKING: &str = "AWAITING_USER_FEEDBACK";
pub(super) const WORKING: &str = "IN_PROGRESS";
pub(super) const MINUTE: i64 = 60;
pub(super) const HOUR: i64 = 60 * MINUTE;

/// What is known of the session of a job.
pub(crate) fn watched(job: &Job) -> &Watch {
    let JobPhase::Watching(watch) = &job.phase else {
        panic!("{:?}", job.phase);
    };
    watch
}

pub(crate) fn watching(job: &mut Job) -> &mut Watch {
    let JobPhase::Watching(watch) = &mut job.phase else {
        panic!("it has no session");
    };
    watch
}

/// A job that waits for its turn.
pub(crate) fn queued() -> Job {
    create(new_job(), at(0)).unwrap().aggregate
}

/// A job whose session is being created.
pub(crate) fn creating() -> Job {
    start(&queued(), at(0)).unwrap().aggregate
}

/// A job whose session has just been created.
pub(crate) fn watched_job() -> Job {
    let view = view(SESSION, "QUEUED");
    created(&creating(), &view, at(0), &Timing::default()).aggregate
}

pub(super) fn activity(id: &str, second: i64, kind: ActivityKind) -> Activity {
    let originator = match kind {
        ActivityKind::UserMessaged { .. } | ActivityKind::PlanApproved { .. } => Originator::User,
        ActivityKind::AgentMessaged { .. }
        | ActivityKind::PlanGenerated(_)
        | ActivityKind::Progressed { .. }
        | ActivityKind::Completed => Originator::Agent,
        ActivityKind::Failed { .. } | ActivityKind::Other { .. } => Originator::System,
    };
    Activity {
        id: id.parse().unwrap(),
        at: at(second),
        originator,
        kind,
    }
}

pub(super) fn agent(id: &str, second: i64) -> Activity {
    let text = format!("text of {id}");
    activity(id, second, ActivityKind::AgentMessaged { text })
}

pub(super) fn user(id: &str, second: i64) -> Activity {
    let text = "answer".to_owned();
    activity(id, second, ActivityKind::UserMessaged { text })
}

pub(super) fn worked(id: &str, second: i64) -> Activity {
    let (title, description) = ("Running tests".to_owned(), String::new());
    activity(id, second, ActivityKind::Progressed { title, description })
}

pub(super) fn planned(id: &str, second: i64) -> Activity {
    let step = PlanStep {
        title: "Look".to_owned(),
        description: "around".to_owned(),
    };
    let plan = Plan {
        id: id.parse().unwrap(),
        steps: vec![step],
    };
    activity(
        &format!("made-{id}"),
        second,
        ActivityKind::PlanGenerated(plan),
    )
}

pub(super) fn approved(id: &str, second: i64) -> Activity {
    let kind = ActivityKind::PlanApproved {
        plan: Some(id.parse().unwrap()),
    };
    activity(&format!("approved-{id}"), second, kind)
}

pub(super) fn done(id: &str, second: i64) -> Activity {
    activity(id, second, ActivityKind::Completed)
}

/// An event in a few words.
pub(super) fn label(event: &Event) -> String {
    match &event.what {
        Occurrence::Question { text } => format!("question: {}", text.as_deref().unwrap_or("-")),
        Occurrence::PlanApproval { plan } => {
            format!(
                "plan: {}",
                plan.as_ref().map_or("-", |plan| plan.id.as_str())
            )
        }
        Occurrence::UnreviewedPlan { plan } => format!("unreviewed plan: {}", plan.id),
        Occurrence::UnexpectedPush { paths, .. } => {
            format!("unexpected push: {}", paths.join(","))
        }
        Occurrence::Completed { pulls } => {
            let pulls: Vec<String> = pulls.iter().map(ToString::to_string).collect();
            format!("completed: {}", pulls.join(","))
        }
        Occurrence::Error { cause, reason } => format!("{}: {reason}", cause.as_str()),
        Occurrence::Stuck { last_words } => {
            format!("stuck: {}", last_words.as_deref().unwrap_or("-"))
        }
        Occurrence::Delivery { ask, .. } => ask.sentence(),
        Occurrence::News(news) => news.title(),
    }
}

/// A job and the world around it.
pub(super) struct Story {
    pub(super) job: Job,
    pub(super) policy: Policy,
    pub(super) timing: Timing,
    /// Pull requests in the session's outputs.
    pub(super) pulls: Vec<PullRef>,
    /// The visible part of the session's log.
    pub(super) log: Vec<Activity>,
    /// Whether the session is archived.
    pub(super) archived: bool,
    /// When the session entered its state, if Jules says.
    pub(super) updated: Option<i64>,
    /// All events so far.
    pub(super) events: Vec<Event>,
    /// What was added to events.
    pub(super) amended: Vec<Event>,
    /// All effects so far.
    pub(super) effects: Vec<Action>,
    pub(super) looks: Vec<FollowUp>,
    pub(super) due: Option<Timestamp>,
}

impl Story {
    pub(super) fn new() -> Self {
        Self {
            job: watched_job(),
            policy: Policy {
                plan_approval: PlanApproval::Agent,
                ..Policy::default()
            },
            timing: Timing::default(),
            pulls: Vec::new(),
            log: Vec::new(),
            archived: false,
            updated: None,
            events: Vec::new(),
            amended: Vec::new(),
            effects: Vec::new(),
            looks: Vec::new(),
            due: None,
        }
    }

    /// A session with this log.
    pub(super) fn of(log: Vec<Activity>) -> Self {
        let mut story = Self::new();
        story.log = log;
        story
    }

    /// A session with this log that was polled once.
    pub(super) fn polled(log: Vec<Activity>, second: i64, state: &str) -> Self {
        let mut story = Self::of(log);
        story.poll(second, state);
        story
    }

    /// A poll that reads the log too; answers the events it brought, `+` before what was only added to.
    pub(super) fn poll(&mut self, second: i64, state: &str) -> Vec<String> {
        let activities = Some(self.log.clone());
        self.see(second, state, activities)
    }

    /// A poll that does not read the log.
    pub(super) fn glance(&mut self, second: i64, state: &str) -> Vec<String> {
        self.see(second, state, None)
    }

    pub(super) fn not_found(&mut self, second: i64) -> Vec<String> {
        self.decide(second, &Observation::NotFound)
    }

    fn see(&mut self, second: i64, state: &str, activities: Option<Vec<Activity>>) -> Vec<String> {
        let mut view = view(SESSION, state);
        view.pulls.clone_from(&self.pulls);
        view.archived = self.archived;
        view.updated_at = self.updated.map(at);
        let seen = Snapshot { view, activities };
        self.decide(second, &Observation::Seen(Box::new(seen)))
    }

    fn decide(&mut self, second: i64, sight: &Observation) -> Vec<String> {
        let step = observe(&self.job, sight, at(second), &self.policy, &self.timing);
        let (job, now) = (&step.aggregate, at(second));
        let again = observe(job, sight, now, &self.policy, &self.timing);
        let unchanged = Step {
            due: step.due,
            ..Step::unchanged(job.clone())
        };
        assert_eq!(again, unchanged);
        assert_eq!(step.due.is_none(), step.aggregate.is_ended());
        self.take(step)
    }

    pub(super) fn take(&mut self, step: Step<Job>) -> Vec<String> {
        let mut news: Vec<String> = step.events.iter().map(label).collect();
        news.extend(
            step.amended
                .iter()
                .map(|event| format!("+{}", label(event))),
        );
        self.job = step.aggregate;
        self.events.extend(step.events);
        self.amended.extend(step.amended);
        self.effects.extend(step.effects);
        self.looks.extend(step.follow_ups);
        self.due = step.due;
        news
    }

    pub(super) fn watch(&self) -> &Watch {
        watched(&self.job)
    }

    pub(super) fn is_answered(&self) -> bool {
        matches!(self.watch().attention, Attention::Answered { .. })
    }

    /// Everything announced so far.
    pub(super) fn announced(&self) -> Vec<String> {
        self.events.iter().map(label).collect()
    }
}
