//! Reads that must not be led away from their repository.

use domain::failure::{Failure, FailureClass};
use domain::ids::{RepoId, RepoName};

use super::Client;
use super::call::{Answer, Redirection};
use super::refusal::failure;
use crate::wire;

impl Client {
    /// Reads a path below a repository. It is led on only to the same path of the same repository, which was renamed:
    /// an issue that was transferred leads on to another one.
    pub(crate) async fn read_here(
        &self,
        repo: &RepoName,
        path: &str,
        doing: &str,
    ) -> Result<Answer, Failure> {
        let url = self.base().rest(path);
        let address = match self.read_at(repo, url.clone(), doing).await? {
            Redirection::Here(answer) => return Ok(answer),
            Redirection::On(address) => address,
        };
        let id = match self.identity(repo) {
            Some(id) => id,
            None => self.read_identity(repo, doing).await?,
        };
        let moved = || {
            let message = format!("{doing}: it was moved to another repository");
            failure(FailureClass::NotFound, &message)
        };
        if self.by_number(repo, id, &url).as_ref() != Some(&address) {
            return Err(moved());
        }
        match self.read_at(repo, address, doing).await? {
            Redirection::Here(answer) => Ok(answer),
            Redirection::On(_) => Err(moved()),
        }
    }

    async fn read_identity(&self, repo: &RepoName, doing: &str) -> Result<RepoId, Failure> {
        let found: wire::Named = self.get(repo, &format!("/repos/{repo}"), doing).await?;
        let id = RepoId(found.id);
        self.note_identity(repo, id);
        Ok(id)
    }

    /// The address of the same path below the number of a repository.
    pub(super) fn by_number(&self, repo: &RepoName, id: RepoId, url: &str) -> Option<String> {
        let old = self.base().rest(&format!("/repos/{repo}"));
        let rest = url.strip_prefix(&old)?;
        Some(self.base().rest(&format!("/repositories/{id}{rest}")))
    }
}
