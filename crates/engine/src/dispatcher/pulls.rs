//! A pull request: read it whole, find out whose it is, decide, save, perform.

mod context;
mod exchange;
mod hint;
mod lane;
mod merging;
mod owning;
mod unexpected;
mod unread;

use domain::effect::{Action, Effect, EffectState, PullAction};
use domain::facts::{PullFacts, ReadDepth};
use domain::failure::FailureClass;
use domain::ids::{CommitSha, JobId, PullRef, RepoName};
use domain::job::{Job, JobPhase};
use domain::link;
use domain::merge::Owner;
use domain::policy::{Source, Timing};
use domain::pull::{self, DeliveryHint, PullContext, PullInput};
use domain::step::Step;
use jiff::{SignedDuration, Timestamp};

use exchange::show_own_checks;
use merging::CountedMerge;

use super::Dispatcher;
use crate::backend::{Backend, Error, UnitOfWork};
use crate::keys;
use crate::ports::{Reading, Share};
use crate::settings::TrackedPull;
use crate::store::Versioned;
pub(super) use hint::PullWakeup;

/// How soon to decide again after a conflict.
const AFTER_CONFLICT: SignedDuration = SignedDuration::from_secs(3);

/// A wake-up is answered by a reading that began this much after it was received.
const READ_WELL_AFTER: SignedDuration = SignedDuration::from_secs(2);

impl Dispatcher {
    /// Handles a wake-up about one pull request. What cannot be read now is read later, by its due row.
    pub(super) async fn pull(&self, wakeup: &PullWakeup<'_>) -> Result<(), Error> {
        match Box::pin(self.look_at_pull(wakeup)).await {
            Err(Error::Outside(failure)) => self.unread(wakeup.pull, wakeup.hint, &failure).await,
            outcome => outcome,
        }
    }

