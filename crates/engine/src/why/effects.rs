//! Unfinished effects and their state.

use domain::effect::{Action, Effect, EffectState, RepoAction};
use domain::ids::JobId;
use domain::job::{self, Job};
use jiff::Timestamp;

use super::WhySubject;
use crate::backend::{Backend, Error};
use crate::keys;

impl Backend {
    /// Every effect of an aggregate that did not just succeed, but for what failed before its job went on.
    pub(super) async fn why_effects(
        &self,
        found: &mut WhySubject,
        pk: &str,
        job: Option<&Job>,
    ) -> Result<(), Error> {
        for effect in self.store.effects(pk).await? {
            if job.is_none_or(|job| !is_past(job, &effect.value)) {
                one(found, &effect.value);
            }
        }
        Ok(())
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

fn is_past(job: &Job, effect: &Effect) -> bool {
    match &effect.state {
        EffectState::Failed { at, .. } => job::is_outdated(job, &effect.action, *at),
        EffectState::Intent { .. }
        | EffectState::Started { .. }
        | EffectState::Unknown { .. }
        | EffectState::Done { .. } => false,
    }
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
