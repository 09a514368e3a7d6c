//! Effects, which are saved before they start.

use domain::effect::{Action, Effect, EffectState, JulesAction};
use domain::ids::EffectId;
use domain::job::{self, Job};
use jiff::Timestamp;

use crate::backend::{Backend, Error, IndexEntry, OUTBOX_GRACE, UnitOfWork};
use crate::keys;
use crate::ports::Expect;
use crate::store::Versioned;

/// Whether something was asked for before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskedBefore {
    /// It was not.
    Never,
    /// It failed, and is attempted once more.
    OnceMore,
    /// It was, and to ask for it again changes nothing.
    InVain,
}

impl Backend {
    /// Saves effects of an aggregate; the same decision is one effect.
    pub(crate) async fn save_effects(
        &self,
        unit: &mut UnitOfWork,
        pk: &str,
        effects: &[Action],
    ) -> Result<(), Error> {
        for action in effects {
            self.save_effect(unit, pk, action, None).await?;
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
    /// as often as its kind allows. `job` is whose it is, if it is a job's.
    pub(super) async fn save_effect(
        &self,
        unit: &mut UnitOfWork,
        pk: &str,
        action: &Action,
        job: Option<&Job>,
    ) -> Result<bool, Error> {
        let wished = Effect::new(action.clone(), unit.now());
        let found = self.store.effect(pk, &wished.id).await?;
        let before = found.as_ref().map(|found| &found.value);
        let gap = self.restore_gap_of(pk, before, action).await?;
        let (effect, version) = match found {
            None => (wished.with_initial_delay(), None),
            Some(found) => {
                let again = asked_again(&found.value, job, unit.now());
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

    /// Whether an action of a job was asked for before, and what asking for it again changes.
    pub(crate) async fn asked_before(
        &self,
        job: &Job,
        action: &Action,
    ) -> Result<AskedBefore, Error> {
        let pk = keys::job_pk(&job.id);
        let Some(found) = self.store.effect(&pk, &Self::effect_id(action)).await? else {
            return Ok(AskedBefore::Never);
        };
        let again = asked_again(&found.value, Some(job), self.now());
        Ok(match again == found.value {
            true => AskedBefore::InVain,
            false => AskedBefore::OnceMore,
        })
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

/// An effect after it was asked for again. An approval is safe to repeat: where a person or an agent does so, it starts afresh. A delivery
/// repeats its own by itself, so its attempts are counted.
fn asked_again(found: &Effect, job: Option<&Job>, now: Timestamp) -> Effect {
    let is_approval = matches!(found.action, Action::Jules(JulesAction::ApprovePlan { .. }));
    let is_counted = job.is_some_and(job::is_approved_by_delivery);
    match &found.state {
        EffectState::Failed { .. } if is_approval && !is_counted => {
            Effect::new(found.action.clone(), now)
        }
        EffectState::Failed { .. }
        | EffectState::Intent { .. }
        | EffectState::Started { .. }
        | EffectState::Unknown { .. }
        | EffectState::Done { .. } => found.requested_again(now),
    }
}
