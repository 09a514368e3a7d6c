//! Wishes that are on their way, and what becomes of them.

use domain::effect::{Effect, EffectState};

use super::Found;
use crate::desk::{Desk, Error};

impl Desk {
    /// Every effect of an aggregate that did not just succeed.
    pub(super) async fn why_effects(&self, found: &mut Found, pk: &str) -> Result<(), Error> {
        for effect in self.store.effects(pk).await? {
            one(found, &effect.value);
        }
        Ok(())
    }
}

fn one(found: &mut Found, effect: &Effect) {
    let name = &effect.action;
    match &effect.state {
        EffectState::Done { .. } => {}
        EffectState::Intent {
            not_before,
            attempt,
        } => {
            let sentence =
                format!("`{name}` is to be done from {not_before} on (attempt {attempt}).");
            found.because("effect_waits", sentence);
            if found.held {
                found.then(None, format!("`{name}` is done once it may go on."));
            } else {
                found.then(*not_before, format!("`{name}` is done."));
            }
        }
        EffectState::Started { until, .. } => {
            found.because("effect_started", format!("`{name}` is being done."));
            let sentence = format!(
                "If nothing of `{name}` is recorded by then, its outcome counts as unknown."
            );
            found.then(*until, sentence);
        }
        EffectState::Unknown { look_at, .. } => {
            found.because("effect_unknown", format!("`{name}` may have happened."));
            let sentence = format!("The world is read to find out whether `{name}` happened.");
            found.then(*look_at, sentence);
        }
        // It was never begun: the aggregate says why.
        EffectState::Failed { attempt: 0, .. } => {}
        EffectState::Failed { failure, .. } => {
            found.because("effect_failed", format!("`{name}` failed: {failure}"));
        }
    }
}
