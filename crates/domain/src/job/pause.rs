//! Sessions that Jules has paused, and states that this version does not know: announced as such, after a message
//! that wakes most paused ones.

use jiff::{SignedDuration, Timestamp};

use super::Job;
use super::context::Context;
use super::nudge::{NUDGE, NUDGES_MAX};
use super::watch::Watch;
use crate::effect::{Action, JulesAction};
use crate::event::{ErrorCause, Occurrence};
use crate::outgoing_text;
use crate::policy::{Answerer, Timing};
use crate::session::SessionState;
use crate::step::Step;

/// How long a paused session has to resume after the message: half of them do within 70 s, and the slowest seen took
/// 8 min.
const GO_ON_WAIT: SignedDuration = SignedDuration::from_mins(10);

/// What the cause of the message that wakes a paused session holds beside its time.
const PAUSED: &str = "paused:";

/// Whether a session in this state does nothing, as far as this version knows.
pub(super) fn is_halting(state: &SessionState) -> bool {
    match state {
        SessionState::Paused | SessionState::Unspecified | SessionState::Other(_) => true,
        SessionState::Queued
        | SessionState::Planning
        | SessionState::AwaitingPlanApproval
        | SessionState::AwaitingUserFeedback
        | SessionState::InProgress
        | SessionState::Failed
        | SessionState::Completed => false,
    }
}

/// When the message to go on was sent in the present pause.
pub(super) fn resume_sent_at(watch: &Watch) -> Option<Timestamp> {
    let told = watch.announced.resumed_at;
    let is_paused = watch.state == SessionState::Paused;
    told.filter(|at| is_paused && *at >= watch.state_since)
}

/// How long a pause lasts before Gaffer acts: two polls see it, and a message has time to wake the session.
pub(super) fn wait(watch: &Watch, timing: &Timing) -> SignedDuration {
    match resume_sent_at(watch) {
        Some(_) => GO_ON_WAIT,
        None => timing.text_wait,
    }
}

/// Sends a paused session the message to go on, once a pause and where the source lets Gaffer answer by itself.
/// Returns whether it did.
pub(super) fn go_on(step: &mut Step<Job>, watch: &mut Watch, context: &Context<'_>) -> bool {
    let answers = context.policy.answers.steps();
    let may = answers.iter().any(|answer| answer.who == Answerer::Nudge)
        && step.aggregate.nudges < NUDGES_MAX;
    if watch.state != SessionState::Paused || resume_sent_at(watch).is_some() || !may {
        return false;
    }
    step.aggregate.nudges += 1;
    watch.announced.resumed_at = Some(context.now);
    step.effects.push(Action::Jules(JulesAction::Say {
        session: watch.session.clone(),
        text: outgoing_text::go_on().to_owned(),
        cause: format!("{NUDGE}{PAUSED}{}", watch.state_since),
    }));
    true
}

/// Whether the message to a paused session is still needed; `None` when it is another message.
pub(super) fn is_wanted(watch: &Watch, about: &str) -> Option<bool> {
    let since = about.strip_prefix(PAUSED)?;
    let is_same = since == watch.state_since.to_string();
    Some(is_same && watch.state == SessionState::Paused)
}

/// The occurrence to announce for a session that does nothing.
pub(super) fn occurrence(watch: &Watch) -> Occurrence {
    let last = watch.log.last_words.clone();
    let did = last.as_deref().filter(|words| !words.is_empty());
    let did = did.map_or(String::new(), |words| {
        format!(" The last thing in its log: {words}")
    });
    let since = watch.state_since;
    match &watch.state {
        SessionState::Paused => {
            let tried = resume_sent_at(watch).map_or(String::new(), |at| {
                format!(" It was told to go on at {at} and did not.")
            });
            Occurrence::Error {
                cause: ErrorCause::SessionPaused,
                reason: format!(
                    "Jules has paused the session since {since}, and it does nothing until it gets a message.{tried} A message wakes most paused sessions; where it does not, cancel the job and retry it.{did}"
                ),
            }
        }
        state @ (SessionState::Unspecified | SessionState::Other(_)) => Occurrence::Error {
            cause: ErrorCause::UnknownState,
            reason: format!(
                "Jules says `{}` of the session since {since}, a state that this version of Gaffer does not know, and its log shows nothing new. Look at the session's page; a message may move it, a newer version may know the state, and cancelling the job ends the wait.{did}",
                state.as_str()
            ),
        },
        SessionState::Queued
        | SessionState::Planning
        | SessionState::AwaitingPlanApproval
        | SessionState::AwaitingUserFeedback
        | SessionState::InProgress
        | SessionState::Failed
        | SessionState::Completed => Occurrence::Stuck { last_words: last },
    }
}
