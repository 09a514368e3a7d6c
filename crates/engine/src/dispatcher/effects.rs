//! The life of effects: settle what is unknown, begin what is wished for, perform it, record the outcome together with what it means.

use domain::effect::{Action, Effect, EffectState, Finding};
use domain::failure::{Failure, FailureClass, Happened};
use domain::ids::CommitSha;
use domain::job;
use domain::policy::Source;
use domain::pull::{self, Input};
use domain::session::SessionView;

use super::Dispatcher;
use crate::desk::{DECIDE_AGAIN_MAX, Error, Place, Unit};
use crate::keys;
use crate::save::Route;
use crate::store::Versioned;

/// What a call, or reading the world, brought about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A session exists.
    Created(Box<SessionView>),
    /// A pull request is merged.
    Merged(CommitSha),
    /// Done, with nothing to tell.
    Done,
    /// It failed.
    Failed(Failure),
}

impl Dispatcher {
    /// Settles and performs the effects of one aggregate. A merge is only begun at the SHA that was judged just now.
    pub(super) async fn run_effects(
        &self,
        pk: &str,
        source: &Source,
        judged: Option<&CommitSha>,
    ) -> Result<(), Error> {
        let held = self.hold(source).await?.is_some();
        for found in self.desk.store.effects(pk).await? {
            let now = self.desk.now();
            match &found.value.state {
                EffectState::Started { until, .. } if *until <= now => {
                    self.expire(pk, &found).await?
                }
                EffectState::Unknown { look_at, .. } if *look_at <= now => {
                    self.settle(pk, &found, source).await?
                }
                EffectState::Intent { not_before, .. } if *not_before <= now && !held => {
                    self.begin(pk, &found, source, judged).await?
                }
                EffectState::Started { .. }
                | EffectState::Unknown { .. }
                | EffectState::Intent { .. }
                | EffectState::Done { .. }
                | EffectState::Failed { .. } => {}
            }
        }
        Ok(())
    }

    /// Whoever began it died: the outcome is unknown from now on.
    async fn expire(&self, pk: &str, found: &Versioned<Effect>) -> Result<(), Error> {
        let mut unit = self.desk.unit();
        self.desk
            .save_effect_state(&mut unit, pk, found, &found.value.expire(self.desk.now()));
        ignore_conflict(self.desk.commit(unit).await)
    }

    /// Wins the start by a conditional write, and only then calls.
    async fn begin(
        &self,
        pk: &str,
        found: &Versioned<Effect>,
        source: &Source,
        judged: Option<&CommitSha>,
    ) -> Result<(), Error> {
        if let Action::Merge { sha, .. } = &found.value.action
            && judged != Some(sha)
        {
            return Ok(());
        }
        if let Some(reason) = self.not_wanted(&found.value.action).await? {
            return self
                .record(
                    pk,
                    found,
                    &Outcome::Failed(Failure::new(FailureClass::Conflict, reason)),
                    source,
                )
                .await;
        }
        let Ok(started) = found.value.start(self.desk.now()) else {
            return Ok(());
        };
        let mut unit = self.desk.unit();
        self.desk.save_effect_state(&mut unit, pk, found, &started);
        match self.desk.commit(unit).await {
            Err(error) if error.is_conflict() => return Ok(()),
            outcome => outcome?,
        }
        let outcome = self.perform(&started, source).await?;
        let held = Versioned {
            value: started,
            version: found.version + 1,
        };
        self.record(pk, &held, &outcome, source).await
    }

    /// A create whose job no longer waits for it is not begun.
    async fn not_wanted(&self, action: &Action) -> Result<Option<String>, Error> {
        let Action::CreateSession { job, attempt } = action else {
            return Ok(None);
        };
        let found = self.desk.store.job(job).await?;
        let wanted = found.is_some_and(|found| {
            found.value.attempt == *attempt
                && matches!(found.value.phase, job::Phase::Creating { .. })
        });
        Ok((!wanted).then(|| "the job no longer waits for this session".to_owned()))
    }

