//! Access to GitHub: obstacles to everything, or to one repository.

use domain::github_access::RepositoryAccess;
use domain::ids::RepoName;
use domain::reasoned::Reasoned;
use domain::status::GitHubView;

use super::WhySubject;
use crate::backend::{Backend, Error};

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
    pub(crate) async fn github_status(&self) -> Result<GitHubView, Error> {
        let mut trouble = self.why_access().await?;
        for found in self.store.reaches().await? {
            trouble.extend(why_reach(&found.value));
        }
        let known = self.store.budgets().await?.value;
        Ok(GitHubView {
            trouble,
            budgets: known.budgets,
            budgets_at: known.at,
            usage: known.usage,
        })
    }

    /// Why GitHub does not take our credential, if so.
    async fn why_access(&self) -> Result<Vec<Reasoned>, Error> {
        let access = self.store.access().await?.value;
        let told = access.trouble.iter();
        let told = told.map(|it| Reasoned::new(it.obstacle.code(), &it.sentence(None)));
        Ok(told.collect())
    }
}

fn why_reach(reach: &RepositoryAccess) -> Vec<Reasoned> {
    let told = reach.reasons().into_iter();
    let told = told.map(|(code, sentence)| Reasoned::new(code, &sentence));
    told.collect()
}
