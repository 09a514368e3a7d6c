//! Access to GitHub: obstacles to everything, or to one repository.

use domain::github_access::RepositoryAccess;
use domain::ids::RepoName;

use super::{Reasoned, WhySubject};
use crate::backend::{Backend, Error};
use crate::status::GitHubStatus;

impl Backend {
    /// Explains the obstacles to work in a repository on GitHub.
    pub(super) async fn why_github(
        &self,
        found: &mut WhySubject,
        repo: &RepoName,
    ) -> Result<(), Error> {
        found.because.extend(self.why_access().await?);
        let reach = self.store.reach(repo).await?.value;
        found.because.extend(why_reach(&reach));
        found.next.extend(reach.next());
        Ok(())
    }

    /// All of that, and what is left of the budgets.
    pub(crate) async fn github_status(&self) -> Result<GitHubStatus, Error> {
        let mut trouble = self.why_access().await?;
        for found in self.store.reaches().await? {
            trouble.extend(why_reach(&found.value));
        }
        let known = self.store.budgets().await?.value;
        Ok(GitHubStatus {
            trouble,
            budgets: known.budgets,
            budgets_at: known.at,
            usage: known.usage,
        })
    }

    /// Why GitHub does not take our credential, if so.
    async fn why_access(&self) -> Result<Vec<Reasoned>, Error> {
        let access = self.store.access().await?.value;
        let told = access.trouble.iter().map(|it| Reasoned {
            code: it.obstacle.code().to_owned(),
            sentence: it.sentence(None),
        });
        Ok(told.collect())
    }
}

fn why_reach(reach: &RepositoryAccess) -> Vec<Reasoned> {
    let told = reach
        .reasons()
        .into_iter()
        .map(|(code, sentence)| Reasoned {
            code: code.to_owned(),
            sentence,
        });
    told.collect()
}
