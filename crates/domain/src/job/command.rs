//! The life of a job around its session: created, adopted, started, refused, linked to its pull request.

use jiff::{SignedDuration, Timestamp};

use super::announcement_counters::AnnouncementCounters;
use super::due::looked_at;
use super::observe::newest_pull;
use super::watch::{Announced, Attention, SessionLog, Watch};
use super::{EndReason, Ending, Job, JobPhase, Origin};
use crate::effect::{Action, JulesAction, exponential_backoff};
use crate::event::{ErrorCause, Event, Occurrence};
use crate::failure::{Failure, FailureClass};
use crate::fence::{clip, encoded_len};
use crate::ids::{
    AccountName, AgentName, BranchName, DeliveryId, EventId, InstallationId, JobId, PullRef,
    RepoName, SessionId,
};
use crate::marker::Marker;
use crate::pipeline::PipelinePart;
use crate::policy::{Terms, Timing};
use crate::priority::Priority;
use crate::redact::holds_secret;
use crate::refusal::{NotNow, not_now};
use crate::session::SessionView;
use crate::step::{FollowUp, Step};
use crate::wake::Resume;
use crate::when::plus;

/// How many sessions one job may have.
pub const ATTEMPTS_MAX: u32 = 3;

/// How often Jules may answer "later" to a create before a person has to look: with waits that grow to 30 min that is
/// more than a day, the length of its quota's window.
pub const REFUSALS_MAX: u32 = 60;

/// Longest prompt, in bytes as JSON: with all other fields of a job, its record must stay under the store's 64 KB.
pub const PROMPT_BYTES_MAX: usize = 32_000;

/// Longest title, in characters. It is one line: Jules gives a session without a title its whole prompt.
const TITLE_CHARS_MAX: usize = 120;

/// Longest wait after Jules said "later" without saying how much later.
const REFUSAL_WAIT_MAX: SignedDuration = SignedDuration::from_mins(30);

/// What is needed for a new job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewJob {
    /// Its id.
    pub id: JobId,
    /// Whose it is.
    pub installation: InstallationId,
    /// The Jules account.
    pub account: AccountName,
    /// The repository.
    pub repo: RepoName,
    /// The base branch.
    pub branch: BranchName,
    /// A short name; the first line of the prompt without one.
    pub title: Option<String>,
    /// The task.
    pub prompt: String,
    /// Who is woken.
    pub agent: Option<AgentName>,
    /// The agent's resume value for its wakes.
    pub resume: Option<Resume>,
    /// How much it matters.
    pub priority: Priority,
    /// Terms of the request apart from the task.
    pub terms: Terms,
    /// The delivery that it works for.
    pub delivery: Option<DeliveryId>,
    /// What it does for a pipeline.
    pub part: Option<Box<PipelinePart>>,
}

/// A new job, waiting for a slot.
pub fn create(new: NewJob, now: Timestamp) -> Result<Step<Job>, NotNow> {
    let prompt = new.prompt.trim();
    if prompt.is_empty() {
        let sentence = "`prompt` is empty: say what is to be done";
        return Err(NotNow::new("prompt_empty", sentence).about("prompt"));
    }
    let bytes = encoded_len(prompt);
    if bytes > PROMPT_BYTES_MAX {
        let sentence = format!(
            "`prompt` has {bytes} bytes as JSON, at most {PROMPT_BYTES_MAX}: put the rest into a file of the repository"
        );
        return Err(NotNow::new("prompt_too_long", sentence).about("prompt"));
    }
    let others = [new.title.as_deref(), Some(new.branch.as_str())];
    if holds_secret(prompt) || others.into_iter().flatten().any(holds_secret) {
        return not_now(
            "secret_in_prompt",
            "`prompt`, `title` or `branch` holds what looks like a secret: take it out, since they are stored and sent to Jules",
        );
    }
    let titles = [new.title.as_deref().unwrap_or_default(), prompt].map(first_line);
    let title = titles.into_iter().find(|title| !title.is_empty());
    let title = clip(title.unwrap_or_default(), TITLE_CHARS_MAX);
    let job = Job {
        id: new.id,
        installation: new.installation,
        account: new.account,
        repo: new.repo,
        branch: new.branch,
        title,
        prompt: prompt.to_owned(),
        agent: new.agent,
        resume: new.resume,
        priority: new.priority,
        terms: new.terms,
        delivery: new.delivery,
        collected: false,
        part: new.part,
        origin: Origin::Created,
        created_at: now,
        attempt: 1,
        earlier: Vec::new(),
        again: None,
        nudges: 0,
        message_sent: None,
        message_refused: None,
        approval_refused: None,
        order_log: Vec::new(),
        phase: JobPhase::Queued {
            since: now,
            not_before: now,
            refusals: 0,
        },
    };
    // Its turn comes with the slots of its account.
    let looks = vec![FollowUp::Job(job.id.clone())];
    Ok(Step {
        follow_ups: looks,
        due: Some(now),
        ..Step::unchanged(job)
    })
}

