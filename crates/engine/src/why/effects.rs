//! Unfinished effects and their state.

use domain::delivery::{self, Delivery};
use domain::effect::{Action, Effect, EffectState, JulesAction, RepoAction};
use domain::ids::JobId;
use domain::job::{self, Job};
use domain::pull::{self, Pull};
use jiff::Timestamp;

use super::WhySubject;
use crate::backend::{Backend, Error};
use crate::keys;

/// A message of a delivery that has yet to be sent.
struct Unsent {
    /// What identifies it.
    cause: String,
    /// When its delivery asks for it again, should it fail.
    asked_at: Option<Timestamp>,
}

impl Backend {
    /// Every effect of a job that did not just succeed, but for what failed before the job went on.
    pub(super) async fn why_effects(&self, found: &mut WhySubject, job: &Job) -> Result<(), Error> {
        let unsent = self.unsent(job).await?;
        for effect in self.store.effects(&keys::job_pk(&job.id)).await? {
            let effect = &effect.value;
            let unsent = unsent.as_ref();
            if let Some((attempt, at)) = unsent.and_then(|it| sent_again(effect, it, self.now())) {
                message_waits(found, effect, attempt, at);
            } else if failed_at(effect).is_none_or(|at| !job::is_outdated(job, &effect.action, at))
            {
                one(found, effect);
            }
        }
        Ok(())
    }

    /// The same of a pull request, but for what its session was to be told of an earlier head, or for a job that is over.
    pub(super) async fn why_pull_effects(
        &self,
        found: &mut WhySubject,
        pull: &Pull,
        job: Option<&Job>,
    ) -> Result<(), Error> {
        let is_over = job.is_some_and(Job::is_ended);
        for effect in self.store.effects(&keys::pull_pk(&pull.pull)).await? {
            let effect = &effect.value;
            let is_message = matches!(effect.action, Action::Jules(_));
            let is_past =
                is_message && is_over || pull::is_about_earlier_head(pull, &effect.action);
            if failed_at(effect).is_none() || !is_past {
                one(found, effect);
            }
        }
        Ok(())
    }

    /// The message that the session of a job has to be sent for its delivery.
    async fn unsent(&self, job: &Job) -> Result<Option<Unsent>, Error> {
        let Some(id) = &job.delivery else {
            return Ok(None);
        };
        let found = self.store.get::<Delivery>(id).await?;
        Ok(found.and_then(|found| {
            let asked_at = found.due;
            let cause = delivery::unsent_cause(&found.value)?;
            Some(Unsent { cause, asked_at })
        }))
    }

    /// What Gaffer does for a job whose pull request is not open yet: issues and labels come before it.
    pub(super) async fn why_opening(
        &self,
        found: &mut WhySubject,
        job: &JobId,
        since: Timestamp,
    ) -> Result<(), Error> {
        let effects = self.store.effects(&keys::job_pk(job)).await?;
        let left = |is_wanted: fn(&Action) -> bool| {
            let left = effects.iter().map(|it| &it.value);
            let left = left.filter(|it| !it.is_settled() && is_wanted(&it.action));
            match left.count() {
                0 => None,
                1 => Some("1 is left".to_owned()),
                more => Some(format!("{more} are left")),
            }
        };
        let issues = left(|it| matches!(it, Action::Repo(RepoAction::OpenIssue { .. })));
        let labels = left(|it| matches!(it, Action::Repo(RepoAction::PutLabel { .. })));
        let (code, sentence) = match (issues, labels) {
            (Some(left), _) => (
                "opening_issues",
                format!(
                    "Gaffer is opening issues since {since}; {left}, and its pull request comes after them."
                ),
            ),
            (None, Some(left)) => (
                "making_labels",
                format!("Gaffer is making labels since {since}; {left}."),
            ),
            (None, None) => (
                "opening_pull",
                format!("Gaffer is opening its pull request since {since}."),
            ),
        };
        found.because(code, sentence);
        Ok(())
    }
}

fn failed_at(effect: &Effect) -> Option<Timestamp> {
    match &effect.state {
        EffectState::Failed { at, .. } => Some(*at),
        EffectState::Intent { .. }
        | EffectState::Started { .. }
        | EffectState::Unknown { .. }
        | EffectState::Done { .. } => None,
    }
}

/// The next attempt at a message that Jules has not taken, and its time: its delivery asks for it until it is given up.
fn sent_again(effect: &Effect, unsent: &Unsent, now: Timestamp) -> Option<(u32, Timestamp)> {
    let Action::Jules(JulesAction::Say { cause: own, .. }) = &effect.action else {
        return None;
    };
    let asked_at = match &effect.state {
        EffectState::Intent { attempt, .. } if *attempt > 1 => None,
        EffectState::Failed { .. } => unsent.asked_at,
        EffectState::Intent { .. }
        | EffectState::Started { .. }
        | EffectState::Unknown { .. }
        | EffectState::Done { .. } => return None,
    };
    let again = (*own == unsent.cause).then(|| effect.requested_again(now))?;
    let at = again.due()?;
    Some((again.attempt(), asked_at.map_or(at, |asked| asked.max(at))))
}

fn message_waits(found: &mut WhySubject, effect: &Effect, attempt: u32, at: Timestamp) {
    let why = match &effect.state {
        EffectState::Failed { failure, .. } => format!(" ({failure})"),
        EffectState::Intent { .. }
        | EffectState::Started { .. }
        | EffectState::Unknown { .. }
        | EffectState::Done { .. } => String::new(),
    };
    let sentence = format!(
        "The message to its session waits for Jules{why}; the next attempt, number {attempt}, is at {at}."
    );
    found.because("message_waits", sentence);
    let at = (!found.held).then_some(at);
    found.then(at, "Its session is sent the message once more.");
}

fn one(found: &mut WhySubject, effect: &Effect) {
    let what = effect.action.does();
    match &effect.state {
        EffectState::Done { .. } => {}
        EffectState::Intent {
            not_before,
            attempt,
        } => {
            let sentence = format!("To do from {not_before} on: {what} (attempt {attempt}).");
            found.because("effect_waits", sentence);
            if found.held {
                found.then(None, format!("Once it may go on: {what}."));
            } else {
                found.then(*not_before, format!("To do then: {what}."));
            }
        }
        EffectState::Started { until, .. } => {
            found.because("effect_started", format!("Under way: {what}."));
            let sentence = format!("Without a recorded outcome by then, it is unknown: {what}.");
            found.then(*until, sentence);
        }
        EffectState::Unknown { look_at, .. } => {
            found.because("effect_unknown", format!("It may have happened: {what}."));
            found.then(*look_at, format!("Whether it happened is read: {what}."));
        }
        // It was never begun: the aggregate says why.
        EffectState::Failed { attempt: 0, .. } => {}
        EffectState::Failed { failure, .. } => {
            found.because("effect_failed", format!("It failed: {what}: {failure}"));
        }
    }
}
