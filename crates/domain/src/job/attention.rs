//! Questions, plans and completions: announced once each, with the words that belong to them if those come in time.

use jiff::Timestamp;

use super::observe::{Snapshot, event};
use super::{Attention, Job, Watch};
use crate::effect::Action;
use crate::event::{Audience, Occurrence};
use crate::ids::{EventId, PlanId};
use crate::policy::{PlanApproval, Policy, Timing};
use crate::session::Plan;
use crate::step::Step;

/// What every decision about attention looks at.
pub(super) struct Context<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) now: Timestamp,
    pub(super) policy: &'a Policy,
    pub(super) timing: &'a Timing,
}

impl Context<'_> {
    fn waited(&self, since: Timestamp) -> bool {
        self.now.duration_since(since) >= self.timing.text_wait
    }

    /// Names an occurrence whose words never came: the state and when it was entered.
    fn state_key(&self, watch: &Watch) -> String {
        let since = self.snapshot.view.updated_at.unwrap_or(watch.state_since);
        format!("{}@{since}", watch.state.as_str())
    }
}

/// The session waits for an answer.
pub(super) fn question(step: &mut Step<Job>, watch: &mut Watch, context: &Context<'_>) {
    let words = unanswered_words(watch);
    let next = match (&watch.attention, words) {
        (
            Attention::Question {
                event,
                since,
                text: None,
            },
            Some((_, text)),
        ) => {
            let open = Attention::Question {
                event: event.clone(),
                since: *since,
                text: Some(text.clone()),
            };
            let what = Occurrence::Question { text: Some(text) };
            amend(step, watch, (event.clone(), what, Audience::Agent), *since);
            open
        }
        (
            Attention::Question {
                event,
                text: Some(_),
                ..
            },
            Some((key, text)),
        ) if is_new_question(watch, event, &step.aggregate, &key) => {
            ask(step, watch, (key, Some(text)), context)
        }
        (Attention::Question { since, .. }, None) if answered_after(watch, *since) => {
            Attention::Answered { since: context.now }
        }
        (open @ Attention::Question { .. }, _) => open.clone(),
        (
            Attention::None
            | Attention::Expecting { .. }
            | Attention::Answered { .. }
            | Attention::Plan { .. },
            Some((key, text)),
        ) => ask(step, watch, (key, Some(text)), context),
        (answered @ Attention::Answered { .. }, None) => answered.clone(),
        (Attention::Expecting { since }, None) if context.waited(*since) => {
            ask(step, watch, (context.state_key(watch), None), context)
        }
        (expecting @ Attention::Expecting { .. }, None) => expecting.clone(),
        (Attention::None | Attention::Plan { .. }, None) => {
            Attention::Expecting { since: context.now }
        }
    };
    watch.attention = next;
}

/// The newest words of Jules that nobody has answered, with their key.
fn unanswered_words(watch: &Watch) -> Option<(String, String)> {
    let said = watch.talk.agent.as_ref()?;
    let answered = watch.talk.user_at.is_some_and(|at| at >= said.at);
    (!answered).then(|| (said.id.to_string(), said.text.clone()))
}

fn answered_after(watch: &Watch, since: Timestamp) -> bool {
    watch.talk.user_at.is_some_and(|at| at >= since)
        || (watch.talk.agent.is_some()
            && watch.talk.user_at >= watch.talk.agent.as_ref().map(|said| said.at))
}

/// Two messages in a row are one question; one after an answer is another.
fn is_new_question(watch: &Watch, open: &EventId, job: &Job, key: &str) -> bool {
    *open != question_id(job, watch, key)
        && watch.announced.question.as_deref() != Some(key)
        && watch.talk.user_at.is_some_and(|user| {
            watch.talk.agent.as_ref().is_some_and(|said| user < said.at)
                && matches!(&watch.attention, Attention::Question { since, .. } if user >= *since)
        })
}

fn question_id(job: &Job, watch: &Watch, key: &str) -> EventId {
    EventId::of(&format!("{}:question:{}:{key}", job.id, watch.session))
}

/// Opens a question and announces it, unless the same one was announced before.
fn ask(
    step: &mut Step<Job>,
    watch: &mut Watch,
    (key, text): (String, Option<String>),
    context: &Context<'_>,
) -> Attention {
    let name = format!("question:{}:{key}", watch.session);
    let what = Occurrence::Question { text: text.clone() };
    let asked = event(
        &step.aggregate,
        watch,
        (&name, what, Audience::Agent),
        context.now,
    );
    let id = asked.id.clone();
    if watch.announced.question.as_ref() != Some(&key) {
        step.events.push(asked);
        watch.announced.question = Some(key);
    }
    Attention::Question {
        event: id,
        since: context.now,
        text,
    }
}

