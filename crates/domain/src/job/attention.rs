//! Questions and plans: announced once each, with their text if it comes in time.

use jiff::Timestamp;

use super::context::Context;
use super::event::event;
use super::log::TEXT_BYTES_MAX;
use super::watch::{AgentMessage, Announcement, Attention, RepeatedAnnouncement, Watch};
use super::{Job, turns};
use crate::effect::{Action, JulesAction};
use crate::event::{Audience, Occurrence};
use crate::fence::clip_encoded;
use crate::ids::{EventId, PlanId};
use crate::policy::{PlanApproval, Policy};
use crate::session::Plan;
use crate::step::Step;

/// What a new occurrence is announced as.
struct NewAnnouncement {
    key: String,
    what: Occurrence,
    wordless: bool,
    /// The newest answer of its kind so far.
    answer: Option<Timestamp>,
}

/// Announces something new to the first in the answer chain.
fn announce(
    step: &mut Step<Job>,
    watch: &mut Watch,
    kind: &str,
    news: NewAnnouncement,
    context: &Context<'_>,
) -> Announcement {
    let name = format!(
        "{}:{kind}:{}:{}",
        step.aggregate.id, watch.session, news.key
    );
    let mut told = Announcement {
        key: news.key,
        event: EventId::from_name(&name),
        at: context.now,
        without_text: news.wordless,
        shown: false,
        after: news.answer.max(context.snapshot.view.updated_at),
        through: watch.log.through,
        to: None,
        later: Vec::new(),
        turn: None,
        suppressed: false,
        sent: Vec::new(),
    };
    turns::begin(step, watch, &mut told, &news.what, context);
    told
}

/// Adds text to an announced occurrence, in all its events.
pub(super) fn amend(step: &mut Step<Job>, watch: &Watch, told: &Announcement, what: &Occurrence) {
    let first = told.to.map(|to| RepeatedAnnouncement {
        event: told.event.clone(),
        to,
        at: told.at,
    });
    for telling in first.iter().chain(&told.later) {
        let about = ("", what.clone(), telling.to);
        let mut amended = event(&step.aggregate, watch, about, telling.at);
        amended.id = telling.event.clone();
        step.amended.push(amended);
    }
}

/// The session waits for an answer.
pub(super) fn question(step: &mut Step<Job>, watch: &mut Watch, context: &Context<'_>) {
    let said = unanswered(watch);
    let told = watch.announced.question.clone();
    let answer = watch.log.user_at;
    let open = matches!(watch.attention, Attention::Question { .. });
    watch.attention = match (told, said) {
        (Some(told), Some(said)) if told.key == said.id.as_str() => {
            reopened(watch, &told, Some(said.text))
        }
        (Some(told), Some(said)) if open && !told.answered(answer) && told.same_stay(watch) => {
            joined(step, watch, told, said)
        }
        (Some(told), Some(said)) if told.lacked(said.at, answer) => joined(step, watch, told, said),
        (_, Some(said)) => ask(step, watch, Some(said), context),
        (Some(told), None) if open && told.without_text && !told.answered(answer) => {
            watch.attention.clone()
        }
        (_, None) if open => Attention::Answered { since: context.now },
        (Some(told), None) if told.untouched(watch, answer) => reopened(watch, &told, None),
        (_, None) => {
            awaited(watch, answer, context).unwrap_or_else(|| ask(step, watch, None, context))
        }
    };
}

/// The attention while the text of an occurrence is missing; `None` once the wait for it is over.
fn awaited(watch: &Watch, answer: Option<Timestamp>, context: &Context<'_>) -> Option<Attention> {
    let since = context.now;
    match &watch.attention {
        answered @ Attention::Answered { .. } => Some(answered.clone()),
        expecting @ Attention::Expecting { since } => {
            (!context.waited(*since)).then(|| expecting.clone())
        }
        Attention::None | Attention::Question { .. } | Attention::Plan { .. } => {
            if context.lags_behind(answer) {
                return Some(Attention::Answered { since });
            }
            (!context.waited(since)).then_some(Attention::Expecting { since })
        }
    }
}

/// The newest message of Jules without an answer.
fn unanswered(watch: &Watch) -> Option<AgentMessage> {
    let said = watch.log.agent.as_ref()?;
    let answered = watch.log.user_at.is_some_and(|at| at >= said.at);
    (!answered).then(|| said.clone())
}

/// A question that is open, or open again after the state flapped. It was announced.
fn reopened(watch: &Watch, told: &Announcement, text: Option<String>) -> Attention {
    match &watch.attention {
        open @ Attention::Question { .. } => open.clone(),
        Attention::None
        | Attention::Expecting { .. }
        | Attention::Plan { .. }
        | Attention::Answered { .. } => Attention::Question {
            event: told.event.clone(),
            since: told.at,
            text,
        },
    }
}

/// Adds text to its question: late text, and messages sent together with it.
fn joined(
    step: &mut Step<Job>,
    watch: &mut Watch,
    told: Announcement,
    said: AgentMessage,
) -> Attention {
    let text = match &watch.attention {
        Attention::Question {
            text: Some(first), ..
        } => clip_encoded(&format!("{first}\n\n{}", said.text), TEXT_BYTES_MAX),
        Attention::Question { text: None, .. }
        | Attention::None
        | Attention::Expecting { .. }
        | Attention::Plan { .. }
        | Attention::Answered { .. } => said.text,
    };
    let what = Occurrence::Question {
        text: Some(text.clone()),
    };
    amend(step, watch, &told, &what);
    let open = Attention::Question {
        event: told.event.clone(),
        since: told.at,
        text: Some(text),
    };
    watch.announced.question = Some(Announcement {
        key: said.id.to_string(),
        without_text: false,
        ..told
    });
    open
}

