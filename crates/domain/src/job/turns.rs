//! The answer chain of a question or a plan: the source's answerers get their turn one after the other until one answers.

use jiff::{SignedDuration, Timestamp};

use super::announcing::may_announce;
use super::context::Context;
use super::event::event;
use super::nudge::{NUDGE, NUDGES_MAX};
use super::silence::is_silent;
use super::watch::{
    Announcement, Attention, Nudged, RepeatedAnnouncement, Reply, SentAnswer, Turn, Watch,
};
use super::{AnnouncementTopic, Job, JobPhase, completion, pause};
use crate::effect::{Action, JulesAction};
use crate::event::{Audience, Occurrence};
use crate::ids::{EventId, digest};
use crate::outgoing_text;
use crate::policy::{Answer, Answerer, PlanApproval, Policy};
use crate::redact::presentable;
use crate::step::Step;
use crate::when::plus;

/// A message of ours that the log never showed is not waited for any longer: its echo may have been read before the sending was recorded.
pub(super) const CONFIRM_WAIT: SignedDuration = SignedDuration::from_mins(10);

/// How long an answer that the session has not confirmed holds up the next turn: all its attempts together take half an hour.
const ANSWER_WAIT: SignedDuration = SignedDuration::from_hours(1);

/// Maximum number of stored answers to one question: the newest.
const SENT_MAX: usize = 5;

/// Longest beginning of an answer that is kept, in characters.
const START_CHARS_MAX: usize = 300;

/// What of a job waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingAnswer<'a> {
    /// Whether it is a plan; else a question.
    pub is_plan: bool,
    /// Whose turn it is; `None` for what asks no one.
    pub turn: Option<&'a Turn>,
    /// When the next one has its turn.
    pub until: Option<Timestamp>,
    /// Whether an answer was accepted that the session has not been seen to take up.
    pub is_answered: bool,
    /// The events that showed it.
    pub events: Vec<&'a EventId>,
}

/// The question or plan that is open.
pub fn pending_answer(job: &Job) -> Option<PendingAnswer<'_>> {
    let JobPhase::Watching(watch) = &job.phase else {
        return None;
    };
    let told = watch.open()?;
    Some(PendingAnswer {
        is_plan: matches!(watch.attention, Attention::Plan { .. }),
        turn: told.turn.as_ref(),
        until: turn_deadline(watch),
        is_answered: !told.sent.is_empty(),
        events: told.events().collect(),
    })
}

/// When the next answerer has its turn; `None` when the chain is at its end. An answer on its way delays it, and at
/// the end of the chain the question opens again if the answer has not arrived by then.
pub(crate) fn turn_deadline(watch: &Watch) -> Option<Timestamp> {
    let told = watch.open()?;
    let given = told.sent.last().map(|sent| plus(sent.at, ANSWER_WAIT));
    let until = told.turn.as_ref().and_then(|turn| turn.until);
    let sent = watch.unconfirmed_since.map(|at| plus(at, CONFIRM_WAIT));
    let first = until.or(given)?;
    Some(first.max(given.unwrap_or(first)).max(sent.unwrap_or(first)))
}

/// The chain for an occurrence: a nudge never decides about a plan.
fn chain(what: &Occurrence, policy: &Policy) -> Vec<Answer> {
    let person = Answer {
        who: Answerer::Human,
        within: None,
    };
    match (what, policy.plan_approval) {
        (Occurrence::PlanApproval { .. }, PlanApproval::Auto | PlanApproval::Delivery) => {
            Vec::new()
        }
        (Occurrence::PlanApproval { .. }, PlanApproval::Human) => vec![person],
        (Occurrence::PlanApproval { .. }, PlanApproval::Agent) => {
            let (who, within) = (Answerer::Agent, Some(policy.answers.agent_within()));
            vec![Answer { who, within }, person]
        }
        (
            Occurrence::Question { .. }
            | Occurrence::UnreviewedPlan { .. }
            | Occurrence::UnexpectedPush { .. }
            | Occurrence::Completed { .. }
            | Occurrence::Error { .. }
            | Occurrence::Stuck { .. }
            | Occurrence::Delivery { .. }
            | Occurrence::News(_),
            _,
        ) => policy.answers.in_turn(),
    }
}