/// Creates a job for a session that was started elsewhere and that a person hands over.
pub fn adopt(new: NewJob, view: &SessionView, now: Timestamp) -> Result<Step<Job>, NotNow> {
    if view.repo.as_ref() != Some(&new.repo) {
        return not_now(
            "other_repository",
            format!("session {} does not work on {}", view.id, new.repo),
        );
    }
    let mut step = create(new, now)?;
    step.aggregate.origin = Origin::Adopted;
    // A delivery adopts nothing but what it collects.
    step.aggregate.collected = step.aggregate.delivery.is_some();
    let mut watch = watch(view, now);
    // It has ended, so it did nothing since, and no silence is counted from here.
    let ended_at = view.updated_at.filter(|_| step.aggregate.collected);
    watch.progress_at = ended_at.map_or(now, |at| at.min(now));
    step.aggregate.phase = JobPhase::Watching(Box::new(watch));
    step.due = looked_at(&step.aggregate, &Timing::default());
    Ok(step)
}

/// The governor gave the job a slot: its session is to be created.
pub fn start(job: &Job, now: Timestamp) -> Result<Step<Job>, NotNow> {
    let JobPhase::Queued { refusals, .. } = job.phase else {
        return not_now(
            "not_queued",
            format!("job {} does not wait for a slot", job.id),
        );
    };
    let mut step = Step::unchanged(job.clone());
    step.aggregate.phase = JobPhase::Creating {
        since: now,
        refusals,
    };
    step.effects.push(Action::Jules(JulesAction::CreateSession {
        job: job.id.clone(),
        attempt: job.attempt,
    }));
    step.due = looked_at(&step.aggregate, &Timing::default());
    Ok(step)
}

/// Records the created session. If the job does not want it any more, the session is archived.
pub fn created(job: &Job, view: &SessionView, now: Timestamp, timing: &Timing) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    // Of an attempt that was cancelled and tried again meanwhile.
    let outdated = Marker::find(&view.title).is_some_and(|marker| marker != job.marker());
    match &job.phase {
        JobPhase::Creating { .. } if !outdated => {
            step.aggregate.phase = JobPhase::Watching(Box::new(watch(view, now)));
        }
        JobPhase::Watching(current) if current.session == view.id => {}
        JobPhase::Creating { .. }
        | JobPhase::Watching(_)
        | JobPhase::Queued { .. }
        | JobPhase::Proposed { .. }
        | JobPhase::Ended(_) => {
            step.effects.push(Action::Jules(JulesAction::Archive {
                session: view.id.clone(),
            }));
        }
    }
    step.due = looked_at(&step.aggregate, timing);
    step
}

fn watch(view: &SessionView, now: Timestamp) -> Watch {
    Watch {
        session: view.id.clone(),
        url: view.url.clone(),
        since: now,
        missing_since: None,
        state: view.state.clone(),
        state_since: now,
        progress_at: now,
        log: SessionLog::default(),
        attention: Attention::None,
        announced: Announced::default(),
        pull: None,
        unconfirmed_since: None,
        announcements: AnnouncementCounters::default(),
        pushed_at: None,
    }
}

/// Its session was certainly not created: later, or never.
pub fn creation_failed(job: &Job, failure: &Failure, now: Timestamp) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    let JobPhase::Creating { refusals, .. } = job.phase else {
        step.due = looked_at(job, &Timing::default());
        return step;
    };
    let later = match failure.class {
        FailureClass::Precondition | FailureClass::Throttled | FailureClass::Unauthorized => true,
        FailureClass::Unavailable | FailureClass::Network | FailureClass::Garbled => true,
        FailureClass::Forbidden
        | FailureClass::NotFound
        | FailureClass::Conflict
        | FailureClass::Invalid => false,
    };
    step.follow_ups.push(FollowUp::Slots(job.account.clone()));
    // The wait grows with each refusal, unless the failure names one.
    if later && refusals < REFUSALS_MAX {
        let growing = exponential_backoff(refusals.saturating_add(4), REFUSAL_WAIT_MAX);
        let not_before = plus(now, failure.asked_wait().unwrap_or(growing));
        step.aggregate.phase = JobPhase::Queued {
            since: now,
            not_before,
            refusals: refusals.saturating_add(1),
        };
        step.due = Some(not_before);
        return step;
    }
    let reason = failure.message.clone();
    let what = Occurrence::Error {
        cause: ErrorCause::CreateRefused,
        reason: reason.clone(),
    };
    step.events.push(Event {
        job: Some(job.id.clone()),
        attempt: job.attempt,
        ..Event::new(
            EventId::from_name(&format!("{}:refused:{}", job.id, job.attempt)),
            job.account.clone(),
            now,
            what,
        )
    });
    step.aggregate.phase = JobPhase::Ended(Ending {
        at: now,
        session: None,
        pull: None,
        how: EndReason::Refused { reason },
        plan_unreviewed: false,
    });
    step
}

/// GitHub's side shows, by enough evidence, that a pull request belongs to the watched session; Jules may list it late or never.
pub fn linked(job: &Job, session: &SessionId, pull: &PullRef, timing: &Timing) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    if let JobPhase::Watching(watch) = &mut step.aggregate.phase {
        let shown = std::slice::from_ref(pull);
        let newest = newest_pull(watch.pull.as_ref(), shown, &job.repo).cloned();
        if watch.session == *session && newest != watch.pull {
            watch.pull = newest;
            step.follow_ups.push(FollowUp::Pull(pull.clone()));
        }
    }
    step.due = looked_at(&step.aggregate, timing);
    step
}

/// The first line of a text.
fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or_default().trim()
}
