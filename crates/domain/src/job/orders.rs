//! Orders to the watched session: send a message, approve its plan.

use jiff::Timestamp;

use super::announcing::announce;
use super::attention::approval;
use super::due::looked_at;
use super::event::event;
use super::open_plan::{approves_replaced_plan, shown_plan};
use super::watch::{Attention, Reply, SentAnswer, Watch};
use super::{AnnouncementTopic, EndReason, Ending, Job, JobPhase, refused_approval, retry, turns};
use crate::advice::Advice;
use crate::effect::{ATTEMPTS_MAX, Action, CALL_TIMEOUT, Effect, EffectState, JulesAction};
use crate::event::{Audience, ErrorCause, Event, Occurrence};
use crate::failure::Failure;
use crate::ids::{DeliveryId, PlanId, SessionId, digest};
use crate::policy::{Answerer, Timing};
use crate::redact::{holds_secret, presentable};
use crate::refusal::{NotNow, not_now};
use crate::session::SessionState;
use crate::step::{FollowUp, Step};
use crate::when::plus;

/// Longest reason in an event about an order that failed, in characters.
const REASON_CHARS_MAX: usize = 1_000;

/// Longest message to a session, in bytes.
pub const MESSAGE_BYTES_MAX: usize = 20_000;

/// Checks that writes may go to a session: only the job's current one takes orders.
fn watched<'a>(job: &'a Job, session: Option<&SessionId>) -> Result<&'a Watch, NotNow> {
    if let Some(old) = session.filter(|asked| job.session() != Some(*asked)) {
        return not_now(
            "superseded",
            format!(
                "session {old} is no longer the current one of job {}: use the job id",
                job.id
            ),
        );
    }
    match &job.phase {
        JobPhase::Watching(watch) => Ok(watch),
        JobPhase::Queued { .. } | JobPhase::Creating { .. } => not_now(
            "no_session_yet",
            format!(
                "job {} has no session yet: try again once it has started",
                job.id
            ),
        ),
        JobPhase::Proposed { .. } => not_now(
            "no_session",
            format!(
                "job {} has no session: Gaffer writes its pull request itself",
                job.id
            ),
        ),
        JobPhase::Ended(ending) => Err(over(job, ending)),
    }
}

/// The refusal of an order about an ended job; it advises only acceptable orders.
fn over(job: &Job, ending: &Ending) -> NotNow {
    let id = &job.id;
    match retry::retry(job, None, ending.at) {
        Ok(_) => {
            let over = NotNow::new("ended", format!("job {id} is over"));
            over.advising(Advice::Retry.about(id))
        }
        Err(refused) => NotNow {
            code: "ended",
            sentence: format!("job {id} is over; {}", refused.sentence),
            ..refused
        },
    }
}

/// Refuses to merge for a job that was cancelled or never came to its end, also before its pull request is judged again.
///
/// # Errors
/// When the job is over without a result of its own.
pub fn may_merge(job: &Job) -> Result<(), NotNow> {
    match &job.phase {
        JobPhase::Ended(ending) => match &ending.how {
            EndReason::Cancelled { .. }
            | EndReason::Left
            | EndReason::Lost
            | EndReason::Refused { .. } => Err(over(job, ending)),
            EndReason::Merged { .. }
            | EndReason::Woven { .. }
            | EndReason::PullClosed
            | EndReason::Completed
            | EndReason::Failed { .. } => Ok(()),
        },
        JobPhase::Queued { .. }
        | JobPhase::Creating { .. }
        | JobPhase::Proposed { .. }
        | JobPhase::Watching(_) => Ok(()),
    }
}

/// Sends a message to the session. `cause` identifies the request, so that a repeated one sends nothing twice.
pub fn say(
    job: &Job,
    session: Option<&SessionId>,
    (text, cause): (&str, &str),
    (now, timing): (Timestamp, &Timing),
) -> Result<Step<Job>, NotNow> {
    let text = text.trim();
    if text.is_empty() {
        let sentence = "`message` is empty: Jules would accept it and do nothing";
        return Err(NotNow::new("message_empty", sentence).about("message"));
    }
    if holds_secret(text) {
        return not_now(
            "secret_in_message",
            "`message` holds what looks like a secret: take it out, since it is stored and sent to Jules",
        );
    }
    if text.len() > MESSAGE_BYTES_MAX {
        let bytes = text.len();
        let sentence = format!("`message` has {bytes} bytes, at most {MESSAGE_BYTES_MAX}");
        return Err(NotNow::new("message_too_long", sentence).about("message"));
    }
    let watch = watched(job, session)?;
    refuse_repeated(job, watch, text, cause)?;
    let action = Action::Jules(JulesAction::Say {
        session: watch.session.clone(),
        text: text.to_owned(),
        cause: cause.to_owned(),
    });
    Ok(ordered(job, action, now, timing))
}

