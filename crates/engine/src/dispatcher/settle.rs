//! Reads the world about an effect whose outcome is unknown.

use domain::effect::{Action, Effect, EffectFinding, EffectState};
use domain::facts::{PullState, ReadDepth};
use domain::failure::{Failure, FailureClass};
use domain::ids::{AccountName, JobId, PlanId, PullRef, SessionId};
use domain::policy::Source;
use domain::session::{ActivityKind, SessionState};
use jiff::{SignedDuration, Timestamp};

use super::Dispatcher;
use super::effects::EffectOutcome;
use crate::backend::Error;
use crate::keys;
use crate::ports::{Reading, Share};

/// Reads only the outline: it shows whether an effect on a pull request happened.
const OUTLINE: Reading = Reading {
    share: Share::Kept,
    depth: ReadDepth::Outline,
};

/// Clocks differ: the search for an effect's result begins this long before its request.
pub(crate) const CLOCK_SLACK: SignedDuration = SignedDuration::from_secs(120);

impl Dispatcher {
    /// What the world shows of an effect, and the outcome if it happened.
    pub(super) async fn look_for(
        &self,
        effect: &Effect,
        source: &Source,
    ) -> Result<(EffectFinding, EffectOutcome), Error> {
        let since = effect.created_at - CLOCK_SLACK;
        let found = match &effect.action {
            Action::CreateSession { job, attempt } => {
                return self.look_for_session(job, *attempt, since).await;
            }
            Action::Merge { pull, .. } => return self.look_for_merge(source, pull).await,
            Action::Say { session, text, .. } => {
                let others = self.said_likewise(effect, session, text).await?;
                let account = self.account_of(session, source).await?;
                self.was_said(&account, session, (text, since), &others)
                    .await
            }
            Action::ApprovePlan { session, plan } => {
                let account = self.account_of(session, source).await?;
                self.was_approved(&account, session, plan).await
            }
            Action::Archive { session } => {
                let account = self.account_of(session, source).await?;
                self.was_archived(&account, session).await
            }
            Action::MarkReady { pull, .. } => {
                self.facts_show(source, pull, |facts| !facts.draft).await?
            }
            Action::UpdateBranch { pull, sha } => {
                self.facts_show(source, pull, |facts| facts.head.sha != *sha)
                    .await?
            }
            Action::Label { pull, label, .. } => {
                self.facts_show(source, pull, |facts| facts.labels.contains(label))
                    .await?
            }
            Action::Comment { pull, .. } => {
                self.readers
                    .pulls
                    .has_comment(pull, effect.id.as_str())
                    .await
            }
            Action::ClosePull { pull } => {
                self.facts_show(source, pull, |facts| facts.state != PullState::Open)
                    .await?
            }
            Action::DeleteBranch { repo, branch, .. } => self
                .readers
                .pulls
                .branch(repo, branch)
                .await
                .map(|state| state.sha.is_none()),
            Action::Repo(action) => return self.was_done_in_repo(action).await,
            Action::Tracker(action) => self.was_tracked(action).await,
        };
        Ok((finding(found), EffectOutcome::Done))
    }

    /// When other effects sent the very same text to the session: their messages prove nothing about this one.
    async fn said_likewise(
        &self,
        effect: &Effect,
        session: &SessionId,
        text: &str,
    ) -> Result<Vec<Timestamp>, Error> {
        let Some(id) = self.backend.store.job_of(session).await? else {
            return Ok(Vec::new());
        };
        let mut effects = self.backend.store.effects(&keys::job_pk(&id)).await?;
        let job = self.backend.store.job(&id).await?;
        // Repair messages are effects of the pull request, not of the job.
        if let Some(pull) = job.as_ref().and_then(|job| job.value.pull()) {
            effects.extend(self.backend.store.effects(&keys::pull_pk(pull)).await?);
        }
        let likewise = |other: &Effect| {
            let done = matches!(other.state, EffectState::Done { .. });
            let same = matches!(&other.action, Action::Say { session: to, text: said, .. } if to == session && said.trim() == text.trim());
            other.id != effect.id && done && same
        };
        let others = effects.into_iter().map(|other| other.value);
        Ok(others
            .filter(likewise)
            .map(|other| other.created_at)
            .collect())
    }

