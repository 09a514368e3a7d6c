//! Where runs of pipelines and their requirements are stored.

use domain::ids::{ArtefactId, PipelineId, RepoName};
use domain::pipeline::RequirementState;
use jiff::Timestamp;

use super::{META, key, stamp};
use crate::ports::Key;

/// Begins the partition of a run.
pub const PIPELINE: &str = "PIPE#";

/// Begins the partition of a requirement.
pub const REQUIREMENT: &str = "REQ#";

/// Separates the parts of a requirement's partition: no name of a repository holds it.
const BETWEEN: char = '#';

/// Partition of a run.
pub fn pipeline_pk(id: &PipelineId) -> String {
    format!("{PIPELINE}{id}")
}

/// A run.
pub fn pipeline(id: &PipelineId) -> Key {
    key(pipeline_pk(id), META)
}

/// The list of all runs of a repository, newest last.
pub fn pipelines_of(repo: &RepoName) -> String {
    format!("pipelines:{}", repo.key())
}

/// The place of a run in lists: by its age, then by its id.
pub fn pipeline_position(created_at: Timestamp, id: &PipelineId) -> String {
    format!("{}:{id}", stamp(created_at))
}

/// Which run a repository's pipeline is at, or was last.
pub fn pipeline_turn(repo: &RepoName) -> Key {
    key(format!("LEASE#pipeline#{}", repo.key()), META)
}

/// Partition of a requirement.
pub fn requirement_pk(repo: &RepoName, id: &ArtefactId) -> String {
    format!("{REQUIREMENT}{}{BETWEEN}generic{BETWEEN}{id}", repo.key())
}

/// A requirement.
pub fn requirement(repo: &RepoName, id: &ArtefactId) -> Key {
    key(requirement_pk(repo, id), META)
}

/// The list of a repository's requirements to which something may still happen by itself.
pub fn open_requirements(repo: &RepoName) -> String {
    format!("requirements:{}", repo.key())
}

/// The list of a repository's requirements that are over in a state: those are counted without being read.
pub fn ended_requirements(repo: &RepoName, state: &str) -> String {
    format!("requirements:{}:{state}", repo.key())
}

/// The lists that together have all of a repository's requirements.
pub fn requirements_of(repo: &RepoName) -> Vec<String> {
    let ended = RequirementState::ENDED.iter();
    let ended = ended.map(|state| ended_requirements(repo, state));
    ended.chain([open_requirements(repo)]).collect()
}

/// The repository and the id in a requirement's partition.
pub(crate) fn requirement_in(pk: &str) -> Option<(RepoName, ArtefactId)> {
    let mut parts = pk.strip_prefix(REQUIREMENT)?.split(BETWEEN);
    let (repo, _stream, id) = (parts.next()?, parts.next()?, parts.next()?);
    Some((repo.parse().ok()?, id.parse().ok()?))
}
