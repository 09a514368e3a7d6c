//! Doubt: what a restored store cannot know about its effects.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Effect, EffectState, NEGATIVES_TO_RETRY};
use crate::when::plus;

/// The time that a restored store knows nothing of. Actions in it are visible outside only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoreGap {
    /// When the copy was made.
    pub from: Timestamp,
    /// When it was restored.
    pub until: Timestamp,
}

impl Effect {
    /// Marks an effect as unknown after a gap in the store: unless it is over, only a read shows whether it happened
    /// meanwhile.
    ///
    /// The read waits until the world shows what was done last before the store was restored.
    /// Long after that, one read that finds nothing counts as much as the two that are required soon after it.
    pub fn after_restore(&self, gap: &RestoreGap, now: Timestamp) -> Self {
        let attempt = match self.state {
            // Not started, as far as the copy knows: the next attempt is still to come.
            EffectState::Intent { attempt, .. } => attempt.saturating_sub(1),
            EffectState::Started { attempt, .. } | EffectState::Unknown { attempt, .. } => attempt,
            EffectState::Done { .. } | EffectState::Failed { .. } => return self.clone(),
        };
        let settle_after = self.action.settle_after();
        let shown = plus(gap.until, settle_after);
        let long_ago = plus(shown, settle_after) <= now;
        let mut doubted = self.with(EffectState::Unknown {
            attempt,
            look_at: shown.max(now),
            negatives: if long_ago { NEGATIVES_TO_RETRY - 1 } else { 0 },
        });
        doubted.created_at = self.created_at.min(gap.from);
        doubted
    }

    /// Whether a failure was recorded before the gap, so that the effect may have been tried again within it.
    pub fn failed_before(&self, gap: &RestoreGap) -> bool {
        match self.state {
            EffectState::Failed { at, .. } => at <= gap.until,
            EffectState::Intent { .. }
            | EffectState::Started { .. }
            | EffectState::Unknown { .. }
            | EffectState::Done { .. } => false,
        }
    }
}