    /// Finds the job's session: the oldest one with the marker. Younger ones are duplicates, which the poller
    /// archives.
    pub(super) async fn look_for_session(
        &self,
        id: &JobId,
        attempt: u32,
        since: Timestamp,
    ) -> Result<(EffectFinding, EffectOutcome), Error> {
        let nothing = |finding| (finding, EffectOutcome::Done);
        if cfg!(without_guard = "marker_search") {
            return Ok(nothing(EffectFinding::NoTrace));
        }
        let Some(job) = self.backend.store.job(id).await? else {
            return Ok(nothing(EffectFinding::NoTrace));
        };
        let mut marker = job.value.marker();
        marker.attempt = attempt;
        Ok(
            match self
                .readers
                .sessions
                .find(&job.value.account, &marker, since)
                .await
            {
                // Only a list that was read proves that nothing was created.
                Err(_) => nothing(EffectFinding::CannotTell),
                Ok(mut views) => {
                    // Two creates may both have happened: every process must choose the same session.
                    views.sort_by(|a, b| (a.created_at, &a.id).cmp(&(b.created_at, &b.id)));
                    match views.into_iter().next() {
                        Some(view) => (
                            EffectFinding::Happened,
                            EffectOutcome::Created(Box::new(view)),
                        ),
                        None => nothing(EffectFinding::NoTrace),
                    }
                }
            },
        )
    }

    async fn look_for_merge(
        &self,
        source: &Source,
        pull: &PullRef,
    ) -> Result<(EffectFinding, EffectOutcome), Error> {
        let facts = match self.facts_of(source, pull, OUTLINE).await {
            Err(Error::Outside(_)) => return Ok((EffectFinding::CannotTell, EffectOutcome::Done)),
            read => read?,
        };
        Ok(match facts.state {
            PullState::Merged { commit } => (
                EffectFinding::Happened,
                EffectOutcome::Merged(commit.unwrap_or(facts.head.sha)),
            ),
            PullState::Open | PullState::Closed => (EffectFinding::NoTrace, EffectOutcome::Done),
        })
    }

    async fn was_said(
        &self,
        account: &AccountName,
        session: &SessionId,
        (text, since): (&str, Timestamp),
        others: &[Timestamp],
    ) -> Result<bool, Failure> {
        let others_since = others.iter().map(|at| *at - CLOCK_SLACK).min();
        let since = others_since.map_or(since, |at| at.min(since));
        let activities = self
            .readers
            .sessions
            .activities(account, session, Some(since))
            .await?;
        let said = activities.iter().filter(|activity| matches!(&activity.kind, ActivityKind::UserMessaged { text: said } if said.trim() == text.trim()));
        Ok(said.count() > others.len())
    }

    async fn was_approved(
        &self,
        account: &AccountName,
        session: &SessionId,
        plan: &PlanId,
    ) -> Result<bool, Failure> {
        let activities = self
            .readers
            .sessions
            .activities(account, session, None)
            .await?;
        let named = activities.iter().any(|activity| matches!(&activity.kind, ActivityKind::PlanApproved { plan: approved } if approved.as_ref().is_none_or(|id| id == plan)));
        if named {
            return Ok(true);
        }
        let view = self.readers.sessions.get(account, session).await?;
        Ok(view.state != SessionState::AwaitingPlanApproval)
    }

    async fn was_archived(
        &self,
        account: &AccountName,
        session: &SessionId,
    ) -> Result<bool, Failure> {
        match self.readers.sessions.get(account, session).await {
            Err(failure) if failure.class == FailureClass::NotFound => Ok(true),
            found => Ok(found?.archived),
        }
    }

    /// Whether a reading shows it; an error of the reading is returned as such.
    async fn facts_show(
        &self,
        source: &Source,
        pull: &PullRef,
        shows: impl Fn(&domain::facts::PullFacts) -> bool,
    ) -> Result<Result<bool, Failure>, Error> {
        match self.facts_of(source, pull, OUTLINE).await {
            Ok(facts) => Ok(Ok(shows(&facts))),
            Err(Error::Outside(failure)) => Ok(Err(failure)),
            Err(error) => Err(error),
        }
    }
}

fn finding(found: Result<bool, Failure>) -> EffectFinding {
    match found {
        Ok(true) => EffectFinding::Happened,
        Ok(false) => EffectFinding::NoTrace,
        Err(_) => EffectFinding::CannotTell,
    }
}
