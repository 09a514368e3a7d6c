//! Where sprints are stored.

use domain::ids::{RepoName, SprintNumber};

use super::{META, key};
use crate::ports::Key;

/// Begins the partition of a sprint.
pub const SPRINT: &str = "SPRINT#";

/// Separates the parts of a sprint's partition: no name of a repository holds it.
const BETWEEN: char = '#';

/// Digits of a number in a key, so that keys are in the order of numbers.
const DIGITS: usize = 10;

/// Partition of a sprint.
pub fn sprint_pk(repo: &RepoName, number: SprintNumber) -> String {
    format!("{SPRINT}{}{BETWEEN}{number}", repo.key())
}

/// A sprint.
pub fn sprint(repo: &RepoName, number: SprintNumber) -> Key {
    key(sprint_pk(repo, number), META)
}

/// The report of one of its weaves.
pub fn sprint_weave(repo: &RepoName, number: SprintNumber, weave: u32) -> Key {
    key(sprint_pk(repo, number), format!("WEAVE#{weave:0DIGITS$}"))
}

/// The list of all sprints of a repository, the last one last.
pub fn sprints_of(repo: &RepoName) -> String {
    format!("sprints:{}", repo.key())
}

/// The place of a sprint in that list.
pub fn sprint_position(number: SprintNumber) -> String {
    format!("{:0DIGITS$}", number.number())
}

/// The newest sprint of a repository: only one is under way at a time.
pub fn sprint_turn(repo: &RepoName) -> Key {
    key(format!("LEASE#sprint#{}", repo.key()), META)
}

/// The personas of a repository, read for a caller who waits.
pub fn personas_read(repo: &RepoName) -> Key {
    key(format!("PERSONAS#{}", repo.key()), META)
}

/// The repository and the number in a sprint's partition.
pub(crate) fn sprint_in(pk: &str) -> Option<(RepoName, SprintNumber)> {
    let (repo, number) = pk.strip_prefix(SPRINT)?.split_once(BETWEEN)?;
    Some((repo.parse().ok()?, number.parse().ok()?))
}
