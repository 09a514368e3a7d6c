//! Pull requests of Gaffer's own: their files are computed from commits, and each is found by its branch before it is opened.

use domain::effect::{EffectFinding, RepoAction};
use domain::failure::{Failure, FailureClass};
use domain::ids::{BranchName, RepoName};
use domain::job::Job;
use domain::pipeline::{Recipe, RequirementRef, TreeShas};
use scaffold::doctor;
use scaffold::layout::SYSTEM;
use scaffold::tree::TreePath;

use crate::backend::Error;
use crate::dispatcher::Dispatcher;
use crate::dispatcher::effects::EffectOutcome;
use crate::ports::{Edit, NewCommit, NewPull};

impl Dispatcher {
    /// Opens a pull request of our own, unless it is open already or there is nothing to change.
    pub(in crate::dispatcher) async fn propose(
        &self,
        action: &RepoAction,
    ) -> Result<EffectOutcome, Error> {
        let RepoAction::Propose {
            job,
            repo,
            base,
            recipe,
        } = action;
        let job = self.backend.must_job(job).await?.value;
        let Some(branch) = job.proposal_branch() else {
            return Ok(EffectOutcome::Proposed(None));
        };
        let opened = self.opened(&job, (repo, &branch, base), recipe).await;
        Ok(opened.unwrap_or_else(EffectOutcome::Failed))
    }

    async fn opened(
        &self,
        job: &Job,
        (repo, branch, base): (&RepoName, &BranchName, &BranchName),
        recipe: &Recipe,
    ) -> Result<EffectOutcome, Failure> {
        if let Some(found) = self.readers.git.pull_of(repo, branch).await? {
            return Ok(EffectOutcome::Proposed(Some((found.pull, found.head))));
        }
        let Some(commit) = self.recipe(repo, (recipe, &job.title)).await? else {
            return Ok(EffectOutcome::Proposed(None));
        };
        if self.readers.git.tip(repo, base).await?.is_none() {
            // A worker branch begins with the code.
            let start = &commit.files_of;
            self.writers.git.create_branch(repo, base, start).await?;
        }
        let head = match self.readers.git.tip(repo, branch).await? {
            // An earlier attempt went as far as this.
            Some(head) => head,
            None => {
                let head = self.writers.git.commit(repo, &commit).await?;
                self.writers.git.create_branch(repo, branch, &head).await?;
                head
            }
        };
        let new = NewPull {
            head: branch.clone(),
            base: base.clone(),
            title: job.title.clone(),
            body: job.prompt.clone(),
        };
        let pull = self.writers.git.open_pull(repo, &new).await?;
        Ok(EffectOutcome::Proposed(Some((pull, head))))
    }

    /// Whether a pull request of ours is open after all.
    pub(in crate::dispatcher) async fn was_proposed(
        &self,
        action: &RepoAction,
    ) -> Result<(EffectFinding, EffectOutcome), Error> {
        let RepoAction::Propose { job, repo, .. } = action;
        let job = self.backend.must_job(job).await?.value;
        let nothing = (EffectFinding::NoTrace, EffectOutcome::Done);
        let Some(branch) = job.proposal_branch() else {
            return Ok(nothing);
        };
        Ok(match self.readers.git.pull_of(repo, &branch).await {
            Ok(Some(found)) => {
                let opened = Some((found.pull, found.head));
                (EffectFinding::Happened, EffectOutcome::Proposed(opened))
            }
            Ok(None) => nothing,
            Err(_unread) => (EffectFinding::CannotTell, EffectOutcome::Done),
        })
    }

    /// The commit of a recipe; none if it changes nothing.
    async fn recipe(
        &self,
        repo: &RepoName,
        (recipe, message): (&Recipe, &str),
    ) -> Result<Option<NewCommit>, Failure> {
        let message = message.to_owned();
        match recipe {
            Recipe::Bootstrap(shas) => self.bootstrap(repo, shas, message).await.map(Some),
            Recipe::Tidy {
                worker,
                requirement,
            } => {
                let tree = self.readers.git.tree(repo, worker, &[SYSTEM]).await?;
                let files = files_of(requirement).filter(|path| tree.get(path).is_some());
                let edits: Vec<_> = files.map(Edit::Remove).collect();
                Ok((!edits.is_empty()).then(|| NewCommit {
                    parents: vec![worker.clone()],
                    files_of: worker.clone(),
                    edits,
                    message,
                }))
            }
        }
    }

    /// The target's files with the worker's system folder in them, and the system's own files as they have to be: never
    /// a conflict, since both branches are parents.
    async fn bootstrap(
        &self,
        repo: &RepoName,
        shas: &TreeShas,
        message: String,
    ) -> Result<NewCommit, Failure> {
        let tree = self.readers.git.tree(repo, &shas.worker, &[SYSTEM]).await?;
        let files = doctor::system(&tree)
            .map_err(|error| Failure::new(FailureClass::Precondition, error.to_string()))?;
        let written = files
            .into_iter()
            .filter(|file| tree.text(file.path.as_str()) != Some(file.text))
            .map(|file| Edit::Write(file.path, file.text.to_owned()));
        let folder = SYSTEM.parse::<TreePath>().ok().filter(|_| !tree.is_empty());
        let taken = folder.map(|folder| Edit::TakeFolder(folder, shas.worker.clone()));
        let parents = match shas.worker == shas.target {
            true => vec![shas.worker.clone()],
            false => vec![shas.worker.clone(), shas.target.clone()],
        };
        Ok(NewCommit {
            parents,
            files_of: shas.target.clone(),
            edits: taken.into_iter().chain(written).collect(),
            message,
        })
    }
}

/// The files that go once a requirement is implemented.
fn files_of(requirement: &RequirementRef) -> impl Iterator<Item = TreePath> {
    let paths = std::iter::once(&requirement.path).chain(&requirement.events);
    paths.filter_map(|path| path.parse().ok())
}