/// Refuses a text that was already sent as an answer to the same question: Jules would get it twice. A repeated
/// request with the same cause is no second answer.
fn refuse_repeated(job: &Job, watch: &Watch, text: &str, cause: &str) -> Result<(), NotNow> {
    let asked = digest(text);
    let same = turns::sent(watch)
        .iter()
        .find_map(|sent| match &sent.reply {
            Reply::Words {
                cause: of,
                digest,
                start,
            } if *digest == asked && of != cause => Some((sent.at, start)),
            Reply::Words { .. } | Reply::Approval { .. } => None,
        });
    let Some((at, start)) = same else {
        return Ok(());
    };
    let by = job.order_log.iter().find(|given| given.at == at);
    let by = by.map_or(String::new(), |given| format!(" by {}", given.by));
    not_now(
        "answered_already",
        format!(
            "the question of job {} was answered with the same words at {at}{by}, and Jules has not taken them up yet: \"{start}\"; other words are sent as an addition",
            job.id
        ),
    )
}

/// When the answer was accepted that a further message, of the same cause or another, would add to.
pub fn adds_to(job: &Job, cause: &str) -> Option<Timestamp> {
    let JobPhase::Watching(watch) = &job.phase else {
        return None;
    };
    let is_other =
        |sent: &&SentAnswer| !matches!(&sent.reply, Reply::Words { cause: of, .. } if of == cause);
    let earlier = turns::sent(watch).iter().rev().find(is_other);
    earlier.map(|sent| sent.at)
}

/// An order is on its way: the next turn in the answer chain waits for its outcome.
fn ordered(job: &Job, action: Action, now: Timestamp, timing: &Timing) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    if let JobPhase::Watching(watch) = &mut step.aggregate.phase {
        turns::answered(watch, &action, now);
    }
    step.effects.push(action);
    step.due = looked_at(&step.aggregate, timing);
    step
}

/// A message was sent: its echo in the log is awaited from this time on. Without a time it is awaited already.
pub fn said(job: &Job, session: &SessionId, at: Option<Timestamp>, timing: &Timing) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    if let (JobPhase::Watching(watch), Some(now)) = (&mut step.aggregate.phase, at)
        && watch.session == *session
    {
        // Its echo may have been read before the sending was recorded.
        let sent_at = plus(now, -CALL_TIMEOUT);
        let echoed = watch.log.user_at.is_some_and(|at| at >= sent_at);
        watch.unconfirmed_since = (!echoed).then_some(now);
    }
    step.due = looked_at(&step.aggregate, timing);
    step
}

/// Keeps which message of the job's delivery was sent, which its cause says. An earlier one may be found to have arrived
/// only after a later one.
pub fn note_sent(job: &mut Job, cause: &str) {
    if let Some(round) = round(job, cause) {
        job.message_sent = job.message_sent.max(Some(round));
    }
}

/// Keeps which message of the job's delivery its session refused for the last time. What may pass is no refusal: the delivery asks for the
/// message again until Jules takes it.
fn note_refused(job: &mut Job, effect: &Effect) {
    if let Action::Jules(JulesAction::Say { session, cause, .. }) = &effect.action
        && let EffectState::Failed {
            attempt, failure, ..
        } = &effect.state
        && *attempt >= ATTEMPTS_MAX
        && !failure.class.may_pass()
        && job.session() == Some(session)
        && let Some(round) = round(job, cause)
    {
        job.message_refused = Some(round);
    }
}

/// Whether it is a message or an approval of the job's delivery.
fn is_of_delivery(job: &Job, action: &Action) -> bool {
    match action {
        Action::Jules(JulesAction::Say { cause, .. }) => round(job, cause).is_some(),
        Action::Jules(JulesAction::ApprovePlan { .. }) => {
            refused_approval::is_approved_by_delivery(job)
        }
        Action::Jules(JulesAction::CreateSession { .. } | JulesAction::Archive { .. })
        | Action::Pull(_)
        | Action::Repo(_)
        | Action::Tracker(_) => false,
    }
}

/// The round that a message with this cause begins; none for a message that is not of the job's delivery.
fn round(job: &Job, cause: &str) -> Option<u32> {
    let own = job.delivery.as_ref().map(DeliveryId::message_prefix)?;
    cause.strip_prefix(own.as_str())?.parse().ok()
}