/// The first turn of something new. What exceeds the announcement limit gets no turn.
pub(super) fn begin(
    step: &mut Step<Job>,
    watch: &mut Watch,
    told: &mut Announcement,
    what: &Occurrence,
    context: &Context<'_>,
) {
    let (topic, words) = match what {
        Occurrence::Question { text } => (AnnouncementTopic::Question, text.as_deref()),
        Occurrence::PlanApproval { .. }
        | Occurrence::UnreviewedPlan { .. }
        | Occurrence::UnexpectedPush { .. }
        | Occurrence::Completed { .. }
        | Occurrence::Error { .. }
        | Occurrence::Stuck { .. }
        | Occurrence::Delivery { .. }
        | Occurrence::News(_) => (AnnouncementTopic::Plan, None),
    };
    let steps = chain(what, context.policy);
    if steps.is_empty() {
        return;
    }
    if may_announce(step, watch, topic, words, context.now) {
        pass_on(step, watch, OpenMatter { told, what }, 0, context);
    } else {
        told.suppressed = true;
    }
}

/// Passes the turn on once its answerer had it for long enough.
pub(super) fn go_on(step: &mut Step<Job>, watch: &mut Watch, context: &Context<'_>) {
    let what = match &watch.attention {
        Attention::Question { text, .. } => Occurrence::Question { text: text.clone() },
        Attention::Plan { plan, .. } => Occurrence::PlanApproval { plan: plan.clone() },
        Attention::None | Attention::Expecting { .. } | Attention::Answered { .. } => return,
    };
    let steps = chain(&what, context.policy);
    take_from_agent(watch, &steps, context);
    // The log may contain an answer, so it must have been read just now.
    while context.snapshot.activities.is_some()
        && turn_deadline(watch).is_some_and(|due| due <= context.now)
    {
        let Some(mut told) = watch.open().cloned() else {
            return;
        };
        let after = |turn: &Turn| match is_nobodys(turn, &steps) {
            // Those after it have moved up.
            true => turn.place,
            false => turn.place + 1,
        };
        // An answer that did not arrive in all this time is none.
        told.sent.clear();
        let ends = |turn: &&Turn| turn.until.is_some();
        if let Some(next) = told.turn.as_ref().filter(ends).map(after) {
            let matter = OpenMatter {
                told: &mut told,
                what: &what,
            };
            pass_on(step, watch, matter, next, context);
        }
        if let Some(open) = watch.open_mut() {
            *open = told;
        }
    }
}

/// Whether it is the agent's turn although the chain names no agent any more: it takes no wakes, or was taken out.
fn is_nobodys(turn: &Turn, steps: &[Answer]) -> bool {
    turn.who == Answerer::Agent && steps.iter().all(|step| step.who != Answerer::Agent)
}

/// Skips an agent that cannot be woken: its turn is over. A turn without an end is taken only once it is known
/// whether there is an answer, so that nothing is written again and again at the end of the chain.
fn take_from_agent(watch: &mut Watch, steps: &[Answer], context: &Context<'_>) {
    let now = context.now;
    let listened = context.snapshot.activities.is_some();
    let turn = watch.open_mut().and_then(|told| told.turn.as_mut());
    if let Some(turn) = turn.filter(|turn| is_nobodys(turn, steps)) {
        let until = turn.until.map(|until| until.min(now));
        turn.until = until.or(listened.then_some(now));
    }
}

/// A question or a plan that waits for an answer.
struct OpenMatter<'a> {
    /// How it was announced.
    told: &'a mut Announcement,
    what: &'a Occurrence,
}

