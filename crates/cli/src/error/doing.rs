//! What a command was doing when it failed, with the names that its advice repeats.

use std::fmt;

use domain::ids::{ArtefactId, RepoName};

/// What a command was doing about a repository, as the context of a failure.
#[derive(Debug)]
pub(crate) struct Doing {
    what: String,
    repo: RepoName,
    requirement: Option<ArtefactId>,
}

impl Doing {
    /// Something about a repository.
    pub(crate) fn of(repo: &RepoName, what: String) -> Self {
        Self {
            what,
            repo: repo.clone(),
            requirement: None,
        }
    }

    /// The same about one of its requirements.
    pub(crate) fn of_requirement(self, id: &ArtefactId) -> Self {
        Self {
            requirement: Some(id.clone()),
            ..self
        }
    }

    /// Advice with these names in place of the words that stand for them.
    pub(super) fn named(&self, advice: &str) -> String {
        let advice = advice.replace("OWNER/REPO", &self.repo.to_string());
        match &self.requirement {
            Some(id) => advice.replace("REQUIREMENT", id.as_str()),
            None => advice,
        }
    }
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}
