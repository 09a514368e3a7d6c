//! A job: its account, its phase, what its session waits for, and the deadlines to come.

use domain::account::{Account, Health};
use domain::advice::Advice;
use domain::effect::{Action, EffectState, JulesAction};
use domain::failure::FailureClass;
use domain::governor::{self, Admission};
use domain::job::{self, Attention, EndReason, Job, JobPhase, Watch, deadline};
use domain::policy::{Answerer, Source, Timing};
use domain::session::SessionState;
use jiff::Timestamp;

use super::WhySubject;
use super::polls::polled;
use crate::backend::{Backend, Error};
use crate::keys;

impl Backend {
    /// Explains a job's state and its next steps with their times.
    pub(super) async fn why_job(&self, found: &mut WhySubject, job: &Job) -> Result<(), Error> {
        let account = self.store.account(&job.account).await?;
        let source = self.store.source(&job.repo).await?.map(|found| found.value);
        match &account {
            Some(account) => health(found, &account.value),
            None => {
                let name = &job.account;
                found.because("no_account", format!("Account `{name}` is not there."));
                found.next.push(Advice::AddAccount.about(name));
            }
        }
        match &job.phase {
            JobPhase::Queued {
                not_before,
                refusals,
                ..
            } => {
                self.queued(found, job, *not_before, *refusals).await?;
            }
            JobPhase::Creating { since, .. } => {
                let sentence = format!("Its session is being created since {since}.");
                found.because("starting", sentence);
            }
            JobPhase::Proposed {
                since, pull: None, ..
            } => {
                self.why_opening(found, &job.id, *since).await?;
            }
            // Its pull request says what it waits for.
            JobPhase::Proposed { .. } => {}
            JobPhase::Ended(ending) => {
                let sentence = format!("It ended at {}: {}.", ending.at, how(&ending.how));
                found.because("ended", sentence);
                found.next.push(Advice::Retry.about(&job.id));
            }
            JobPhase::Watching(watch) => {
                watching(found, job, watch, source.as_ref());
                if let Some(account) = &account {
                    polled(found, account, self.now());
                }
                let timing = source.map(|source| source.for_job(job).timing.clone());
                let timing = timing.unwrap_or_default();
                deadlines(found, job, watch, &timing);
            }
        }
        Ok(())
    }

    /// What a queued job waits for, by the rule that lets it start.
    async fn queued(
        &self,
        found: &mut WhySubject,
        job: &Job,
        not_before: Timestamp,
        refusals: u32,
    ) -> Result<(), Error> {
        if refusals > 0 {
            let sentence = self.refused(job, refusals).await?;
            found.because("refused_for_now", sentence);
        }
        let now = self.now();
        let ahead = self.ahead_of(job).await?;
        if ahead > 0 {
            let others = match ahead {
                1 => "1 other job".to_owned(),
                more => format!("{more} other jobs"),
            };
            let sentence = format!("{others} of account `{}` came before it.", job.account);
            found.because("queued", sentence);
        }
        if let Some(account) = self.store.account(&job.account).await? {
            let slots = self.store.slots_now(&job.account).await?.value;
            match governor::admit(&slots, &job.id, account.value.limits, now) {
                Admission::Granted(_) if ahead == 0 && refusals == 0 && !found.held => {
                    let sentence = format!(
                        "Account `{}` has room for it, and it is next: it is about to be started.",
                        job.account
                    );
                    found.because("queued", sentence);
                }
                Admission::Granted(_) => {}
                Admission::Later { at, code, sentence } => {
                    found.because(code, sentence);
                    let next = match at {
                        Some(_) => "There may be room for it.",
                        None => "It is tried when one of the account's sessions ends.",
                    };
                    found.then(at, next);
                }
            }
        }
        if not_before > now {
            found.then(not_before, "It is tried again.");
        }
        Ok(())
    }

    /// Why its session has not been created although that was tried.
    async fn refused(&self, job: &Job, refusals: u32) -> Result<String, Error> {
        let create = Action::Jules(JulesAction::CreateSession {
            job: job.id.clone(),
            attempt: job.attempt,
        });
        let id = Backend::effect_id(&create);
        let effect = self.store.effect(&keys::job_pk(&job.id), &id).await?;
        let said = effect.and_then(|effect| match effect.value.state {
            EffectState::Failed { failure, .. } => Some(failure.class),
            EffectState::Intent { .. }
            | EffectState::Started { .. }
            | EffectState::Unknown { .. }
            | EffectState::Done { .. } => None,
        });
        let times = match refusals {
            1 => "once".to_owned(),
            _ => format!("{refusals} times"),
        };
        Ok(match said {
            Some(FailureClass::Precondition | FailureClass::Throttled) | None => {
                format!("Jules has said \"later\" {times}, usually because of its quota.")
            }
            Some(_) => format!("Its session could not be created, {times} so far."),
        })
    }

