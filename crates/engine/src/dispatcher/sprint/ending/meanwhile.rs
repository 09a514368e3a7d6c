//! What was merged although its sprint was aborted.

use domain::policy::Timing;
use domain::sprint::{self, Landing, Sprint, SprintState};

use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::store::Versioned;

impl Dispatcher {
    /// What was about to be merged as a sprint was aborted may be merged by now. Returns whether the sprint changed.
    pub(super) async fn see_merged_meanwhile(
        &self,
        found: &Versioned<Sprint>,
    ) -> Result<bool, Error> {
        let sprint = &found.value;
        if !matches!(sprint.state, SprintState::Aborted { .. }) {
            return Ok(false);
        }
        let mut sights = self.sprint_sights(sprint, &Timing::default()).await?;
        let merged = self.merged(sprint).await?;
        sights.landing = merged.map(|_| Landing::Merged);
        let next = sprint::merged_meanwhile(sprint, &sights, self.backend.now());
        if next == *sprint {
            return Ok(false);
        }
        let mut unit = self.backend.unit();
        let id = (next.repo.clone(), next.number);
        unit.save_at(&id, &next, Some(found.version), found.due);
        self.backend.try_commit(unit).await?;
        Ok(true)
    }
}
