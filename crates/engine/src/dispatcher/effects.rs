//! The life cycle of effects: settle unknown ones, start intents, perform them, and record the outcome together with
//! its consequences. What each of these is for an action stands in the file of its target.

mod jules;
mod pulls;
mod repo;
mod tracker;

use domain::effect::{Action, Effect, EffectFinding, EffectState, PullAction};
use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, PullRef};
use domain::policy::Source;
use domain::session::SessionView;
use domain::sprint::Report;
use jiff::{SignedDuration, Timestamp};

use super::Dispatcher;
use crate::backend::{DECIDE_AGAIN_MAX, Error, UnitOfWork, ignore_conflict};
use crate::store::Versioned;
pub(super) use repo::WeaveAttempt;

/// Clocks differ: the search for an effect's result begins this long before its request.
pub(crate) const CLOCK_SLACK: SignedDuration = SignedDuration::from_secs(120);

/// What a call, or reading the world, brought about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EffectOutcome {
    /// A session exists.
    Created(Box<SessionView>),
    /// A pull request is merged.
    Merged(CommitSha),
    /// A pull request of ours is open; none if there was nothing to change.
    Proposed(Option<(PullRef, CommitSha)>),
    /// A sprint was woven.
    Woven(Box<Report>),
    /// Done, without a result.
    Done,
    /// It failed.
    Failed(Failure),
}

/// An effect with the outcome of an attempt at it.
#[derive(Clone, Copy)]
pub(super) struct Settled<'a> {
    /// The effect as it is saved after the attempt.
    pub(super) effect: &'a Effect,
    /// What the attempt came to.
    pub(super) outcome: &'a EffectOutcome,
    /// Whether a reading showed that, and not the answer to the call.
    pub(super) by_reading: bool,
    /// The source of the aggregate, for its settings.
    pub(super) source: &'a Source,
}

/// When an effect is begun among those of its aggregate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum EffectOrder {
    /// Before all others.
    First,
    /// As it comes.
    Usual,
    /// After what it is about.
    Later,
    /// After all others.
    Last,
}