    async fn ahead_of(&self, job: &Job) -> Result<usize, Error> {
        let queued = self.store.queued(&job.account).await?;
        let now = self.now();
        let place = job::start_place(job, now);
        let before = |other: &Job| job::start_place(other, now) < place;
        let waits = |other: &Job| matches!(other.phase, JobPhase::Queued { .. });
        let ahead = queued.iter().map(|found| &found.value);
        Ok(ahead.filter(|other| waits(other) && before(other)).count())
    }
}

/// What keeps an account from being polled as often as usual, and until when.
pub(super) fn health(found: &mut WhySubject, account: &Account) {
    let (name, next) = (&account.name, account.next_poll);
    match &account.health {
        Health::Working if account.is_slowed() => {
            let sentence = format!(
                "What the polls of account `{name}` may spend today runs short, so Jules is asked less often: next at {next}."
            );
            found.because("polls_slowed", sentence);
        }
        Health::Working => {}
        Health::Throttled { streak } => {
            let sentence = format!(
                "Jules has refused or failed {streak} polls of account `{name}` in a row; it is asked again at {next}."
            );
            found.because("throttled", sentence);
        }
        Health::Unreachable { streak, .. } => {
            let sentence = format!(
                "Jules has not answered {streak} polls of account `{name}` in a row; it is asked again at {next}."
            );
            found.because("unreachable", sentence);
        }
        Health::Unauthorized { since } => {
            let sentence = format!("Jules refuses the key of account `{name}` since {since}.");
            found.because("unauthorized", sentence);
            found.next.push(Advice::ReplaceKey.about(name));
        }
    }
}

fn how(how: &EndReason) -> String {
    match how {
        EndReason::Merged { sha } => format!("its pull request was merged at {sha}"),
        EndReason::PullClosed => "its pull request was closed without a merge".to_owned(),
        EndReason::Completed => "its session finished without a pull request".to_owned(),
        EndReason::Failed { reason } => format!("its session failed ({reason})"),
        EndReason::Lost => "Jules does not know its session any more".to_owned(),
        EndReason::Refused { reason } => format!("Jules would not create its session ({reason})"),
        EndReason::Woven { into } => format!("it was merged as part of {into}"),
        EndReason::Left => "its delivery or its sprint came to its end before the merge".to_owned(),
        EndReason::Cancelled { by } => format!("it was cancelled by {by}"),
    }
}

/// Who gave the newest order of a kind, as part of a sentence.
fn by(job: &Job, order: job::Order) -> String {
    let given = job.last_order(order);
    given.map_or(String::new(), |given| format!(" by {}", given.by))
}

/// Who answered last, with a message or an approval.
fn answered_by(job: &Job) -> String {
    let answers = [job::Order::Say, job::Order::Approve];
    let last = answers.iter().filter_map(|order| job.last_order(*order));
    let last = last.max_by_key(|given| given.at);
    last.map_or(String::new(), |given| {
        format!(" ({} by {})", given.order.done(), given.by)
    })
}

fn watching(found: &mut WhySubject, job: &Job, watch: &Watch, source: Option<&Source>) {
    let state = watch.state.as_str();
    if let Some(since) = watch.missing_since {
        found.because(
            "missing",
            format!("Jules does not know its session since {since}."),
        );
    }
    if let Some(since) = watch.unconfirmed_since {
        let sentence = format!(
            "Something was said to its session at {since}{}, and its log does not show that yet.",
            by(job, job::Order::Say)
        );
        found.because("unconfirmed", sentence);
    }
    match &watch.attention {
        Attention::Question { since, text, .. } => {
            let words = text.as_deref().unwrap_or("(no text came)");
            if let Some(at) = job::answered_at(watch) {
                return taken_up(found, job, at);
            }
            found.because(
                "question_open",
                format!("Jules asks since {since}: {words}"),
            );
            turn(found, job);
            found.next.push(Advice::Say.about(&job.id));
        }
        Attention::Plan { since, .. } => {
            if let Some(at) = job::answered_at(watch) {
                return taken_up(found, job, at);
            }
            let (code, sentence) = job::plan_open(*since);
            found.because(code, sentence);
            let is_asked = source.is_none_or(|source| {
                let source = source.for_job(job);
                job.plan_approver(source.policy.plan_approval).is_asked()
            });
            if is_asked {
                turn(found, job);
                found.next.push(Advice::Approve.about(&job.id));
                found.next.push(Advice::Say.about(&job.id));
            }
        }
        Attention::Expecting { since } => {
            let sentence =
                format!("{state} since {since}; the words that belong to it are awaited.");
            found.because("words_expected", sentence);
        }
        Attention::Answered { since } => {
            taken_up(found, job, *since);
        }
        Attention::None => {
            if let Some(at) = job::answered_at(watch) {
                return taken_up(found, job, at);
            }
            unasked(found, watch);
            if job::is_silent(watch) {
                found.next.push(Advice::Say.about(&job.id));
                found.next.push(Advice::Cancel.about(&job.id));
            }
        }
    }
}