    /// Reads the world about an unknown effect.
    async fn settle(
        &self,
        pk: &str,
        found: &Versioned<Effect>,
        source: &Source,
    ) -> Result<(), Error> {
        let (finding, outcome) = self.look_for(&found.value).await?;
        let next = found.value.settled(finding, self.desk.now());
        match finding {
            Finding::Happened => self.record(pk, found, &outcome, source).await,
            Finding::NoTrace | Finding::CannotTell => {
                let certain = matches!(
                    next.state,
                    EffectState::Intent { .. } | EffectState::Failed { .. }
                );
                if let (true, Action::Merge { .. } | Action::CreateSession { .. }) =
                    (certain, &next.action)
                {
                    // Whether to try again depends on more than this effect: its aggregate decides.
                    let failure = Failure::new(
                        FailureClass::Unavailable,
                        "reading the world twice found no trace of it",
                    )
                    .never_sent();
                    return self
                        .record(pk, found, &Outcome::Failed(failure), source)
                        .await;
                }
                let mut unit = self.desk.unit();
                self.desk.save_effect_state(&mut unit, pk, found, &next);
                ignore_conflict(self.desk.commit(unit).await)
            }
        }
    }

    /// Records an outcome with what it means for the aggregate, in one commit. It must not be lost, so a conflict is decided again.
    async fn record(
        &self,
        pk: &str,
        held: &Versioned<Effect>,
        outcome: &Outcome,
        source: &Source,
    ) -> Result<(), Error> {
        let mut found = held.clone();
        for _ in 0..DECIDE_AGAIN_MAX {
            let now = self.desk.now();
            let next = match outcome {
                Outcome::Created(_) | Outcome::Merged(_) | Outcome::Done => found.value.done(now),
                Outcome::Failed(failure) => failed(&found.value, failure, now),
            };
            let mut unit = self.desk.unit();
            self.desk.save_effect_state(&mut unit, pk, &found, &next);
            self.mean(&mut unit, &next, outcome, source).await?;
            match self.desk.commit(unit).await {
                Err(error) if error.is_conflict() => {}
                outcome => return outcome,
            }
            match self.desk.store.effect(pk, &held.value.id).await? {
                Some(again) if !again.value.is_settled() => found = again,
                Some(_) | None => return Ok(()),
            }
        }
        tracing::error!(effect = %held.value.action, "an outcome could not be recorded; it will be settled by reading the world");
        Ok(())
    }

    /// What an outcome means for the aggregate.
    async fn mean(
        &self,
        unit: &mut Unit,
        effect: &Effect,
        outcome: &Outcome,
        source: &Source,
    ) -> Result<(), Error> {
        match &effect.action {
            Action::CreateSession { job, .. } => self.mean_create(unit, job, outcome, source).await,
            Action::Say { session, .. } => self.mean_said(unit, session, outcome, source).await,
            Action::Merge { pull, .. } => {
                self.mean_merge(unit, pull, (effect, outcome), source).await
            }
            Action::ApprovePlan { .. }
            | Action::Archive { .. }
            | Action::MarkReady { .. }
            | Action::UpdateBranch { .. }
            | Action::Comment { .. }
            | Action::Label { .. }
            | Action::DeleteBranch { .. } => Ok(()),
        }
    }

