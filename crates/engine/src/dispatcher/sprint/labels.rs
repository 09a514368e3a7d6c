//! The label on pull requests that conflict with what is woven.

use domain::effect::{Action, PullAction, RepoAction};
use domain::ids::PullRef;
use domain::job::Job;
use domain::sprint::{ConflictLabel, MEMBERS_MAX, Sprint, conflict_labels, still_conflicts};

use super::pull_of;
use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::keys;

/// The label.
const CONFLICT_LABEL: &str = "conflict";

impl Dispatcher {
    /// What a weave does with the labels of conflicts, at most as much as one commit takes. Those that go off are asked for with each
    /// weave, and once.
    pub(super) async fn labels_of(&self, after: &Sprint, weave: u32) -> Result<Vec<Action>, Error> {
        let mut labels = Vec::new();
        for label in conflict_labels(after, weave) {
            match label {
                ConflictLabel::On { pull } => labels.push(Action::Pull(PullAction::Label {
                    pull: pull_of(after, pull),
                    label: CONFLICT_LABEL.to_owned(),
                    weave: Some(weave),
                })),
                ConflictLabel::Off { job, refused } => {
                    let found = self.backend.store.job(job).await?;
                    let pull = found.and_then(|found| found.value.pull().cloned());
                    labels.extend(pull.map(|pull| without_conflict(pull, refused)));
                }
            }
        }
        let integration = keys::job_pk(&after.integration);
        let mut labels = self.backend.not_asked_for(&integration, labels).await?;
        labels.truncate(MEMBERS_MAX);
        Ok(labels)
    }

    /// Why the label of a conflict is not put on a pull request any more: in a pause or after failures it may come late.
    pub(in crate::dispatcher) async fn not_labelled(
        &self,
        pull: &PullRef,
    ) -> Result<Option<String>, Error> {
        let store = &self.backend.store;
        let Some(tracked) = store.pull(pull).await? else {
            return Ok(None);
        };
        let id = tracked.value.pull.job;
        let job = store.job(&id).await?.map(|found| found.value);
        let Some(part) = job.as_ref().and_then(Job::sprint) else {
            return Ok(None);
        };
        let sprint = store
            .get::<Sprint>(&(pull.repo.clone(), part.sprint))
            .await?;
        let is_wanted = sprint.is_none_or(|found| still_conflicts(&found.value, &id));
        Ok((!is_wanted).then(|| "its change does not conflict any more".to_owned()))
    }
}

/// Takes the label off that the refusal of a weave put on.
pub(super) fn without_conflict(pull: PullRef, refused: u32) -> Action {
    Action::Repo(RepoAction::Unlabel {
        pull,
        label: CONFLICT_LABEL.to_owned(),
        weave: Some(refused),
    })
}
