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
            // A pull request of an earlier attempt answers to nobody any more.
            session: if job.session() == Some(&pull.session) {
                rest_of(job, &source.timing, now)
            } else {
                SessionRest::CalledOff
            },
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
}

fn is_unsettled_merge(found: &Versioned<Effect>) -> bool {
    let merge = matches!(found.value.action, Action::Merge { .. });
    merge
        && matches!(
            found.value.state,
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