/// Gives the turn to the first answerer from a place on who can take it. A chain may have become shorter meanwhile,
/// so people before that place are considered too. Without a candidate the current answerer keeps it, unless that is Gaffer itself,
/// which waits for nothing more: people were asked before then, and have it again.
fn pass_on(
    step: &mut Step<Job>,
    watch: &mut Watch,
    mut matter: OpenMatter<'_>,
    from: u32,
    context: &Context<'_>,
) {
    let steps = chain(matter.what, context.policy);
    let numbered = || (0_u32..).zip(&steps);
    let people =
        numbered().filter(|(place, answer)| *place < from && answer.who == Answerer::Human);
    for (place, answer) in numbered().skip(from as usize).chain(people) {
        let has_it = match answer.who {
            Answerer::Agent => show(step, watch, &mut matter, Audience::Agent, context),
            Answerer::Human => show(step, watch, &mut matter, Audience::Human, context),
            Answerer::Nudge => nudge(step, watch, matter.told),
        };
        if has_it {
            matter.told.turn = Some(Turn {
                who: answer.who,
                place,
                until: answer.within.map(|within| plus(context.now, within)),
            });
            return;
        }
    }
    if let Some(turn) = &mut matter.told.turn {
        let people = numbered().find(|(_, answer)| answer.who == Answerer::Human);
        if let (Answerer::Nudge, Some((place, person))) = (turn.who, people) {
            (turn.who, turn.place) = (person.who, place);
        }
        turn.until = None;
    }
}

/// Announces it to an answerer who has not seen it.
fn show(
    step: &mut Step<Job>,
    watch: &Watch,
    matter: &mut OpenMatter<'_>,
    to: Audience,
    context: &Context<'_>,
) -> bool {
    let (at, told) = (context.now, &mut *matter.told);
    let has_seen = told.shown && told.to == Some(to);
    if has_seen || told.later.iter().any(|telling| telling.to == to) {
        return false;
    }
    let mut shown = event(&step.aggregate, watch, ("", matter.what.clone(), to), at);
    if told.turn.is_none() {
        shown.id = told.event.clone();
        (told.shown, told.to) = (true, Some(to));
    } else {
        let to_whom = match to {
            Audience::Agent => "agent",
            Audience::Human => "human",
            Audience::Nobody => "nobody",
        };
        shown.id = EventId::from_name(&format!("{}:{to_whom}", told.event));
        let event = shown.id.clone();
        told.later.push(RepeatedAnnouncement { event, to, at });
    }
    step.events.push(shown);
    true
}

/// Asks the session to decide by itself: a few times a job, and not again when its only reaction is to ask again.
fn nudge(step: &mut Step<Job>, watch: &mut Watch, told: &Announcement) -> bool {
    let same = |last: &Nudged| last.event == told.event || watch.log.worked_at <= last.through;
    if step.aggregate.nudges >= NUDGES_MAX || watch.announced.nudged.as_ref().is_some_and(same) {
        return false;
    }
    step.aggregate.nudges += 1;
    watch.announced.nudged = Some(Nudged {
        event: told.event.clone(),
        through: watch.log.through,
    });
    step.effects.push(Action::Jules(JulesAction::Say {
        session: watch.session.clone(),
        text: outgoing_text::decide_yourself().to_owned(),
        cause: format!("{NUDGE}{}", told.event),
    }));
    true
}

/// Records an answer to the open question, or a message to a silent session: no other turn begins until it is visible.
pub(super) fn answered(watch: &mut Watch, action: &Action, now: Timestamp) {
    let Some(reply) = reply(action) else { return };
    let is_silent = is_silent(watch);
    let sent = match watch.open_mut() {
        Some(told) => &mut told.sent,
        // An approval after the fact is not sent to Jules, so nothing of it can be taken up.
        None if is_silent && matches!(reply, Reply::Words { .. }) => {
            &mut watch.announced.stuck_sent
        }
        None => return,
    };
    sent.push(SentAnswer { at: now, reply });
    let surplus = sent.len().saturating_sub(SENT_MAX);
    sent.drain(..surplus);
}

