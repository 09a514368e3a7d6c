//! Effects, which are saved before they start.

use domain::effect::{Action, Effect, EffectState, JulesAction};
use domain::ids::EffectId;
use jiff::Timestamp;

use crate::backend::{Backend, Error, IndexEntry, OUTBOX_GRACE, UnitOfWork};
use crate::keys;
use crate::ports::Expect;
use crate::store::Versioned;

impl Backend {
    /// Saves effects of an aggregate; the same decision is one effect.
    pub(crate) async fn save_effects(
        &self,
        unit: &mut UnitOfWork,
        pk: &str,
        effects: &[Action],
    ) -> Result<(), Error> {
        for action in effects {
            self.save_effect(unit, pk, action).await?;
        }
        Ok(())
    }

    /// Those of some actions that were not asked for yet, or may be tried again: to save the others changes nothing.
    pub(crate) async fn not_asked_for(
        &self,
        pk: &str,
        mut actions: Vec<Action>,
    ) -> Result<Vec<Action>, Error> {
        let now = self.now();
        let known = self.store.effects(pk).await?;
        let is_asked_for = |action: &Action| {
            let id = Self::effect_id(action);
            let found = known.iter().find(|it| it.value.id == id);
            found.is_some_and(|it| it.value.requested_again(now) == it.value)
        };
        actions.retain(|action| !is_asked_for(action));
        Ok(actions)
    }

    /// Saves an effect; the same decision is one effect. A failed one may be repeated with the next attempt number,
    /// as often as its kind allows.
    pub(super) async fn save_effect(
        &self,
        unit: &mut UnitOfWork,
        pk: &str,
        action: &Action,
    ) -> Result<bool, Error> {
        let wished = Effect::new(action.clone(), unit.now());
        let found = self.store.effect(pk, &wished.id).await?;
        let before = found.as_ref().map(|found| &found.value);
        let gap = self.restore_gap_of(pk, before, action).await?;
        let (effect, version) = match found {
            None => (wished.with_initial_delay(), None),
            Some(found) => {
                let again = asked_again(&found.value, unit.now());
                if again == found.value {
                    return Ok(false);
                }
                // The purpose is the same; its details, such as the judged base, are the present ones.
                let action = wished.action;
                (Effect { action, ..again }, Some(found.version))
            }
        };
        let effect = match gap {
            Some(gap) => effect.after_restore(&gap, unit.now()),
            None => effect,
        };
        let soon = unit.now() + OUTBOX_GRACE;
        let place = IndexEntry::due(effect.due().map(|due| due.max(soon)));
        unit.put(keys::effect(pk, &effect.id), &effect, version, place);
        Ok(true)
    }

    /// Whether an action was asked for, and asking for it again changes nothing.
    pub(crate) async fn is_asked_in_vain(&self, pk: &str, action: &Action) -> Result<bool, Error> {
        let found = self.store.effect(pk, &Self::effect_id(action)).await?;
        let now = self.now();
        Ok(found.is_some_and(|found| asked_again(&found.value, now) == found.value))
    }

    /// Adds the next state of an effect to a unit.
    pub(crate) fn save_effect_state(
        &self,
        unit: &mut UnitOfWork,
        pk: &str,
        found: &Versioned<Effect>,
        next: &Effect,
    ) {
        let (key, place) = (keys::effect(pk, &next.id), IndexEntry::due(next.due()));
        unit.put(key.clone(), next, Some(found.version), place);
        unit.keep_due_row(key, found.due);
    }

    /// Adds the start of an effect to a unit: of several processes, its version lets one win.
    pub(crate) fn save_effect_start(
        &self,
        unit: &mut UnitOfWork,
        pk: &str,
        found: &Versioned<Effect>,
        started: &Effect,
    ) {
        let expect = if cfg!(without_guard = "conditional_started") {
            Expect::Any
        } else {
            Expect::Version(found.version)
        };
        let (key, place) = (
            keys::effect(pk, &started.id),
            IndexEntry::due(started.due()),
        );
        unit.put_if(key.clone(), started, expect, place);
        unit.keep_due_row(key, found.due);
    }

    /// The id of the effect that an action is.
    pub fn effect_id(action: &Action) -> EffectId {
        EffectId::from_name(&action.to_string())
    }
}

/// An effect after it was asked for again. An approval is safe to repeat, and only a person or an agent repeats it: it starts afresh.
fn asked_again(found: &Effect, now: Timestamp) -> Effect {
    let is_approval = matches!(found.action, Action::Jules(JulesAction::ApprovePlan { .. }));
    match &found.state {
        EffectState::Failed { .. } if is_approval => Effect::new(found.action.clone(), now),
        EffectState::Failed { .. }
        | EffectState::Intent { .. }
        | EffectState::Started { .. }
        | EffectState::Unknown { .. }
        | EffectState::Done { .. } => found.requested_again(now),
    }
}
