//! A pull request: read it whole, find out whose it is, decide, save, perform.

mod merging;
mod standing;

use domain::facts::PullFacts;
use domain::failure::FailureClass;
use domain::ids::{CommitSha, JobId, PullRef, RepoName, SessionId};
use domain::job::{Job, Phase};
use domain::link::{self, Link};
use domain::policy::{Source, Timing};
use domain::pull::{self, Input};
use domain::step::Step;
use jiff::{SignedDuration, Timestamp};

use super::Dispatcher;
use crate::desk::{Error, Unit};
use crate::keys;
use crate::settings::TrackedPull;
use crate::store::Versioned;
use merging::LANE_AGAIN;

/// A wake-up is answered by a reading that began this much after it was received.
const READ_WELL_AFTER: SignedDuration = SignedDuration::from_secs(2);

impl Dispatcher {
    /// Handles a wake-up about one pull request.
    pub(super) async fn pull(
        &self,
        reference: &PullRef,
        hint: Option<&JobId>,
        received_at: Option<Timestamp>,
    ) -> Result<(), Error> {
        let Some(source) = self
            .desk
            .store
            .source(&reference.repo)
            .await?
            .map(|found| found.value)
        else {
            // A repository nobody gave us: not even looked at.
            return Ok(());
        };
        let pk = keys::pull_pk(reference);
        let found = self.desk.store.pull(reference).await?;
        if let Some(found) = &found {
            let read_since = |received: Timestamp| {
                found
                    .value
                    .read_at
                    .is_some_and(|read| read >= received + READ_WELL_AFTER)
            };
            if received_at.is_some_and(read_since) {
                return Ok(());
            }
            let calm = found.value.read_at.map(|read| read + READ_WELL_AFTER);
            if let (Some(_), Some(calm)) = (received_at, calm)
                && self.desk.now() < calm
            {
                // A burst: one reading once it is over serves for all of it.
                return self.bring_forward(&keys::pull(reference), calm).await;
            }
            self.run_effects(&pk, &source, None).await?;
            if found.value.pull.is_settled() {
                return Ok(());
            }
        }
        let candidates = match &found {
            Some(_) => Vec::new(),
            None => match self.candidates(reference, hint).await {
                Ok(candidates) if candidates.is_empty() => return Ok(()),
                Ok(candidates) => candidates,
                Err(Error::Outside(failure)) => return self.unread(reference, failure).await,
                Err(error) => return Err(error),
            },
        };
        let facts = match self.eyes.pulls.facts(reference, self.desk.now()).await {
            Ok(facts) => facts,
            Err(failure) => return self.unread(reference, failure).await,
        };
        let Some(found) = self.ours(reference, found, &candidates, &facts).await? else {
            return Ok(());
        };
        self.decide_pull(found, &facts, &source).await
    }

    /// What cannot be read is read again later; its due row stays.
    async fn unread(
        &self,
        reference: &PullRef,
        failure: domain::failure::Failure,
    ) -> Result<(), Error> {
        match failure.class {
            FailureClass::NotFound => {
                tracing::info!(pull = %reference, "the pull request is not visible to the credential; leaving it");
                Ok(())
            }
            FailureClass::Throttled
            | FailureClass::Unavailable
            | FailureClass::Network
            | FailureClass::Garbled
            | FailureClass::Unauthorized
            | FailureClass::Forbidden
            | FailureClass::Precondition
            | FailureClass::Conflict
            | FailureClass::Invalid => Err(failure.into()),
        }
    }

    /// The record of a pull request of ours; a new one when enough evidence links it to a session of ours. Anybody else's is left alone without a trace.
    async fn ours(
        &self,
        reference: &PullRef,
        found: Option<Versioned<TrackedPull>>,
        candidates: &[JobId],
        facts: &PullFacts,
    ) -> Result<Option<Versioned<TrackedPull>>, Error> {
        if found.is_some() {
            return Ok(found);
        }
        for id in candidates {
            let Some(job) = self.desk.store.job(id).await?.map(|job| job.value) else {
                continue;
            };
            let Some(session) = job.session().cloned() else {
                continue;
            };
            let view = self.eyes.sessions.get(&job.account, &session).await?;
            match link::weigh(facts, &view) {
                Link::Agreed(session) => {
                    let pull = pull::track(reference.clone(), job.id, session, self.desk.now());
                    return Ok(Some(Versioned {
                        value: TrackedPull {
                            pull,
                            read_at: None,
                        },
                        version: 0,
                    }));
                }
                Link::None => {}
                Link::Doubtful { code, sentence } => {
                    tracing::info!(pull = %reference, code, "{sentence}")
                }
            }
        }
        Ok(None)
    }

