//! The life cycle of effects: settle unknown ones, start intents, perform them, and record the outcome together with
//! its consequences.

use domain::effect::{Action, Effect, EffectFinding, EffectState, RepoAction};
use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, PullRef, SessionId};
use domain::job;
use domain::policy::Source;
use domain::session::SessionView;
use domain::sprint::Report;

use super::Dispatcher;
use crate::backend::{DECIDE_AGAIN_MAX, Error, ignore_conflict};
use crate::store::Versioned;

/// Why nothing is said to a session any more.
const UNWATCHED: &str = "its job no longer watches this session";

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
        // The facts of a merge grow older with every call that comes before it; a pull request of ours comes after what it is about, and
        // a branch goes last.
        effects.sort_by_key(|found| match &found.value.action {
            Action::Merge { .. } => 0,
            Action::Repo(RepoAction::Propose { .. } | RepoAction::Weave { .. }) => 2,
            Action::DeleteBranch { .. } => 3,
            Action::CreateSession { .. }
            | Action::Say { .. }
            | Action::ApprovePlan { .. }
            | Action::Archive { .. }
            | Action::MarkReady { .. }
            | Action::UpdateBranch { .. }
            | Action::Comment { .. }
            | Action::Label { .. }
            | Action::ClosePull { .. }
            | Action::Repo(
                RepoAction::Status { .. }
                | RepoAction::OpenIssue { .. }
                | RepoAction::PutLabel { .. }
                | RepoAction::Unlabel { .. },
            )
            | Action::Tracker(_) => 1,
        });
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
        if let Action::Merge { sha, .. } = &found.value.action
            && judged != Some(sha)
        {
            return Ok(());
        }
        if self.waits_for_others(pk, &found.value.action).await? {
            return Ok(());
        }
        if let Some(reason) = self.not_wanted(pk, &found.value.action).await? {
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

    /// The watch of a session, while its job watches it.
    pub(super) async fn watching(
        &self,
        session: &SessionId,
    ) -> Result<Option<Box<job::Watch>>, Error> {
        let Some(id) = self.backend.store.job_of(session).await? else {
            return Ok(None);
        };
        let found = self.backend.store.job(&id).await?;
        Ok(found.and_then(|found| match found.value.phase {
            job::JobPhase::Watching(watch) if watch.session == *session => Some(watch),
            job::JobPhase::Watching(_)
            | job::JobPhase::Queued { .. }
            | job::JobPhase::Creating { .. }
            | job::JobPhase::Proposed { .. }
            | job::JobPhase::Ended(_) => None,
        }))
    }

    /// Why an obsolete effect is not begun: a create whose job moved on, a message to a session that was replaced
    /// or archived, a text for an issue that was overtaken, a label of a conflict that is resolved, or a deployment that was cancelled.
    async fn not_wanted(&self, pk: &str, action: &Action) -> Result<Option<String>, Error> {
        match action {
            Action::CreateSession { job, attempt } => {
                let found = self.backend.store.job(job).await?;
                let wanted = found.is_some_and(|found| {
                    found.value.attempt == *attempt
                        && matches!(found.value.phase, job::JobPhase::Creating { .. })
                });
                Ok((!wanted).then(|| "the job no longer waits for this session".to_owned()))
            }
            Action::Repo(action) => self.not_wanted_in_repo(action).await,
            Action::Say { session, cause, .. } => {
                let watch = self.watching(session).await?;
                Ok(match watch {
                    None => Some(UNWATCHED.to_owned()),
                    Some(watch) if !job::is_wanted(&watch, cause) => {
                        Some("it was answered meanwhile".to_owned())
                    }
                    Some(_) => None,
                })
            }
            Action::ApprovePlan { session, .. } => {
                let watch = self.watching(session).await?;
                Ok(watch.is_none().then(|| UNWATCHED.to_owned()))
            }
            Action::Tracker(action) => self.not_tracked(pk, action).await,
            Action::Merge { pull, sha, .. } => self.not_let_go(pull, sha).await,
            Action::Label { pull, weave, .. } if weave.is_some() => self.not_labelled(pull).await,
            Action::Archive { .. }
            | Action::MarkReady { .. }
            | Action::UpdateBranch { .. }
            | Action::Comment { .. }
            | Action::Label { .. }
            | Action::ClosePull { .. }
            | Action::DeleteBranch { .. } => Ok(None),
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
                if let (true, Action::Merge { .. } | Action::CreateSession { .. }) =
                    (certain, &next.action)
                {
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
            let next = match outcome {
                EffectOutcome::Created(_)
                | EffectOutcome::Merged(_)
                | EffectOutcome::Proposed(_)
                | EffectOutcome::Woven(_)
                | EffectOutcome::Done => found.value.done(now),
                EffectOutcome::Failed(failure) => failed(&found.value, failure, now),
            };
            let mut unit = self.backend.unit();
            self.backend.save_effect_state(&mut unit, pk, &found, &next);
            self.apply_outcome(&mut unit, &next, outcome, source)
                .await?;
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
fn failed(effect: &Effect, failure: &Failure, now: jiff::Timestamp) -> Effect {
    let next = effect.failed(failure, now);
    match (&effect.action, &next.state) {
        (Action::CreateSession { .. } | Action::Merge { .. }, EffectState::Intent { .. }) => {
            Effect {
                state: EffectState::Failed {
                    at: now,
                    attempt: attempts_made(effect, failure),
                    failure: failure.clone(),
                },
                ..next
            }
        }
        _ => next,
    }
}
