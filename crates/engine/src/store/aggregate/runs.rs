//! How runs of pipelines, their requirements and sprints are stored.

use domain::ids::{ArtefactId, PipelineId, RepoName, SprintNumber};
use domain::pipeline::{Pipeline, Requirement};
use domain::sprint::Sprint;
use jiff::{SignedDuration, Timestamp};

use super::Aggregate;
use crate::ports::{Key, ListKey};
use crate::{keys, retention};

/// A run of a pipeline that is over: its jobs and pull requests stay.
const PIPELINE_KEPT: SignedDuration = SignedDuration::from_hours(90 * 24);

/// Its due depends on when it was read, so [`UnitOfWork::save_due`](crate::backend::UnitOfWork::save_due) saves it.
impl Aggregate for Pipeline {
    type Id = PipelineId;
    const KIND: &'static str = "pipeline";

    fn key(id: &PipelineId) -> Key {
        keys::pipeline(id)
    }
    fn name(id: &PipelineId) -> String {
        id.to_string()
    }
    fn list(&self) -> Option<ListKey> {
        let place = keys::pipeline_position(self.created_at, &self.id);
        keys::listed(keys::pipelines_of(&self.repo), place)
    }
    fn forget(&self) -> Option<Timestamp> {
        let ended = Some(self.updated_at).filter(|_| self.is_over());
        ended.and_then(|at| retention::after(at, PIPELINE_KEPT))
    }
}

/// The same holds for it.
impl Aggregate for Requirement {
    type Id = (RepoName, ArtefactId);
    const KIND: &'static str = "requirement";

    fn key((repo, id): &(RepoName, ArtefactId)) -> Key {
        keys::requirement(repo, id)
    }
    fn name((repo, id): &(RepoName, ArtefactId)) -> String {
        format!("{id}` of `{repo}")
    }
    fn list(&self) -> Option<ListKey> {
        let place = format!("{}:{}", keys::stamp(self.created_at), self.reference.id);
        let state = self.state.word();
        if self.is_over() {
            return keys::listed(keys::ended_requirements(&self.repo, state), place);
        }
        let list = keys::listed(keys::open_requirements(&self.repo), place)?;
        let word = Some(state.to_owned());
        Some(ListKey { word, ..list })
    }
}

/// A sprint that is over, with the reports of its weaves.
pub(crate) const SPRINT_KEPT: SignedDuration = SignedDuration::from_hours(400 * 24);

impl Aggregate for Sprint {
    type Id = (RepoName, SprintNumber);
    const KIND: &'static str = "sprint";

    fn key((repo, number): &(RepoName, SprintNumber)) -> Key {
        keys::sprint(repo, *number)
    }
    fn name((repo, number): &(RepoName, SprintNumber)) -> String {
        format!("{number}` of `{repo}")
    }
    fn list(&self) -> Option<ListKey> {
        keys::listed(
            keys::sprints_of(&self.repo),
            keys::sprint_position(self.number),
        )
    }
    fn forget(&self) -> Option<Timestamp> {
        let ended = self.state.ended_at();
        ended.and_then(|at| retention::after(at, SPRINT_KEPT))
    }
}
