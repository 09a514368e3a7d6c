//! Everything besides GitHub's facts that a decision about a pull request looks at.

use domain::effect::{Action, Effect, EffectState};
use domain::facts::{CheckOutcome, PullFacts};
use domain::governor::DAY;
use domain::job::{Attention, How, Job, Phase, Watch};
use domain::merge::{Owner, SessionRest};
use domain::policy::{Source, Timing};
use domain::pull::{self, Outside};
use domain::session::SessionState;
use jiff::Timestamp;

use crate::desk::Error;
use crate::dispatcher::Dispatcher;
use crate::keys;
use crate::store::Versioned;

impl Dispatcher {
    /// Everything besides GitHub's facts that a decision looks at.
    pub(super) async fn outside(
        &self,
        pull: &pull::Pull,
        job: &Job,
        facts: &PullFacts,
        source: &Source,
    ) -> Result<Outside, Error> {
        let now = self.desk.now();
        let effects = self.desk.store.effects(&keys::pull_pk(&pull.pull)).await?;
        let merges = self.desk.store.merges(&source.repo).await?;
        let counts = |at: &&Timestamp| now.duration_since(**at) < DAY;
        let today: Vec<Timestamp> = merges.value.at.values().filter(counts).copied().collect();
        let failed = facts.checks.known().is_some_and(|checks| {
            checks
                .iter()
                .any(|check| check.outcome == CheckOutcome::Failed)
        });
        let told = pull.repairs.ci_told.contains(&facts.head.sha);
        let logs = if failed && !told {
            self.eyes.pulls.check_logs(facts).await.unwrap_or_default()
        } else {
            Vec::new()
        };
        Ok(Outside {
            owner: match job.origin {
                domain::job::Origin::Created => Owner::Created,
                domain::job::Origin::Adopted => Owner::Adopted,
            },
            session: self.rest(pull, job, source).await?,
            account: job.account.clone(),
            attempt: job.attempt,
            wanted_base: job.branch.clone(),
            merges_today: u32::try_from(today.len()).unwrap_or(u32::MAX),
            merge_day_ends: today.iter().min().map(|oldest| *oldest + DAY),
            hold: self.hold(source).await?,
            merge_unsettled: effects.iter().any(is_unsettled_merge),
            logs: logs.into_iter().map(|log| (log.name, log.tail)).collect(),
        })
    }

    /// Whether the session that made a pull request may still push.
    async fn rest(
        &self,
        pull: &pull::Pull,
        job: &Job,
        source: &Source,
    ) -> Result<SessionRest, Error> {
        // A pull request of an earlier attempt answers to nobody any more.
        if job.session() != Some(&pull.session) {
            return Ok(SessionRest::CalledOff);
        }
        let rest = rest_of(job, &source.timing, self.desk.now());
        if rest != SessionRest::Resting {
            return Ok(rest);
        }
        // Words that are on their way, or may have arrived unheard, wake it.
        let effects = self.desk.store.effects(&keys::job_pk(&job.id)).await?;
        let spoken_to = effects.iter().any(is_unsettled_say);
        Ok(if spoken_to {
            SessionRest::Working
        } else {
            rest
        })
    }
}

fn is_unsettled_say(found: &Versioned<Effect>) -> bool {
    matches!(found.value.action, Action::Say { .. }) && is_unsettled(&found.value.state)
}

fn is_unsettled_merge(found: &Versioned<Effect>) -> bool {
    matches!(found.value.action, Action::Merge { .. }) && is_unsettled(&found.value.state)
}

/// Whether an effect may have happened, or may be happening now.
fn is_unsettled(state: &EffectState) -> bool {
    matches!(
        state,
        EffectState::Started { .. } | EffectState::Unknown { .. }
    )
}

/// Whether a session may still push. One that said it is done, or has been silent for a whole window, will not by itself.
fn rest_of(job: &Job, timing: &Timing, now: Timestamp) -> SessionRest {
    match &job.phase {
        Phase::Queued { .. } | Phase::Creating { .. } => SessionRest::Working,
        Phase::Watching(watch) if is_resting(watch, timing, now) => SessionRest::Resting,
        Phase::Watching(_) => SessionRest::Working,
        Phase::Ended(ending) => match ending.how {
            How::Merged { .. } | How::PullClosed | How::Completed => SessionRest::Resting,
            How::Failed { .. } => SessionRest::Failed,
            How::Lost | How::Refused { .. } | How::Cancelled { .. } => SessionRest::CalledOff,
        },
    }
}

fn is_resting(watch: &Watch, timing: &Timing, now: Timestamp) -> bool {
    let said_done = watch
        .talk
        .completed
        .as_ref()
        .is_some_and(|done| watch.talk.user_at.is_none_or(|user| user <= done.at));
    match watch.state {
        // A completion that is still waiting for its words has to be announced before anything ends the job.
        SessionState::Completed => {
            let announced = !matches!(watch.attention, Attention::Expecting { .. });
            let returns = watch.unconfirmed_since.is_some() || watch.awaits_return(now, timing);
            announced && !returns
        }
        // Silence is only known to whoever listened: it was announced after the log had been read, and nothing was said since.
        SessionState::InProgress => {
            let silent = watch.announced.stuck_at >= Some(watch.progress_at);
            said_done || silent && watch.unconfirmed_since.is_none()
        }
        SessionState::Unspecified
        | SessionState::Queued
        | SessionState::Planning
        | SessionState::AwaitingPlanApproval
        | SessionState::AwaitingUserFeedback
        | SessionState::Paused
        | SessionState::Failed
        | SessionState::Other(_) => false,
    }
}