/// The answer in an action; `None` for other actions.
fn reply(action: &Action) -> Option<Reply> {
    match action {
        Action::Jules(JulesAction::Say { text, cause, .. }) => Some(Reply::Words {
            cause: cause.clone(),
            digest: digest(text),
            start: presentable(text, START_CHARS_MAX),
        }),
        Action::Jules(JulesAction::ApprovePlan { plan, .. }) => {
            Some(Reply::Approval { plan: plan.clone() })
        }
        Action::Jules(JulesAction::CreateSession { .. } | JulesAction::Archive { .. })
        | Action::Pull(_)
        | Action::Repo(_)
        | Action::Tracker(_) => None,
    }
}

/// The answers to what is open, or was until its answer was seen, that the session has not taken up.
pub(super) fn sent(watch: &Watch) -> &[SentAnswer] {
    let told = match &watch.attention {
        Attention::Answered { .. } => newest_answered(watch),
        Attention::None
        | Attention::Expecting { .. }
        | Attention::Question { .. }
        | Attention::Plan { .. } => watch.open(),
    };
    match told {
        Some(told) => &told.sent,
        None if is_silent(watch) && !completion::is_over(watch) => &watch.announced.stuck_sent,
        None => &[],
    }
}

/// The last answered of the last question and the last plan.
fn newest_answered(watch: &Watch) -> Option<&Announcement> {
    let announced = [&watch.announced.question, &watch.announced.plan];
    let told = announced.into_iter().flatten();
    told.max_by_key(|told| told.sent.last().map(|sent| sent.at))
}

/// When another answerer was last shown what is open, after the first one.
pub(super) fn passed_on_at(watch: &Watch) -> Option<Timestamp> {
    watch.open()?.later.last().map(|telling| telling.at)
}

/// Whose turn it is to answer the open question; `None` where it was not announced.
pub(super) fn whose(watch: &Watch) -> Option<Answerer> {
    watch.open()?.turn.as_ref().map(|turn| turn.who)
}

/// When an answer was accepted that the session has not confirmed; `None` while nothing is asked or answered.
pub fn answered_at(watch: &Watch) -> Option<Timestamp> {
    match &watch.attention {
        Attention::Answered { since } => Some(*since),
        Attention::None
        | Attention::Expecting { .. }
        | Attention::Question { .. }
        | Attention::Plan { .. } => sent(watch).last().map(|sent| sent.at),
    }
}

/// The answer did not get through. Returns whether it was Gaffer's own, which needs no announcement: the next answerer has its turn.
pub(super) fn unanswered(watch: &mut Watch, action: &Action, now: Timestamp) -> bool {
    let nudge =
        matches!(action, Action::Jules(JulesAction::Say { cause, .. }) if cause.starts_with(NUDGE));
    let failed = reply(action);
    let is_other = |sent: &SentAnswer| Some(&sent.reply) != failed.as_ref();
    watch.announced.stuck_sent.retain(is_other);
    let Some(told) = watch.open_mut() else {
        return nudge;
    };
    told.sent.retain(is_other);
    if let Some(turn) = &mut told.turn
        && nudge
        && turn.who == Answerer::Nudge
    {
        // Another answer may be under way, and still holds the turn.
        turn.until = Some(now);
    }
    nudge
}

/// Whether a message may still be sent: a nudge only while its question has no answer. It may have waited for long.
pub fn is_wanted(watch: &Watch, cause: &str) -> bool {
    cause.strip_prefix(NUDGE).is_none_or(|event| {
        if let Some(wanted) = pause::is_wanted(watch, event) {
            return wanted;
        }
        let is_open = |told: &Announcement| told.event.as_str() == event && told.sent.is_empty();
        watch.unconfirmed_since.is_none() && watch.open().is_some_and(is_open)
    })
}
