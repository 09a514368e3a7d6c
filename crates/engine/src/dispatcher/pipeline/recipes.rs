//! What pull requests of Gaffer's own change: their files are computed from commits.

use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, RepoName, StreamName};
use domain::job::Job;
use domain::pipeline::{Recipe, TreeShas};
use scaffold::layout::{CONTROL, SYSTEM};
use scaffold::tree::{Tree, TreePath};
use scaffold::{config, doctor, exchange, mock};

use super::publishing;
use super::trials::edit;
use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::ports::{Edit, NewCommit};

impl Dispatcher {
    /// The commit of a recipe; none if it changes nothing.
    pub(super) async fn recipe(
        &self,
        job: &Job,
        recipe: &Recipe,
    ) -> Result<Option<NewCommit>, Error> {
        let (repo, message) = (&job.repo, job.title.clone());
        match recipe {
            Recipe::Bootstrap(shas) => Ok(self.bootstrap(repo, shas, message).await?),
            Recipe::Tidy {
                worker,
                requirement,
            } => {
                let tree = self.readers.git.tree(repo, worker, &[SYSTEM]).await?;
                let changes = exchange::removal(&tree, requirement).into_iter();
                Ok(changed(worker, changes.map(edit), message))
            }
            Recipe::Publish { worker } => {
                let tree = self.readers.git.tree(repo, worker, &[SYSTEM]).await?;
                let files = publishing::proposals(&tree).into_iter().map(|it| it.path);
                Ok(changed(worker, files.map(Edit::Remove), message))
            }
            Recipe::Clean { worker, tag } => {
                let tree = self.readers.git.tree(repo, worker, &[SYSTEM]).await?;
                let files = mock::traces(&tree, tag).into_iter();
                Ok(changed(worker, files.map(Edit::Remove), message))
            }
            Recipe::Labels { .. } => Ok(None),
            Recipe::Mock { base, range, today } => {
                let edits = Box::pin(self.made_up(job, range, *today)).await?;
                Ok(changed(base, edits.into_iter(), message))
            }
        }
    }

    /// The target's files with the worker's system folder in them, and the system's own files as they have to be: never
    /// a conflict, since both branches are parents. None where a new branch begins with all of them.
    async fn bootstrap(
        &self,
        repo: &RepoName,
        shas: &TreeShas,
        message: String,
    ) -> Result<Option<NewCommit>, Failure> {
        let tree = self.readers.git.tree(repo, &shas.worker, &[SYSTEM]).await?;
        let control = self
            .readers
            .git
            .tree(repo, &shas.target, &[CONTROL])
            .await?;
        let files = doctor::system(&tree, &streams(&control))
            .map_err(|error| Failure::new(FailureClass::Precondition, error.to_string()))?;
        let written: Vec<_> = files
            .into_iter()
            .filter(|file| tree.text(file.path.as_str()) != Some(file.text))
            .map(|file| Edit::Write(file.path, file.text.to_owned()))
            .collect();
        if written.is_empty() && shas.worker == shas.target {
            return Ok(None);
        }
        let folder = SYSTEM.parse::<TreePath>().ok().filter(|_| !tree.is_empty());
        let taken = folder.map(|folder| Edit::TakeFolder(folder, shas.worker.clone()));
        let parents = match shas.worker == shas.target {
            true => vec![shas.worker.clone()],
            false => vec![shas.worker.clone(), shas.target.clone()],
        };
        Ok(Some(NewCommit {
            parents,
            files_of: shas.target.clone(),
            edits: taken.into_iter().chain(written).collect(),
            kept: Vec::new(),
            message,
            names_tree: false,
        }))
    }
}

/// The streams of a repository's settings; the run itself refuses settings that cannot be read.
fn streams(control: &Tree) -> Vec<StreamName> {
    let config = config::read(control);
    config
        .map(|config| doctor::streams(&config))
        .unwrap_or_default()
}

/// A commit of these edits; none without any.
fn changed(
    worker: &CommitSha,
    edits: impl Iterator<Item = Edit>,
    message: String,
) -> Option<NewCommit> {
    let edits: Vec<_> = edits.collect();
    (!edits.is_empty()).then(|| NewCommit {
        parents: vec![worker.clone()],
        files_of: worker.clone(),
        edits,
        kept: Vec::new(),
        message,
        names_tree: false,
    })
}
