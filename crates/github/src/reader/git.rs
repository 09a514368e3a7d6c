//! A repository's files, commits and branches.

mod compare;
pub(super) mod kept;
mod tree;
mod weaving;

use async_trait::async_trait;
use domain::failure::{Failure, FailureClass};
use domain::ids::{BranchName, CommitSha, PullRef, RepoId, RepoName};
use engine::ports::{
    CommitDetails, CommitLine, CommitRange, Comparison, FoundPull, GitRead, RootEntry,
};
use scaffold::tree::Tree;
use weave::tree::BlobId;

use super::Reader;
use super::branch::{self, commit_sha};
use crate::client::{Client, PAGE_SIZE, encoded, failure};
use crate::text::cut;
use crate::wire::git as wire;

/// 500 pull requests from one branch: it is opened once, and a few times more at most.
const PULL_PAGES_MAX: usize = 5;

/// A subject is at most this long; git's own tools ask for 50.
const SUBJECT_CHARS_MAX: usize = 256;

#[async_trait]
impl GitRead for Reader {
    async fn tip(
        &self,
        repo: &RepoName,
        branch: &BranchName,
    ) -> Result<Option<CommitSha>, Failure> {
        branch::sha(self.client(), repo, branch).await
    }

    async fn tree(
        &self,
        repo: &RepoName,
        commit: &CommitSha,
        roots: &[&str],
    ) -> Result<Tree, Failure> {
        tree::read(self.client(), repo, commit, roots).await
    }

    async fn root(&self, repo: &RepoName, commit: &CommitSha) -> Result<Vec<RootEntry>, Failure> {
        let doing = format!("reading the root of {repo} at {commit}");
        let path = format!("/repos/{repo}/git/trees/{commit}");
        let found: wire::RestTree = self.client().get(repo, &path, &doing).await?;
        if found.truncated {
            return Err(garbled(&doing, "GitHub does not list it to the end"));
        }
        let entries = found.tree.into_iter().map(|entry| RootEntry {
            name: entry.path,
            mode: entry.mode,
            oid: entry.sha,
        });
        Ok(entries.collect())
    }

    async fn compare(
        &self,
        repo: &RepoName,
        between: CommitRange<'_>,
    ) -> Result<Comparison, Failure> {
        compare::read(self.client(), repo, between).await
    }

    async fn merge_base(
        &self,
        repo: &RepoName,
        between: CommitRange<'_>,
    ) -> Result<CommitSha, Failure> {
        weaving::merge_base(self.client(), repo, between).await
    }

    async fn entries(
        &self,
        repo: &RepoName,
        commit: &CommitSha,
    ) -> Result<weave::tree::Tree, Failure> {
        if let Some(tree) = self.kept().tree(repo, commit) {
            return Ok(tree);
        }
        let tree = weaving::entries(self.client(), repo, commit).await?;
        self.kept().keep_tree(repo, commit, &tree);
        Ok(tree)
    }

    async fn diff(
        &self,
        repo: &RepoName,
        between: CommitRange<'_>,
    ) -> Result<Option<Vec<u8>>, Failure> {
        weaving::diff(self.client(), repo, between).await
    }

    async fn blob(&self, repo: &RepoName, id: BlobId) -> Result<Vec<u8>, Failure> {
        if let Some(bytes) = self.kept().blob(repo, id) {
            return Ok(bytes);
        }
        let bytes = weaving::blob(self.client(), repo, id).await?;
        self.kept().keep_blob(repo, id, &bytes);
        Ok(bytes)
    }

    async fn commit_details(
        &self,
        repo: &RepoName,
        commit: &CommitSha,
    ) -> Result<CommitDetails, Failure> {
        weaving::commit_details(self.client(), repo, commit).await
    }

    async fn log(
        &self,
        repo: &RepoName,
        commit: &CommitSha,
        limit: usize,
    ) -> Result<Vec<CommitLine>, Failure> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let doing = format!("reading the commits of {repo} up to {commit}");
        let path = format!(
            "/repos/{repo}/commits?sha={commit}&per_page={}",
            limit.min(PAGE_SIZE)
        );
        let found: Vec<wire::Commit> = self.client().get(repo, &path, &doing).await?;
        let lines = found.into_iter().take(limit);
        lines.map(|found| line(found, &doing)).collect()
    }

    async fn pull_of(
        &self,
        repo: &RepoName,
        branch: &BranchName,
    ) -> Result<Option<FoundPull>, Failure> {
        let doing = format!("looking for the pull request from {repo}'s branch {branch}");
        let head = encoded(&format!("{}:{branch}", repo.owner()));
        let path = format!("/repos/{repo}/pulls?head={head}&state=all&sort=created&direction=desc");
        let pulls =
            self.client()
                .list::<Vec<wire::PullOfBranch>>(repo, &path, PULL_PAGES_MAX, &doing);
        let own = |pull: &wire::PullOfBranch| {
            let [head, base] = [&pull.head, &pull.base].map(|end| end.repo.as_ref());
            let same = head
                .zip(base)
                .is_some_and(|(head, base)| head.id == base.id);
            same && pull.head.branch == branch.as_str()
        };
        let newest = pulls.await?.into_iter().filter(own);
        let newest = newest.max_by_key(|pull| pull.number);
        let found = newest.map(|pull| {
            Ok(FoundPull {
                head: commit_sha(&pull.head.sha, &doing)?,
                base: pull
                    .base
                    .branch
                    .parse()
                    .map_err(|error| garbled(&doing, &format!("{error}")))?,
                // An unknown state ends nothing.
                is_open: pull.state != "closed",
                pull: PullRef {
                    repo: repo.clone(),
                    number: pull.number,
                },
            })
        });
        found.transpose()
    }
}

/// A commit as a list shows it.
fn line(found: wire::Commit, doing: &str) -> Result<CommitLine, Failure> {
    let subject = found.commit.message.lines().next().unwrap_or_default();
    Ok(CommitLine {
        sha: commit_sha(&found.sha, doing)?,
        subject: cut(subject.to_owned(), SUBJECT_CHARS_MAX),
        at: found.commit.committer.date,
    })
}

/// An answer that cannot be used.
fn garbled(doing: &str, what: &str) -> Failure {
    failure(FailureClass::Garbled, &format!("{doing}: {what}"))
}

/// What GraphQL finds at a path, if the commit is there and the repository is the one that was read before.
pub(crate) fn at_path<T>(
    client: &Client,
    repo: &RepoName,
    found: wire::Folder<T>,
    doing: &str,
) -> Result<Option<T>, Failure> {
    let found = found.repository;
    let other = |id: RepoId| id.0 != found.database_id;
    if client.identity(repo).is_some_and(other) {
        let message = format!("{doing}: another repository bears the name now");
        return Err(failure(FailureClass::Conflict, &message));
    }
    match found.commit {
        Some(object) if object.kind == "Commit" => Ok(found.root),
        Some(_) | None => {
            let message = format!("{doing}: there is no such commit");
            Err(failure(FailureClass::NotFound, &message))
        }
    }
}
