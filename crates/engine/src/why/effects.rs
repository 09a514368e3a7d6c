//! Unfinished effects and their state.

use domain::effect::{Effect, EffectState};

use super::WhySubject;
use crate::backend::{Backend, Error};

impl Backend {
    /// Every effect of an aggregate that did not just succeed.
    pub(super) async fn why_effects(&self, found: &mut WhySubject, pk: &str) -> Result<(), Error> {
        for effect in self.store.effects(pk).await? {
            one(found, &effect.value);
        }
        Ok(())
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
