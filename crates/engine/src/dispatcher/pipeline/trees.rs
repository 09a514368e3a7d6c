//! The two trees that a pipeline works by, read at recorded commits.

use std::sync::Arc;

use domain::ids::{CommitSha, RepoName};
use domain::pipeline::TreeShas;
use scaffold::layout::{CONTROL, SYSTEM};
use scaffold::prompt::Trees;
use scaffold::tree::{Tree, TreePath};

use crate::backend::Error;
use crate::dispatcher::Dispatcher;

/// The trees that were read last: a step is planned and begun with the same ones.
#[derive(Default)]
pub(super) struct TreeCache {
    read: Option<(TreeShas, Trees)>,
    /// The files of requirements among them that deliveries have taken, once they were looked for.
    pub(super) taken: Option<Vec<TreePath>>,
}

impl Dispatcher {
    /// Both trees at these commits.
    pub(super) async fn trees_of<'a>(
        &self,
        repo: &RepoName,
        shas: &TreeShas,
        cache: &'a mut TreeCache,
    ) -> Result<&'a Trees, Error> {
        if cache.read.as_ref().is_none_or(|(known, _)| known != shas) {
            let trees = Trees {
                target: Arc::new(self.control_tree(repo, &shas.target).await?),
                worker: Arc::new(self.system_tree(repo, &shas.worker).await?),
            };
            *cache = TreeCache {
                read: Some((shas.clone(), trees)),
                taken: None,
            };
        }
        let found = cache.read.as_ref().map(|(_, trees)| trees);
        found.ok_or_else(|| Error::NoSuch {
            what: "commit",
            name: shas.target.to_string(),
        })
    }

    /// The user's files at a commit.
    pub(in crate::dispatcher) async fn control_tree(
        &self,
        repo: &RepoName,
        commit: &CommitSha,
    ) -> Result<Tree, Error> {
        Ok(self.readers.git.tree(repo, commit, &[CONTROL]).await?)
    }

    /// The system's files at a commit.
    pub(in crate::dispatcher) async fn system_tree(
        &self,
        repo: &RepoName,
        commit: &CommitSha,
    ) -> Result<Tree, Error> {
        Ok(self.readers.git.tree(repo, commit, &[SYSTEM]).await?)
    }
}