    /// Jobs that may own a pull request we do not know: the one that said so, and those whose sessions the pull request names. Forks have none.
    async fn candidates(
        &self,
        reference: &PullRef,
        hint: Option<&JobId>,
    ) -> Result<Vec<JobId>, Error> {
        let glance = self.eyes.pulls.glance(reference).await?;
        if !glance.same_repo {
            return Ok(Vec::new());
        }
        let claim = link::claim(&glance.body, &glance.branch);
        let mut jobs: Vec<JobId> = hint.cloned().into_iter().collect();
        let named: Vec<SessionId> = claim.body.into_iter().chain(claim.branch).collect();
        for session in named {
            jobs.extend(self.desk.store.job_of(&session).await?);
        }
        jobs.dedup();
        Ok(jobs)
    }

    async fn decide_pull(
        &self,
        found: Versioned<TrackedPull>,
        facts: &PullFacts,
        source: &Source,
    ) -> Result<(), Error> {
        let pull = &found.value.pull;
        let Some(job) = self.desk.store.job(&pull.job).await?.map(|job| job.value) else {
            return Ok(());
        };
        let now = self.desk.now();
        let outside = self.outside(pull, &job, facts, source).await?;
        let input = Input::Facts(Box::new(facts.clone()), Box::new(outside));
        let mut step = pull::apply(pull, &input, now, &source.policy, &source.timing);
        let mut unit = self.desk.unit();
        let judged = self.take_lane(&mut unit, &mut step, facts, source).await?;
        self.withdraw_merges(&mut unit, &step, judged.as_ref())
            .await?;
        let route = self.desk.route(&job).await?;
        let version = Some(found.version).filter(|version| *version > 0);
        self.link_job(&mut unit, &job, &step).await?;
        self.desk
            .save_pull(&mut unit, version, (&step, Some(facts.read_at)), &route)
            .await?;
        match self.desk.commit(unit).await {
            // Whoever was quicker read the same world; should they have missed something, the due row comes soon.
            Err(error) if error.is_conflict() => {
                return self.again_soon(&step.aggregate.pull).await;
            }
            outcome => outcome?,
        }
        self.run_effects(
            &keys::pull_pk(&step.aggregate.pull),
            source,
            judged.as_ref(),
        )
        .await
    }

    async fn again_soon(&self, reference: &PullRef) -> Result<(), Error> {
        let work = crate::work::Work::Pull {
            pull: reference.clone(),
            job: None,
            received_at: None,
        };
        Ok(self.desk.queue.send(&work.to_body(), LANE_AGAIN).await?)
    }

    /// A job learns of its pull request from whoever saw it first.
    async fn link_job(
        &self,
        unit: &mut Unit,
        job: &Job,
        step: &Step<pull::Pull>,
    ) -> Result<(), Error> {
        let Phase::Watching(watch) = &job.phase else {
            return Ok(());
        };
        if watch.pull.is_some() || watch.session != step.aggregate.session {
            return Ok(());
        }
        let Some(found) = self.desk.store.job(&job.id).await? else {
            return Ok(());
        };
        let mut linked = found.value.clone();
        if let Phase::Watching(watch) = &mut linked.phase {
            watch.pull = Some(step.aggregate.pull.clone());
        }
        let due = domain::job::deadline(&linked, &Timing::default());
        let step = Step {
            due,
            ..Step::stay(linked)
        };
        self.desk.save_job(unit, Some(&found), &step).await?;
        Ok(())
    }

    /// Checks of a commit changed: whichever pull requests of ours have it as their head are looked at.
    pub(super) async fn commit_moved(
        &self,
        repo: &RepoName,
        sha: &CommitSha,
        received_at: Timestamp,
    ) -> Result<(), Error> {
        for found in self.desk.store.open_pulls().await? {
            let pull = &found.value.pull;
            let same = pull.head.as_ref().is_some_and(|head| head.sha == *sha);
            if pull.pull.repo == *repo && same {
                self.pull(&pull.pull, None, Some(received_at)).await?;
            }
        }
        Ok(())
    }
}