/// An answer was accepted.
fn taken_up(found: &mut WhySubject, job: &Job, at: Timestamp) {
    let sentence = format!(
        "It was answered at {at}{}: answered, waiting for Jules to take it up.",
        answered_by(job)
    );
    found.because("answered", sentence);
}

/// Nothing is asked: explains what the session does by its state.
fn unasked(found: &mut WhySubject, watch: &Watch) {
    let (state, at) = (watch.state.as_str(), watch.progress_at);
    let since = watch.state_since;
    let (code, sentence) = match watch.state {
        SessionState::Paused => (
            "session_paused",
            format!(
                "Jules has paused its session since {since}; it last did something at {at}. A message wakes most paused sessions."
            ),
        ),
        SessionState::Unspecified | SessionState::Other(_) => (
            "unknown_state",
            format!(
                "Jules says `{state}` of its session since {since}, a state that this version does not know; it last did something at {at}."
            ),
        ),
        SessionState::Completed => (
            "resting",
            format!("Jules says {state}; it last did something at {at}."),
        ),
        SessionState::Queued
        | SessionState::Planning
        | SessionState::AwaitingPlanApproval
        | SessionState::AwaitingUserFeedback
        | SessionState::InProgress
        | SessionState::Failed => (
            "working",
            format!("Jules says {state}; it last did something at {at}."),
        ),
    };
    found.because(code, sentence);
}

/// Whose turn it is to answer.
fn turn(found: &mut WhySubject, job: &Job) {
    let Some(asked) = job::pending_answer(job) else {
        return;
    };
    let Some(turn) = asked.turn else {
        if asked.events.is_empty() {
            let sentence =
                "No one has the turn to answer: too many were announced in this attempt.";
            found.because("nobodys_turn", sentence);
        }
        return;
    };
    let (code, whose) = match turn.who {
        Answerer::Agent => ("agents_turn", "its agent's turn"),
        Answerer::Nudge => ("nudged", "its own turn: Gaffer told it to decide itself"),
        Answerer::Human => ("persons_turn", "a person's turn"),
    };
    let until = match asked.until {
        Some(until) => format!(", until {until}"),
        None => String::new(),
    };
    found.because(code, format!("It is {whose}{until}."));
    if let Some(until) = asked.until {
        found.then(
            until,
            "If nobody has answered by then, the next one has the turn.",
        );
    }
}

/// What happens if nothing else does.
fn deadlines(found: &mut WhySubject, job: &Job, watch: &Watch, timing: &Timing) {
    let Some(at) = deadline(job, timing) else {
        return;
    };
    if watch.missing_since.is_some() {
        return found.then(
            at,
            "If it is still unknown by then, it counts as lost, and an agent or a person is told.",
        );
    }
    match &watch.attention {
        // Until when it is whose turn was said; what follows from a later reading depends on who answers.
        Attention::Question { .. } | Attention::Plan { .. } => {}
        Attention::Expecting { .. } => {
            found.then(
                at,
                "If no words have come by then, an agent or a person is told without them.",
            );
        }
        Attention::None | Attention::Answered { .. } => {
            let rests = watch.state == SessionState::Completed;
            // Its delivery decides what follows long before.
            if rests && watch.pull.is_none() && job.delivery.is_some() {
                return;
            }
            found.then(
                at,
                match (rests, watch.pull.is_some()) {
                    (true, false) if job.part.is_some() => {
                        "If no pull request has come by then, it ends."
                    }
                    (true, false) => "If its session was not woken by then, it ends.",
                    (true, true) => "Gaffer reads it again; its pull request decides before.",
                    (false, true | false) => "If nothing has moved by then, `stuck` is told.",
                },
            );
        }
    }
}