impl Dispatcher {
    /// Settles what is unknown among the effects of one aggregate, and begins nothing.
    pub(super) async fn settle_effects(&self, pk: &str, source: &Source) -> Result<(), Error> {
        for found in self.backend.store.effects(pk).await? {
            let now = self.backend.now();
            match &found.value.state {
                EffectState::Started { until, .. } if *until <= now => {
                    self.expire(pk, &found, source).await?;
                }
                EffectState::Unknown { look_at, .. } if *look_at <= now => {
                    self.settle(pk, &found, source).await?;
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

    /// Settles and performs the effects of one aggregate, and returns whether there was anything to do. A merge
    /// begins only at the SHA that was judged just now.
    pub(super) async fn run_effects(
        &self,
        pk: &str,
        source: &Source,
        judged: Option<&CommitSha>,
    ) -> Result<bool, Error> {
        let mut effects = self.backend.store.effects(pk).await?;
        if effects.iter().all(|found| found.value.is_settled()) {
            return Ok(false);
        }
        effects.sort_by_key(|found| order(&found.value.action));
        let held = self.hold(source).await?.is_some();
        let mut any = false;
        for found in effects {
            let now = self.backend.now();
            any |= match &found.value.state {
                EffectState::Started { until, .. } if *until <= now => {
                    self.expire(pk, &found, source).await?;
                    true
                }
                EffectState::Unknown { look_at, .. } if *look_at <= now => {
                    self.settle(pk, &found, source).await?;
                    true
                }
                EffectState::Intent { not_before, .. } if *not_before <= now && !held => {
                    self.begin(pk, &found, source, judged).await?;
                    true
                }
                EffectState::Started { .. }
                | EffectState::Unknown { .. }
                | EffectState::Intent { .. }
                | EffectState::Done { .. }
                | EffectState::Failed { .. } => false,
            };
        }
        Ok(any)
    }

    /// The process that began it died: the outcome is unknown from now on.
    async fn expire(
        &self,
        pk: &str,
        found: &Versioned<Effect>,
        source: &Source,
    ) -> Result<(), Error> {
        let mut unit = self.backend.unit();
        let expired = found.value.expire(self.backend.now());
        self.backend
            .save_effect_state(&mut unit, pk, found, &expired);
        self.apply_expiry(&mut unit, &expired, source).await?;
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// Wins the start by a conditional write, and only then calls.
    async fn begin(
        &self,
        pk: &str,
        found: &Versioned<Effect>,
        source: &Source,
        judged: Option<&CommitSha>,
    ) -> Result<(), Error> {
        // A merge starts only in the pass that judged this very head.
        if let Action::Pull(PullAction::Merge { sha, .. }) = &found.value.action
            && judged != Some(sha)
        {
            return Ok(());
        }
        if self.waits_for_others(pk, &found.value.action).await? {
            return Ok(());
        }
        if found.value.action.names_by_number() && self.is_astray(source).await? {
            return Ok(());
        }
        if let Some(reason) = self.not_wanted(pk, &found.value.action, source).await? {
            return self
                .record(
                    pk,
                    found,
                    &EffectOutcome::Failed(Failure::new(FailureClass::Conflict, reason)),
                    source,
                )
                .await;
        }
        let Ok(started) = found.value.start(self.backend.now()) else {
            return Ok(());
        };
        let mut unit = self.backend.unit();
        self.backend
            .save_effect_start(&mut unit, pk, found, &started);
        match self.backend.commit(unit).await {
            // Another dispatcher won the start and makes the call.
            Err(error) if error.is_conflict() => return Ok(()),
            outcome => outcome?,
        }
        let outcome = self.perform(&started, source).await?;
        let held = Versioned {
            value: started,
            version: found.version + 1,
            due: None,
        };
        self.record(pk, &held, &outcome, source).await
    }

    /// Makes the call. Its failure is an outcome; an error means that the target could not even be determined.
    async fn perform(&self, effect: &Effect, source: &Source) -> Result<EffectOutcome, Error> {
        match &effect.action {
            Action::Jules(action) => self.perform_on_jules(effect, action, source).await,
            Action::Pull(action) => Ok(self.perform_on_pull(effect, action).await),
            Action::Repo(action) => self.perform_on_repo(action).await,
            Action::Tracker(action) => Ok(self.perform_on_tracker(action).await),
        }
    }

    /// Why an obsolete effect is not begun.
    async fn not_wanted(
        &self,
        pk: &str,
        action: &Action,
        source: &Source,
    ) -> Result<Option<String>, Error> {
        match action {
            Action::Jules(action) => self.not_wanted_on_jules(action).await,
            Action::Pull(action) => self.not_wanted_on_pull(pk, action, source).await,
            Action::Repo(action) => self.not_wanted_on_repo(action).await,
            Action::Tracker(action) => self.not_wanted_on_tracker(pk, action).await,
        }
    }

    /// What the world shows of an effect, and the outcome if it happened. Another repository that took the name shows nothing of what is
    /// named there by a number alone: that stays unknown until the name leads to the right one again.
    async fn look_for(
        &self,
        effect: &Effect,
        source: &Source,
    ) -> Result<(EffectFinding, EffectOutcome), Error> {
        if effect.action.names_by_number() && self.is_astray(source).await? {
            return Ok((EffectFinding::CannotTell, EffectOutcome::Done));
        }
        match &effect.action {
            Action::Jules(action) => self.look_on_jules(effect, action, source).await,
            Action::Pull(action) => self.look_on_pull(effect, action, source).await,
            Action::Repo(action) => self.look_on_repo(action).await,
            Action::Tracker(action) => Ok(self.look_on_tracker(action).await),
        }
    }

    /// What an outcome means for the aggregate.
    async fn apply_outcome(
        &self,
        unit: &mut UnitOfWork,
        settled: Settled<'_>,
    ) -> Result<(), Error> {
        match &settled.effect.action {
            Action::Jules(action) => self.apply_on_jules(unit, action, settled).await,
            Action::Pull(action) => self.apply_on_pull(unit, action, settled).await,
            Action::Repo(action) => self.apply_on_repo(unit, action, settled).await,
            Action::Tracker(action) => self.apply_on_tracker(unit, action, settled).await,
        }
    }

    /// The process that began it died, so it may have happened.
    async fn apply_expiry(
        &self,
        unit: &mut UnitOfWork,
        effect: &Effect,
        source: &Source,
    ) -> Result<(), Error> {
        match &effect.action {
            Action::Jules(action) => {
                let settled = Settled {
                    effect,
                    outcome: &EffectOutcome::Done,
                    by_reading: false,
                    source,
                };
                self.expire_on_jules(unit, action, settled).await
            }
            Action::Pull(_) | Action::Repo(_) | Action::Tracker(_) => Ok(()),
        }
    }

    /// Reads the world about an unknown effect.
    async fn settle(
        &self,
        pk: &str,
        found: &Versioned<Effect>,
        source: &Source,
    ) -> Result<(), Error> {
        let (finding, outcome) = self.look_for(&found.value, source).await?;
        let next = found.value.settled(finding, self.backend.now());
        match finding {
            EffectFinding::Happened => self.record(pk, found, &outcome, source).await,
            EffectFinding::NoTrace | EffectFinding::CannotTell => {
                // An effect without an attempt in this store is as good as just decided.
                let certain = found.value.attempt() > 0
                    && matches!(
                        next.state,
                        EffectState::Intent { .. } | EffectState::Failed { .. }
                    );
                if certain && next.action.is_retried_by_decision() {
                    // Whether to retry depends on more than this effect: its aggregate decides.
                    let failure = Failure::new(
                        FailureClass::Unavailable,
                        "reading the world twice found no trace of it",
                    )
                    .never_sent();
                    return self
                        .record(pk, found, &EffectOutcome::Failed(failure), source)
                        .await;
                }
                if let EffectState::Failed { failure, .. } = &next.state {
                    // Its aggregate has to know that nothing follows.
                    let failed = EffectOutcome::Failed(failure.clone());
                    return self.record(pk, found, &failed, source).await;
                }
                let mut unit = self.backend.unit();
                self.backend.save_effect_state(&mut unit, pk, found, &next);
                ignore_conflict(self.backend.commit(unit).await)
            }
        }
    }

    /// Records an outcome with its consequences for the aggregate, in one commit. It must not be lost, so a conflict is decided again.
    async fn record(
        &self,
        pk: &str,
        held: &Versioned<Effect>,
        outcome: &EffectOutcome,
        source: &Source,
    ) -> Result<(), Error> {
        let mut found = held.clone();
        for _ in 0..DECIDE_AGAIN_MAX {
            let now = self.backend.now();
            let next = if let EffectOutcome::Failed(failure) = outcome {
                failed(&found.value, failure, now)
            } else {
                found.value.done(now)
            };
            let mut unit = self.backend.unit();
            self.backend.save_effect_state(&mut unit, pk, &found, &next);
            let settled = Settled {
                effect: &next,
                outcome,
                by_reading: matches!(found.value.state, EffectState::Unknown { .. }),
                source,
            };
            self.apply_outcome(&mut unit, settled).await?;
            match self.backend.commit(unit).await {
                Err(error) if error.is_conflict() => {}
                outcome => return outcome,
            }
            match self.backend.store.effect(pk, &held.value.id).await? {
                Some(again) if !again.value.is_settled() => found = again,
                Some(_) | None => return Ok(()),
            }
        }
        tracing::error!(effect = %held.value.action, "an outcome could not be recorded; it will be settled by reading the world");
        Ok(())
    }
}

/// What the budget did not allow counts as no attempt.
fn attempts_made(effect: &Effect, failure: &Failure) -> u32 {
    let throttled = failure.class == FailureClass::Throttled && effect.action.is_on_github();
    effect.attempt().saturating_sub(u32::from(throttled))
}

/// Creates and merges are tried again only by their aggregate's decision, never by the effect itself.
fn failed(effect: &Effect, failure: &Failure, now: Timestamp) -> Effect {
    let next = effect.failed(failure, now);
    let goes_on = matches!(next.state, EffectState::Intent { .. });
    if !goes_on || !effect.action.is_retried_by_decision() {
        return next;
    }
    let state = EffectState::Failed {
        at: now,
        attempt: attempts_made(effect, failure),
        failure: failure.clone(),
    };
    Effect { state, ..next }
}

/// The facts of a merge grow older with every call that comes before it; a pull request of ours comes after what it is about, and
/// a branch goes last.
fn order(action: &Action) -> EffectOrder {
    match action {
        Action::Pull(action) => pulls::order(action),
        Action::Repo(action) => repo::order(action),
        Action::Jules(_) | Action::Tracker(_) => EffectOrder::Usual,
    }
}

/// The outcome of a call without a result.
fn done(result: Result<(), Failure>) -> EffectOutcome {
    result.map_or_else(EffectOutcome::Failed, |()| EffectOutcome::Done)
}

/// What a reading found of an effect without a result.
fn seen(reading: Result<bool, Failure>) -> (EffectFinding, EffectOutcome) {
    let finding = match reading {
        Ok(true) => EffectFinding::Happened,
        Ok(false) => EffectFinding::NoTrace,
        Err(_) => EffectFinding::CannotTell,
    };
    (finding, EffectOutcome::Done)
}
