//! The label on pull requests that conflict with what is woven.

use domain::effect::{Action, RepoAction};
use domain::ids::PullRef;
use domain::sprint::{ConflictLabel, MEMBERS_MAX, Sprint, conflict_labels};

use super::pull_of;
use crate::backend::Error;
use crate::dispatcher::Dispatcher;

/// The label.
const CONFLICT_LABEL: &str = "conflict";

impl Dispatcher {
    /// What a weave does with the labels of conflicts, at most as much as one commit takes.
    pub(super) async fn labels_of(&self, after: &Sprint, weave: u32) -> Result<Vec<Action>, Error> {
        let mut labels = Vec::new();
        for label in conflict_labels(after, weave) {
            match label {
                ConflictLabel::On { pull } => labels.push(Action::Label {
                    pull: pull_of(after, pull),
                    label: CONFLICT_LABEL.to_owned(),
                    weave: Some(weave),
                }),
                ConflictLabel::Off { job, refused } => {
                    let found = self.backend.store.job(job).await?;
                    let pull = found.and_then(|found| found.value.pull().cloned());
                    labels.extend(pull.map(|pull| without_conflict(pull, refused)));
                }
            }
        }
        labels.truncate(MEMBERS_MAX);
        Ok(labels)
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