    async fn mean_create(
        &self,
        unit: &mut Unit,
        id: &domain::ids::JobId,
        outcome: &Outcome,
        source: &Source,
    ) -> Result<(), Error> {
        let Some(found) = self.desk.store.job(id).await? else {
            return Ok(());
        };
        let now = self.desk.now();
        let slots = self.desk.store.slots(&found.value.account).await?;
        let (step, next) = match outcome {
            Outcome::Created(view) => {
                if self.desk.store.job_of(&view.id).await?.is_none() {
                    unit.put(keys::session(&view.id), id, None, Place::default());
                }
                unit.tell(
                    &keys::job_pk(id),
                    crate::work::Work::Watch {
                        account: found.value.account.clone(),
                    },
                );
                (
                    job::created(&found.value, view, now, &source.timing),
                    slots.value.created(id, now),
                )
            }
            Outcome::Failed(failure) if failure.happened == Happened::Maybe => return Ok(()),
            Outcome::Failed(failure) => {
                let refused = failure.class == FailureClass::Precondition;
                let slots = if refused {
                    slots.value.refused(id, now)
                } else {
                    slots.value.release(id)
                };
                (job::creation_failed(&found.value, failure, now), slots)
            }
            Outcome::Merged(_) | Outcome::Done => return Ok(()),
        };
        unit.put(
            keys::slots(&found.value.account),
            &next,
            Some(slots.version),
            Place::default(),
        );
        unit.tell(
            &keys::job_pk(id),
            crate::work::Work::Slots {
                account: found.value.account.clone(),
            },
        );
        self.desk.save_job(unit, Some(&found), &step).await?;
        Ok(())
    }

    async fn mean_said(
        &self,
        unit: &mut Unit,
        session: &domain::ids::SessionId,
        outcome: &Outcome,
        source: &Source,
    ) -> Result<(), Error> {
        let Outcome::Done = outcome else {
            return Ok(());
        };
        let Some(id) = self.desk.store.job_of(session).await? else {
            return Ok(());
        };
        let Some(found) = self.desk.store.job(&id).await? else {
            return Ok(());
        };
        let step = job::said(&found.value, session, self.desk.now(), &source.timing);
        unit.tell(
            &keys::job_pk(&id),
            crate::work::Work::Watch {
                account: found.value.account.clone(),
            },
        );
        self.desk.save_job(unit, Some(&found), &step).await?;
        Ok(())
    }

    async fn mean_merge(
        &self,
        unit: &mut Unit,
        reference: &domain::ids::PullRef,
        (effect, outcome): (&Effect, &Outcome),
        source: &Source,
    ) -> Result<(), Error> {
        let input = match outcome {
            Outcome::Merged(commit) => Input::Merged {
                commit: commit.clone(),
            },
            Outcome::Failed(failure) if matches!(effect.state, EffectState::Failed { .. }) => {
                Input::MergeFailed(failure.clone())
            }
            Outcome::Failed(_) | Outcome::Created(_) | Outcome::Done => return Ok(()),
        };
        let Some(found) = self.desk.store.pull(reference).await? else {
            return Ok(());
        };
        let step = pull::apply(
            &found.value.pull,
            &input,
            self.desk.now(),
            &source.policy,
            &source.timing,
        );
        self.desk
            .save_pull(
                unit,
                Some(found.version),
                (&step, found.value.read_at),
                &Route::default(),
            )
            .await?;
        unit.tell(
            &keys::pull_pk(reference),
            crate::work::Work::Pull {
                pull: reference.clone(),
                job: None,
                received_at: None,
            },
        );
        Ok(())
    }
}

/// Creates and merges are tried again only by their aggregate's decision, never by the effect itself.
fn failed(effect: &Effect, failure: &Failure, now: jiff::Timestamp) -> Effect {
    let next = effect.failed(failure, now);
    match (&effect.action, &next.state) {
        (Action::CreateSession { .. } | Action::Merge { .. }, EffectState::Intent { .. }) => {
            Effect {
                state: EffectState::Failed {
                    at: now,
                    attempt: effect.attempt(),
                    failure: failure.clone(),
                },
                ..next
            }
        }
        _ => next,
    }
}

/// Somebody else was quicker: they go on.
pub(super) fn ignore_conflict(outcome: Result<(), Error>) -> Result<(), Error> {
    match outcome {
        Err(error) if error.is_conflict() => Ok(()),
        outcome => outcome,
    }
}
