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
            let sprint = match self.must_sprint(&source.value.repo, None).await {
                Ok(found) => found.value,
                Err(Error::NoSuch { .. }) => continue,
                Err(error) => return Err(error),
            };
            newest.push(SprintStatus {
                state: sprint.state.word().to_owned(),
                is_over: sprint.is_over(),
                figures: Figures::of(&sprint),
                repo: sprint.repo,
                number: sprint.number,
            });
        }
        Ok(newest)
    }

    /// Requirements of a repository by their state. Those that are over are not read.
    async fn count_requirements(&self, repo: &RepoName, states: &mut Counts) -> Result<(), Error> {
        let records = self.store.records();
        for (state, many) in records.words(&keys::open_requirements(repo)).await? {
            *states.entry(state).or_insert(0) += many;
        }
        for state in RequirementState::ENDED {
            let many = records
                .count(&keys::ended_requirements(repo, state))
                .await?;
            if many > 0 {
                *states.entry(state.to_owned()).or_insert(0) += many;
            }
        }
        Ok(())
    }
}