/// The session waits for its plan to be approved.
pub(super) fn plan(step: &mut Step<Job>, watch: &mut Watch, context: &Context<'_>) {
    let waiting = watch.talk.plan.as_ref().map(|waiting| waiting.plan.clone());
    let next = match (&watch.attention, waiting) {
        (
            Attention::Plan {
                event,
                since,
                plan: None,
            },
            Some(plan),
        ) => {
            let open = Attention::Plan {
                event: event.clone(),
                since: *since,
                plan: Some(plan.clone()),
            };
            let what = Occurrence::PlanApproval { plan: Some(plan) };
            amend(
                step,
                watch,
                (event.clone(), what, audience(context.policy)),
                *since,
            );
            open
        }
        (
            Attention::Plan {
                plan: Some(open), ..
            },
            Some(plan),
        ) if open.id != plan.id => present(step, watch, Some(plan), context),
        (Attention::Plan { plan: Some(_), .. }, None) => Attention::Answered { since: context.now },
        (open @ Attention::Plan { .. }, _) => open.clone(),
        (_, Some(plan)) => present(step, watch, Some(plan), context),
        (answered @ Attention::Answered { .. }, None) => answered.clone(),
        (Attention::Expecting { since }, None) if context.waited(*since) => {
            present(step, watch, None, context)
        }
        (expecting @ Attention::Expecting { .. }, None) => expecting.clone(),
        (Attention::None | Attention::Question { .. }, None) => {
            Attention::Expecting { since: context.now }
        }
    };
    watch.attention = next;
}

/// Shows a plan to whoever approves plans; by policy that may be nobody.
fn present(
    step: &mut Step<Job>,
    watch: &mut Watch,
    plan: Option<Plan>,
    context: &Context<'_>,
) -> Attention {
    let key = plan
        .as_ref()
        .map_or_else(|| context.state_key(watch), |plan| plan.id.to_string());
    let name = format!("plan:{}:{key}", watch.session);
    let what = Occurrence::PlanApproval { plan: plan.clone() };
    let shown = event(
        &step.aggregate,
        watch,
        (&name, what, audience(context.policy)),
        context.now,
    );
    let id = shown.id.clone();
    if watch.announced.plan.as_ref() != Some(&key) {
        watch.announced.plan = Some(key);
        match context.policy.plan_approval {
            PlanApproval::Auto => step.effects.push(approval(watch, plan.as_ref())),
            PlanApproval::Agent | PlanApproval::Human => step.events.push(shown),
        }
    }
    Attention::Plan {
        event: id,
        since: context.now,
        plan,
    }
}

fn audience(policy: &Policy) -> Audience {
    match policy.plan_approval {
        PlanApproval::Auto | PlanApproval::Agent => Audience::Agent,
        PlanApproval::Human => Audience::Human,
    }
}

/// The approval of a plan; one whose id never came is named by when its session began to wait.
pub(super) fn approval(watch: &Watch, plan: Option<&Plan>) -> Action {
    let unnamed = || PlanId::unnamed(watch.state_since);
    let plan = plan.map_or_else(unnamed, |plan| plan.id.clone());
    Action::ApprovePlan {
        session: watch.session.clone(),
        plan,
    }
}

/// The session rests. Each completion is announced once, with the pull requests it made if those come in time.
pub(super) fn completed(step: &mut Step<Job>, watch: &mut Watch, context: &Context<'_>) {
    if !is_new_completion(watch) {
        watch.attention = Attention::None;
        return;
    }
    let complete = watch.pull.is_some() && context.snapshot.activities.is_some();
    if !complete && !context.waited(watch.state_since) {
        watch.attention = Attention::Expecting {
            since: watch.state_since,
        };
        return;
    }
    let what = Occurrence::Completed {
        pulls: watch.pull.iter().cloned().collect(),
    };
    let key = watch
        .talk
        .completed
        .as_ref()
        .map_or_else(|| context.state_key(watch), |mark| mark.id.to_string());
    let name = format!("completed:{}:{key}", watch.session);
    step.events.push(event(
        &step.aggregate,
        watch,
        (&name, what, Audience::Agent),
        context.now,
    ));
    watch.announced.completed_at = Some(context.now);
    watch.announced.completed.clone_from(&watch.talk.completed);
    watch.attention = Attention::None;
}

/// A state that flaps is no new completion: it takes a new word of completion, or a message since the last one.
fn is_new_completion(watch: &Watch) -> bool {
    let Some(announced_at) = watch.announced.completed_at else {
        return true;
    };
    let newer_word = match (&watch.announced.completed, &watch.talk.completed) {
        (Some(old), Some(new)) => new.id != old.id && new.at >= old.at,
        (None, Some(new)) => new.at > announced_at,
        (_, None) => false,
    };
    let silent_restart = watch.talk.completed.is_none()
        && watch.talk.user_at.is_some_and(|at| at > announced_at)
        && watch.state_since > announced_at;
    newer_word || silent_restart
}

/// Adds late words to an occurrence that was already announced.
fn amend(
    step: &mut Step<Job>,
    watch: &Watch,
    (id, what, audience): (EventId, Occurrence, Audience),
    since: Timestamp,
) {
    let mut amended = event(&step.aggregate, watch, ("", what, audience), since);
    amended.id = id;
    step.amended.push(amended);
}