/// Opens a question and announces it.
fn ask(
    step: &mut Step<Job>,
    watch: &mut Watch,
    said: Option<AgentMessage>,
    context: &Context<'_>,
) -> Attention {
    let key = said
        .as_ref()
        .map_or_else(|| context.state_key(watch), |said| said.id.to_string());
    let wordless = said.is_none();
    let text = said.map(|said| said.text);
    let news = NewAnnouncement {
        key,
        what: Occurrence::Question { text: text.clone() },
        wordless,
        answer: watch.log.user_at,
    };
    let told = announce(step, watch, "question", news, context);
    let event = told.event.clone();
    watch.announced.question = Some(told);
    Attention::Question {
        event,
        since: context.now,
        text,
    }
}

/// The session waits for its plan to be approved.
pub(super) fn plan(step: &mut Step<Job>, watch: &mut Watch, context: &Context<'_>) {
    let waiting = watch.log.plan.clone();
    let told = watch.announced.plan.clone();
    let answer = watch.log.plan_approved_at;
    let open = matches!(watch.attention, Attention::Plan { .. });
    watch.attention = match (told, waiting) {
        (Some(told), Some(waiting)) if told.key == waiting.plan.id.as_str() => {
            shown_again(step, watch, told, waiting.plan, context)
        }
        (Some(told), Some(waiting))
            if told.lacked(waiting.at, answer)
                || open && told.without_text && !told.answered(answer) =>
        {
            completed_plan(step, watch, told, waiting.plan)
        }
        (_, Some(waiting)) => present(step, watch, Some(waiting.plan), context),
        (Some(told), None) if open && told.without_text && !told.answered(answer) => {
            watch.attention.clone()
        }
        (_, None) if open => Attention::Answered { since: context.now },
        (Some(told), None) if told.untouched(watch, answer) => Attention::Plan {
            event: told.event,
            since: told.at,
            plan: None,
        },
        (_, None) => {
            awaited(watch, answer, context).unwrap_or_else(|| present(step, watch, None, context))
        }
    };
}

/// Handles an announced plan that still waits. A plan that the policy approved itself is shown once the policy asks
/// for an approval.
fn shown_again(
    step: &mut Step<Job>,
    watch: &mut Watch,
    told: Announcement,
    plan: Plan,
    context: &Context<'_>,
) -> Attention {
    if !told.shown && !told.suppressed && context.policy.plan_approval.is_asked() {
        return present(step, watch, Some(plan), context);
    }
    match &watch.attention {
        open @ Attention::Plan { plan: Some(_), .. } => open.clone(),
        Attention::Plan { plan: None, .. }
        | Attention::None
        | Attention::Expecting { .. }
        | Attention::Question { .. }
        | Attention::Answered { .. } => Attention::Plan {
            event: told.event,
            since: told.at,
            plan: Some(plan),
        },
    }
}

/// A plan whose steps came late joins the occurrence that was announced without them.
fn completed_plan(
    step: &mut Step<Job>,
    watch: &mut Watch,
    told: Announcement,
    plan: Plan,
) -> Attention {
    let what = Occurrence::PlanApproval {
        plan: Some(plan.clone()),
    };
    amend(step, watch, &told, &what);
    let open = Attention::Plan {
        event: told.event.clone(),
        since: told.at,
        plan: Some(plan.clone()),
    };
    watch.announced.plan = Some(Announcement {
        key: plan.id.to_string(),
        without_text: false,
        ..told
    });
    open
}

/// Shows a plan to its approver; by policy there may be none.
fn present(
    step: &mut Step<Job>,
    watch: &mut Watch,
    plan: Option<Plan>,
    context: &Context<'_>,
) -> Attention {
    let key = plan
        .as_ref()
        .map_or_else(|| context.state_key(watch), |plan| plan.id.to_string());
    let is_auto = context.policy.plan_approval == PlanApproval::Auto;
    let approval = is_auto.then(|| approval(watch, plan.as_ref()));
    if is_auto {
        watch.announced.approved_plan = plan.as_ref().map(|plan| plan.id.clone());
    }
    let news = NewAnnouncement {
        key,
        what: Occurrence::PlanApproval { plan: plan.clone() },
        wordless: plan.is_none(),
        answer: watch.log.plan_approved_at,
    };
    let told = announce(step, watch, "plan", news, context);
    let event = told.event.clone();
    watch.announced.plan = Some(told);
    watch.attention = Attention::Plan {
        event,
        since: context.now,
        plan,
    };
    if let Some(action) = approval {
        turns::answered(watch, &action, context.now);
        step.effects.push(action);
    }
    watch.attention.clone()
}

pub(super) fn audience(policy: &Policy) -> Audience {
    match policy.plan_approval {
        PlanApproval::Auto | PlanApproval::Agent | PlanApproval::Delivery => Audience::Agent,
        PlanApproval::Human => Audience::Human,
    }
}

/// The approval of a plan; one whose id never came is named by when its session began to wait.
pub(super) fn approval(watch: &Watch, plan: Option<&Plan>) -> Action {
    let unnamed = || PlanId::unnamed(watch.state_since);
    let plan = plan.map_or_else(unnamed, |plan| plan.id.clone());
    Action::Jules(JulesAction::ApprovePlan {
        session: watch.session.clone(),
        plan,
    })
}
