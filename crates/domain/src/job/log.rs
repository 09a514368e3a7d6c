//! Folds a session's log into its stored state. The log itself stays with Jules.

use jiff::{SignedDuration, Timestamp};

use super::watch::{ActivityMark, AgentMessage, PendingPlan, SessionLog, Watch};
use crate::fence::{encoded_len, is_clipped};
use crate::ids::PlanId;
use crate::redact::{presentable, storable};
use crate::session::{ACTIVITY_OVERLAP, Activity, ActivityKind, Originator, Plan, PlanStep};
use crate::when::plus;

/// Longest message of Jules that is kept with the job, in bytes as JSON: the job's record is limited, and the whole stays with Jules.
pub(super) const TEXT_BYTES_MAX: usize = 4_000;

/// Longest reason of a failure that is kept, in bytes as JSON.
pub(super) const REASON_BYTES_MAX: usize = 2_000;

/// Longest line kept to show people what a session last did, in characters.
const WORDS_CHARS_MAX: usize = 300;

/// Longest plan that is kept, in bytes as JSON; steps beyond are left out.
const PLAN_BYTES_MAX: usize = 5_000;

/// Longest title or description of a plan's step, in bytes as JSON.
const STEP_BYTES_MAX: usize = 300;

/// What a step's field names and quotes take in JSON, in bytes.
const STEP_KEYS_BYTES: usize = 30;

/// How far Jules's clock may be ahead of ours. A time beyond that is no time: taken at its word it would hide everything that comes later.
const CLOCK_AHEAD_MAX: SignedDuration = SignedDuration::from_hours(1);

/// Clocks differ: a message in the log this much older than ours may still be ours.
const CLOCK_SLACK: SignedDuration = SignedDuration::from_mins(2);

/// Maximum number of recent activities kept to recognise repetitions: more than ever share a second.
const RECENT_MAX: usize = 30;

/// Reads new activities, in whatever order they came; repetitions within the overlap change nothing.
pub(super) fn read(watch: &mut Watch, activities: &[Activity], now: Timestamp) {
    let from = watch
        .log
        .through
        .map(|through| plus(through, -ACTIVITY_OVERLAP));
    let known = &watch.log.recent;
    let mut fresh: Vec<&Activity> = activities
        .iter()
        .filter(|activity| from.is_none_or(|from| activity.at >= from))
        .filter(|activity| known.iter().all(|mark| mark.id != activity.id))
        .collect();
    fresh.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    fresh.dedup_by(|a, b| a.id == b.id);
    for activity in &fresh {
        if activity.at <= plus(now, CLOCK_AHEAD_MAX) {
            note(&mut watch.log, activity, activity.at);
            watch.log.through = watch.log.through.max(Some(activity.at));
            if activity.originator == Originator::Agent {
                // A clock that runs ahead of ours must not postpone `stuck`.
                watch.progress_at = watch.progress_at.max(activity.at.min(now));
            }
        } else {
            note(&mut watch.log, activity, now);
        }
        let (id, at) = (activity.id.clone(), activity.at);
        watch.log.recent.push(ActivityMark { id, at });
    }
    if !fresh.is_empty() {
        forget(&mut watch.log);
    }
    confirm(watch, &fresh);
}

/// What lies before the overlap is never asked for again.
fn forget(talk: &mut SessionLog) {
    let from = talk.through.map(|through| plus(through, -ACTIVITY_OVERLAP));
    talk.recent
        .retain(|mark| from.is_none_or(|from| mark.at >= from));
    talk.recent
        .sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    let surplus = talk.recent.len().saturating_sub(RECENT_MAX);
    talk.recent.drain(..surplus);
}

/// Our message has arrived once the log shows one that is not older.
fn confirm(watch: &mut Watch, fresh: &[&Activity]) {
    let Some(since) = watch.unconfirmed_since else {
        return;
    };
    let arrived = fresh.iter().any(|activity| {
        matches!(activity.kind, ActivityKind::UserMessaged { .. })
            && activity.at >= plus(since, -CLOCK_SLACK)
    });
    if arrived {
        watch.unconfirmed_since = None;
    }
}

