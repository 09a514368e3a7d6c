//! The newest sprint of each source, for what is told of everything.

use domain::ids::{RepoName, SprintNumber};
use domain::policy::Source;
use domain::sprint::Figures;
use serde::{Deserialize, Serialize};

use crate::backend::{Backend, Error};
use crate::store::Versioned;

/// The newest sprint of a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SprintStatus {
    /// The repository.
    pub repo: RepoName,
    /// Its number.
    pub number: SprintNumber,
    /// How far it is, in one word.
    pub state: String,
    /// Whether nothing more happens.
    pub is_over: bool,
    /// What is counted of it.
    pub figures: Figures,
}

impl Backend {
    /// The newest sprint of each source: one read where there has been none, and two where there has.
    pub(crate) async fn newest_sprints(
        &self,
        sources: &[Versioned<Source>],
    ) -> Result<Vec<SprintStatus>, Error> {
        let mut newest = Vec::new();
        for source in sources {
            let found = self.newest_sprint(&source.value.repo).await?;
            let Some(sprint) = found.map(|found| found.value) else {
                continue;
            };
            newest.push(SprintStatus {
                state: sprint.state.word().to_owned(),
                is_over: sprint.is_over(),
                figures: Figures::of_sprint(&sprint),
                repo: sprint.repo,
                number: sprint.number,
            });
        }
        Ok(newest)
    }
}