/// A person or an agent approves the present plan. One that names another plan read what is no longer current.
pub fn approve(
    job: &Job,
    session: Option<&SessionId>,
    read: Option<&PlanId>,
    now: Timestamp,
    timing: &Timing,
) -> Result<Step<Job>, NotNow> {
    let watch = watched(job, session)?;
    let plan = shown_plan(watch).map(|(plan, _)| plan);
    // Its steps may be late.
    let is_asked = matches!(watch.attention, Attention::Plan { .. })
        || watch.state == SessionState::AwaitingPlanApproval;
    if plan.is_none() && !is_asked {
        return not_now(
            "no_open_plan",
            format!("job {} has no plan that waits for approval", job.id),
        );
    }
    if let Some(read) = read.filter(|read| plan.is_none_or(|plan| plan.id != **read)) {
        return not_now(
            "plan_moved",
            format!(
                "the present plan of job {} is not {read}; read it first",
                job.id
            ),
        );
    }
    let action = approval(watch, plan);
    let approved = plan.map(|plan| plan.id.clone());
    let mut step = ordered(job, action, now, timing);
    if let (JobPhase::Watching(watch), Some(_)) = (&mut step.aggregate.phase, &approved) {
        watch.announced.approved_plan = approved;
        // A merge may have waited for it.
        step.follow_ups
            .extend(watch.pull.clone().map(FollowUp::Pull));
    }
    Ok(step)
}

/// A message or an approval failed for good: what it answered is open again, and an event goes to the person or agent that has the turn,
/// once for each series of attempts. A delivery asks for its own message or approval again, and calls a person once it gives that up:
/// nothing is announced here. Nor is the approval of a plan whose place another one took: that one has its own turn.
pub fn order_failed(job: &Job, effect: &Effect, failure: &Failure, now: Timestamp) -> Step<Job> {
    let mut step = Step::unchanged(job.clone());
    step.due = looked_at(job, &Timing::default());
    let JobPhase::Watching(watch) = &job.phase else {
        return step;
    };
    let cause = match &effect.action {
        Action::Jules(JulesAction::ApprovePlan { .. }) => ErrorCause::ApprovalFailed,
        Action::Jules(JulesAction::Say { .. }) => ErrorCause::MessageFailed,
        Action::Jules(JulesAction::CreateSession { .. } | JulesAction::Archive { .. })
        | Action::Pull(_)
        | Action::Repo(_)
        | Action::Tracker(_) => return step,
    };
    note_refused(&mut step.aggregate, effect);
    let mut watch = watch.clone();
    refused_approval::note(&mut step.aggregate, &mut watch, effect, failure, now);
    let is_nudge = turns::unanswered(&mut watch, &effect.action, now);
    let is_past = approves_replaced_plan(&watch, &effect.action);
    if !is_nudge && !is_past && !is_of_delivery(job, &effect.action) {
        let what = undone(cause, effect, failure);
        let failed = failed(job, &watch, effect, what, now);
        announce(&mut step, &mut watch, AnnouncementTopic::Order, failed);
    }
    step.aggregate.phase = JobPhase::Watching(watch);
    step.due = looked_at(&step.aggregate, &Timing::default());
    step
}

/// An effect that could not be done.
fn undone(cause: ErrorCause, effect: &Effect, failure: &Failure) -> Occurrence {
    let reason = presentable(
        &format!("`{}` could not be done: {}", effect.action, failure.message),
        REASON_CHARS_MAX,
    );
    Occurrence::Error { cause, reason }
}

/// The event about an effect that could not be done.
fn failed(job: &Job, watch: &Watch, effect: &Effect, what: Occurrence, now: Timestamp) -> Event {
    let key = format!("{}:{}:{}", what.kind(), effect.id, effect.attempt());
    // The events of what it answered ended with the answer, so nothing else calls a person back whose turn it is.
    let audience = match turns::whose(watch) {
        Some(Answerer::Human) => Audience::Human,
        Some(Answerer::Agent | Answerer::Nudge) | None => Audience::Agent,
    };
    event(job, watch, (&key, what, audience), now)
}

/// When words were last sent about what is open, which the session has not taken up.
pub(crate) fn said_at(watch: &Watch) -> Option<Timestamp> {
    let is_words = |sent: &&SentAnswer| matches!(sent.reply, Reply::Words { .. });
    let sent = turns::sent(watch);
    sent.iter().rev().find(is_words).map(|sent| sent.at)
}