/// Notes one activity. Within the overlap an older one may come after a newer one; the newer one wins.
fn note(talk: &mut SessionLog, activity: &Activity, at: Timestamp) {
    let newest = is_newest(talk, activity);
    if is_work(&activity.kind) {
        talk.worked_at = talk.worked_at.max(Some(at));
    }
    if goes_on(&activity.kind)
        && let Some(waiting) = &mut talk.plan
    {
        waiting.worked_on |= at > waiting.at;
    }
    let words = match &activity.kind {
        ActivityKind::AgentMessaged { text } => {
            if talk
                .agent
                .as_ref()
                .is_none_or(|said| (at, &activity.id) > (said.at, &said.id))
            {
                let text = storable(text, TEXT_BYTES_MAX);
                talk.agent = Some(AgentMessage {
                    id: activity.id.clone(),
                    at,
                    text,
                });
            }
            text.clone()
        }
        ActivityKind::UserMessaged { text } => {
            talk.user_at = talk.user_at.max(Some(at));
            format!("(message to Jules) {text}")
        }
        ActivityKind::PlanGenerated(plan) => {
            generated(talk, plan, at);
            "made a plan".to_owned()
        }
        ActivityKind::PlanApproved { plan } => {
            approved(talk, plan.as_ref(), at);
            "plan approved".to_owned()
        }
        ActivityKind::Progressed { title, description } => format!("{title} {description}"),
        ActivityKind::Completed => {
            if talk
                .completed
                .as_ref()
                .is_none_or(|mark| (at, &activity.id) > (mark.at, &mark.id))
            {
                talk.completed = Some(ActivityMark {
                    id: activity.id.clone(),
                    at,
                });
            }
            "said it is done".to_owned()
        }
        ActivityKind::Failed { reason } => {
            let is_told = !reason.trim().is_empty();
            if is_told && (newest || talk.failed.is_none()) {
                talk.failed = Some(storable(reason, REASON_BYTES_MAX));
            }
            talk.failed_at = talk.failed_at.filter(|_| !newest).or(Some(at));
            reason.clone()
        }
        ActivityKind::Other { label } => label.clone(),
    };
    // What says nothing hides nothing that was said before.
    if newest && !words.trim().is_empty() {
        talk.last_words = Some(presentable(words.trim(), WORDS_CHARS_MAX));
    }
}

/// Whether it is more than talk.
fn is_work(kind: &ActivityKind) -> bool {
    match kind {
        ActivityKind::PlanGenerated(_)
        | ActivityKind::PlanApproved { .. }
        | ActivityKind::Progressed { .. }
        | ActivityKind::Completed => true,
        ActivityKind::AgentMessaged { .. }
        | ActivityKind::UserMessaged { .. }
        | ActivityKind::Failed { .. }
        | ActivityKind::Other { .. } => false,
    }
}

/// Whether it shows that work goes on. A completion message alone does not: the record of an approval may be late.
fn goes_on(kind: &ActivityKind) -> bool {
    match kind {
        ActivityKind::Progressed { .. } => true,
        ActivityKind::Completed
        | ActivityKind::PlanGenerated(_)
        | ActivityKind::PlanApproved { .. }
        | ActivityKind::AgentMessaged { .. }
        | ActivityKind::UserMessaged { .. }
        | ActivityKind::Failed { .. }
        | ActivityKind::Other { .. } => false,
    }
}

/// Whether no newer activity is known. More activities than the record keeps may share the overlap; a repeated one
/// must not become the newest.
fn is_newest(talk: &SessionLog, activity: &Activity) -> bool {
    let credible = |mark: &&ActivityMark| Some(mark.at) <= talk.through;
    let older = |mark: &ActivityMark| (mark.at, &mark.id) < (activity.at, &activity.id);
    talk.recent.iter().filter(credible).all(older)
}

/// A plan that was approved waits no longer.
fn approved(talk: &mut SessionLog, plan: Option<&PlanId>, at: Timestamp) {
    talk.plan_approved_at = talk.plan_approved_at.max(Some(at));
    let is_it = |waiting: &mut PendingPlan| plan.is_none_or(|id| *id == waiting.plan.id);
    if let Some(approved) = talk.plan.take_if(is_it) {
        talk.approved_plan = Some(approved);
    }
}

/// Keeps an approved plan for a delivery only: any other job has no use for it. One whose approval was ordered here was seen
/// before that.
pub(super) fn keep_approved_plan(watch: &mut Watch, is_for_delivery: bool) {
    let ordered = watch.announced.approved_plan.as_ref();
    let approved = watch.log.approved_plan.take();
    watch.log.approved_plan =
        approved.filter(|approved| is_for_delivery && ordered != Some(&approved.plan.id));
}

/// A plan waits until it is approved, replaced, or turns out to have been approved already.
fn generated(talk: &mut SessionLog, plan: &Plan, at: Timestamp) {
    let approved = talk.plan_approved_at.is_some_and(|approved| approved >= at);
    let newer = |waiting: &PendingPlan| (waiting.at, &waiting.plan.id) > (at, &plan.id);
    let outdated = talk.plan.as_ref().is_some_and(newer);
    if approved || outdated {
        return;
    }
    let steps = bounded(&plan.steps);
    let is_cut = |step: &PlanStep| {
        is_clipped(&step.title, STEP_BYTES_MAX) || is_clipped(&step.description, STEP_BYTES_MAX)
    };
    let cut = steps.len() < plan.steps.len() || steps.iter().any(is_cut);
    let plan = Plan {
        id: plan.id.clone(),
        steps,
    };
    let worked_on = false;
    talk.approved_plan = None;
    talk.plan = Some(PendingPlan {
        at,
        plan,
        cut,
        worked_on,
    });
}

fn bounded(steps: &[PlanStep]) -> Vec<PlanStep> {
    let mut left = PLAN_BYTES_MAX;
    let mut kept = Vec::new();
    for step in steps {
        let title = storable(&step.title, STEP_BYTES_MAX);
        let description = storable(&step.description, STEP_BYTES_MAX);
        let bytes = encoded_len(&title) + encoded_len(&description) + STEP_KEYS_BYTES;
        if bytes > left {
            break;
        }
        left -= bytes;
        kept.push(PlanStep { title, description });
    }
    kept
}