    async fn look_at_pull(&self, wakeup: &PullWakeup<'_>) -> Result<(), Error> {
        let (reference, received_at) = (wakeup.pull, wakeup.received_at);
        let Some(source) = self
            .backend
            .store
            .source(&reference.repo)
            .await?
            .map(|found| found.value)
        else {
            // Not one of our repositories: read nothing.
            return Ok(());
        };
        let pk = keys::pull_pk(reference);
        let found = self.backend.store.pull(reference).await?;
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
            if self.can_wait(found, wakeup, &source.timing).await? {
                return Ok(());
            }
            let calm = found.value.read_at.map(|read| read + READ_WELL_AFTER);
            if let (Some(_), Some(calm)) = (received_at, calm)
                && self.backend.now() < calm
            {
                // A burst: one reading once it is over serves for all of it.
                return self
                    .backend
                    .bring_forward(&keys::pull(reference), calm)
                    .await;
            }
            if found.value.pull.is_settled() {
                return self.finish_effects(reference, &source).await;
            }
            if self.waits_for_turn(found, wakeup).await? {
                return Ok(());
            }
            // Earlier intents start only after the pull request was read and judged again.
            self.settle_effects(&pk, &source).await?;
        }
        let (candidates, reading) = match &found {
            Some(found) => (Vec::new(), self.reading_of(&found.value, &source)),
            // Checks of an unknown pull request say nothing about its owner.
            None if !wakeup.news.is_of_the_pull() => return Ok(()),
            None => match self.candidates(&source, wakeup).await? {
                (candidates, _) if candidates.is_empty() => return Ok(()),
                (candidates, reading) => (candidates, reading),
            },
        };
        let facts = match &found {
            Some(found) => self.facts_of_ours(&source, found, wakeup, reading).await?,
            None => self.facts_of(&source, reference, reading).await?,
        };
        let Some(found) = self.ours(reference, found, &candidates, &facts).await? else {
            return Ok(());
        };
        Box::pin(self.decide_pull(found, &facts, &source)).await
    }

    /// What is left to do about a pull request that is merged or closed: done only in the very repository that is meant. What a pause
    /// holds reads nothing: it is passed on again and again until the pause ends.
    async fn finish_effects(&self, reference: &PullRef, source: &Source) -> Result<(), Error> {
        let pk = &keys::pull_pk(reference);
        let mut effects = self.backend.store.effects(pk).await?;
        effects.retain(|found| !found.value.is_settled());
        if effects.is_empty() {
            return Ok(());
        }
        let is_begun = |effect: &Effect| !matches!(effect.state, EffectState::Intent { .. });
        let is_held = self.hold(source).await?.is_some();
        if !is_held || effects.iter().any(|found| is_begun(&found.value)) {
            self.glance_of(source, reference).await?;
            self.run_effects(pk, source, None).await?;
        }
        Ok(())
    }

    /// The budget share of a reading of ours. A green pull request may be merged soon: its reading uses the share
    /// that is kept for merges.
    fn reading_of(&self, found: &TrackedPull, source: &Source) -> Reading {
        let share = match found.pull.green {
            Some(_) => Share::Kept,
            None => Share::Common,
        };
        let clues = pull::wants_clues(&found.pull, &source.timing, self.backend.now());
        let depth = if clues {
            ReadDepth::WithClues
        } else {
            ReadDepth::Whole
        };
        Reading { share, depth }
    }

    /// Reads one of ours: for a head that was pushed a moment ago the outline is enough. If the head is unchanged, it
    /// reads the whole.
    async fn facts_of_ours(
        &self,
        source: &Source,
        found: &Versioned<TrackedPull>,
        wakeup: &PullWakeup<'_>,
        whole: Reading,
    ) -> Result<PullFacts, Error> {
        let pull = &found.value.pull;
        let (news, told) = (wakeup.news, wakeup.sha);
        let now = self.backend.now();
        let pushed = |received| pull::is_just_pushed(pull, news, told, received, now);
        if wakeup.received_at.is_some_and(pushed) {
            let outline = Reading {
                depth: ReadDepth::Outline,
                ..whole
            };
            let facts = self.facts_of(source, wakeup.pull, outline).await?;
            if !pull::is_at(pull, &facts.head.sha) {
                return Ok(facts);
            }
        }
        self.facts_of(source, wakeup.pull, whole).await
    }

    async fn decide_pull(
        &self,
        found: Versioned<TrackedPull>,
        facts: &PullFacts,
        source: &Source,
    ) -> Result<(), Error> {
        let pull = &found.value.pull;
        let Some(job) = self
            .backend
            .store
            .job(&pull.job)
            .await?
            .map(|job| job.value)
        else {
            return Ok(());
        };
        let (usual, source) = (source, &*source.for_job(&job));
        let mut pull = pull.clone();
        let mut checked = facts.clone();
        self.put_own_checks(&job, &mut pull, &mut checked, usual)
            .await?;
        let (pull, facts) = (&pull, &checked);
        let mut outside = self.outside(pull, &job, facts, source).await?;
        let decide = |outside: &PullContext, now: Timestamp| {
            let input = PullInput::Facts(Box::new(facts.clone()), Box::new(outside.clone()));
            pull::apply(pull, &input, now, &source.policy, &source.timing)
        };
        let mut step = decide(&outside, self.backend.now());
        if !step.effects.is_empty() {
            if self.is_disowned(&job, pull, facts).await? {
                outside.owner = Owner::Foreign;
            }
            // Reading the session took time, and the facts have grown older by it.
            step = decide(&outside, self.backend.now());
        }
        show_own_checks(&mut step, &found.value.pull);
        if found.version == 0 {
            step.effects.extend(self.label_of(&job, &step).await?);
        }
        let mut unit = self.backend.unit();
        let judged = self.take_turn(&mut unit, &mut step, facts, source).await?;
        let withdrawn = self
            .withdraw_merges(&mut unit, &step, judged.as_ref())
            .await?;
        let merge = |action: &&Action| matches!(action, Action::Pull(PullAction::Merge { .. }));
        let decided = step.effects.iter().find(merge).map(|action| CountedMerge {
            id: Backend::effect_id(action),
            of_exchange: is_of_exchange(&job),
        });
        self.count_merges(&mut unit, source, decided, &withdrawn)
            .await?;
        let route = self.backend.route(&job).await?;
        let version = Some(found.version).filter(|version| *version > 0);
        self.link_job(&mut unit, &job, &step, &source.timing)
            .await?;
        self.backend
            .save_pull(&mut unit, version, (&step, Some(facts.read_at)), &route)
            .await?;
        match self.backend.commit(unit).await {
            // The other writer read the same world; if it missed something, the due row comes soon.
            Err(error) if error.is_conflict() => {
                // Without a record, only its job leads to it.
                let hint = Some(&job.id).filter(|_| version.is_none());
                return self.again_soon(&step.aggregate.pull, hint).await;
            }
            outcome => outcome?,
        }
        self.run_effects(
            &keys::pull_pk(&step.aggregate.pull),
            source,
            judged.as_ref(),
        )
        .await?;
        Ok(())
    }

    /// Reads the session back before any action on its pull request: Jules may list another one by now.
    async fn is_disowned(
        &self,
        job: &Job,
        pull: &pull::Pull,
        facts: &PullFacts,
    ) -> Result<bool, Error> {
        let Some(session) = &pull.session else {
            return Ok(false);
        };
        match self.readers.sessions.get(&job.account, session).await {
            Ok(view) => {
                let disowned = link::is_disowned(facts, &view);
                if disowned {
                    tracing::warn!(pull = %pull.pull, session = %session, "the session says that it made another pull request; leaving this one alone");
                }
                Ok(disowned)
            }
            Err(failure) if failure.class == FailureClass::NotFound => Ok(true),
            Err(failure) => Err(failure.into()),
        }
    }

    async fn again_soon(&self, reference: &PullRef, hint: Option<&JobId>) -> Result<(), Error> {
        let work = crate::work::Work::Pull {
            pull: reference.clone(),
            job: hint.cloned(),
            received_at: None,
        };
        Ok(self
            .backend
            .queue
            .send(&work.to_body(), AFTER_CONFLICT)
            .await?)
    }

    /// Links the pull request to its job, which may not know it yet.
    async fn link_job(
        &self,
        unit: &mut UnitOfWork,
        job: &Job,
        step: &Step<pull::Pull>,
        timing: &Timing,
    ) -> Result<(), Error> {
        let JobPhase::Watching(watch) = &job.phase else {
            return Ok(());
        };
        let Some(session) = step.aggregate.session.as_ref() else {
            return Ok(());
        };
        if watch.pull.is_some() || watch.session != *session {
            return Ok(());
        }
        let Some(found) = self.backend.store.job(&job.id).await? else {
            return Ok(());
        };
        let pull = &step.aggregate.pull;
        let step = domain::job::linked(&found.value, session, pull, timing);
        self.backend.save_job(unit, Some(&found), &step).await?;
        Ok(())
    }

    /// Checks of a commit changed: reads those of our pull requests that have it as their head.
    pub(super) async fn commit_moved(
        &self,
        repo: &RepoName,
        sha: &CommitSha,
        received_at: Timestamp,
        news: DeliveryHint,
    ) -> Result<(), Error> {
        for found in self.backend.store.open_pulls().await? {
            let pull = &found.value.pull;
            let same = pull.head.as_ref().is_some_and(|head| head.sha == *sha);
            if pull.pull.repo == *repo && same {
                let wakeup = PullWakeup {
                    pull: &pull.pull,
                    hint: None,
                    received_at: Some(received_at),
                    news,
                    sha: Some(sha),
                };
                self.pull(&wakeup).await?;
            }
        }
        Ok(())
    }
}

/// Whether a job changes the exchange of a pipeline only.
fn is_of_exchange(job: &Job) -> bool {
    job.part.as_ref().is_some_and(|part| part.is_of_exchange())
}
