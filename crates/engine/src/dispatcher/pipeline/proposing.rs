//! Pull requests of Gaffer's own: their files are computed from commits, and each is found by its branch before it is opened.

use domain::effect::{Action, EffectFinding};
use domain::failure::{Failure, FailureClass};
use domain::ids::{BranchName, CommitSha, JobId, PullRef, RepoName};
use domain::job::{self, Job, JobPhase, PROPOSED_LOOK};
use domain::pipeline::Recipe;
use domain::policy::Timing;
use jiff::SignedDuration;

use crate::backend::{Error, decide_again, ignore_conflict};
use crate::dispatcher::Dispatcher;
use crate::dispatcher::effects::EffectOutcome;
use crate::keys;
use crate::ports::{FoundPull, NewCommit, NewPull};
use crate::store::Versioned;
use crate::work::Work;

/// A pull request of our own that is to be open.
#[derive(Clone, Copy)]
struct WantedPull<'a> {
    repo: &'a RepoName,
    /// The branch that has the change.
    branch: &'a BranchName,
    /// The branch to change.
    base: &'a BranchName,
}

impl Dispatcher {
    /// Opens a pull request of our own, unless it is open already or there is nothing to change.
    pub(in crate::dispatcher) async fn propose(
        &self,
        job: &JobId,
        repo: &RepoName,
        base: &BranchName,
        recipe: &Recipe,
    ) -> Result<EffectOutcome, Error> {
        let job = self.backend.must_job(job).await?.value;
        let Some(branch) = job.proposal_branch() else {
            return Ok(EffectOutcome::Proposed(None));
        };
        let wanted = WantedPull {
            repo,
            branch: &branch,
            base,
        };
        match self.opened(&job, wanted, recipe).await {
            Err(Error::Outside(failure)) => Ok(EffectOutcome::Failed(failure)),
            // Whether it is still wanted is asked before the next attempt.
            Err(Error::NotNow(why)) => {
                let failure = Failure::new(FailureClass::Unavailable, why.to_string());
                Ok(EffectOutcome::Failed(failure.never_sent()))
            }
            outcome => outcome,
        }
    }

    async fn opened(
        &self,
        job: &Job,
        wanted: WantedPull<'_>,
        recipe: &Recipe,
    ) -> Result<EffectOutcome, Error> {
        let WantedPull { repo, branch, base } = wanted;
        let prepared = self.prepared(job, wanted, recipe).await;
        // Until here nothing was opened, whatever went wrong.
        let made = match prepared.map_err(never_sent)? {
            Prepared::Nothing => return Ok(EffectOutcome::Proposed(None)),
            Prepared::Open(pull, head) => return Ok(EffectOutcome::Proposed(Some((pull, head)))),
            Prepared::Branch(made) => made,
        };
        let new = NewPull {
            head: branch.clone(),
            base: base.clone(),
            title: job.title.clone(),
            body: job.prompt.clone(),
        };
        match self.writers.git.open_pull(repo, &new).await {
            Ok(pull) => Ok(EffectOutcome::Proposed(Some((pull, made)))),
            // GitHub refuses a second one: the answer to the first may have been lost.
            Err(failure) if failure.class == FailureClass::Conflict => {
                match self.readers.git.pull_of(repo, branch).await? {
                    Some(found) => {
                        let opened = ours(Some(&made), found, branch)?;
                        Ok(EffectOutcome::Proposed(Some(opened)))
                    }
                    None => Err(failure.into()),
                }
            }
            Err(failure) => Err(failure.into()),
        }
    }

    /// Makes the branch that has the one commit of ours, unless its pull request is open already.
    async fn prepared(
        &self,
        job: &Job,
        wanted: WantedPull<'_>,
        recipe: &Recipe,
    ) -> Result<Prepared, Error> {
        let WantedPull { repo, branch, base } = wanted;
        let git = &self.readers.git;
        if let Some(found) = git.pull_of(repo, branch).await? {
            let (pull, head) = ours(job.committed(), found, branch)?;
            return Ok(Prepared::Open(pull, head));
        }
        let made = match job.committed() {
            Some(made) => made.clone(),
            None => match self.recipe(job, recipe).await? {
                None => {
                    if let Recipe::Bootstrap(_) = recipe {
                        self.begin_branch(repo, base, recipe).await?;
                    }
                    return Ok(Prepared::Nothing);
                }
                Some(commit) => self.commit_of(job, &commit).await?,
            },
        };
        self.begin_branch(repo, base, recipe).await?;
        match git.tip(repo, branch).await? {
            // An earlier attempt went as far as this.
            Some(head) if head == made => {}
            Some(_foreign) => return Err(not_ours(branch).into()),
            None => self.writers.git.create_branch(repo, branch, &made).await?,
        }
        Ok(Prepared::Branch(made))
    }

    /// Makes the branch that the commit is for, if there is none: a worker branch begins with the code.
    async fn begin_branch(
        &self,
        repo: &RepoName,
        base: &BranchName,
        recipe: &Recipe,
    ) -> Result<(), Error> {
        if self.readers.git.tip(repo, base).await?.is_none() {
            let start = recipe.start();
            self.writers.git.create_branch(repo, base, start).await?;
        }
        Ok(())
    }

    /// Makes the commit, and saves which one it is before a branch names it: any other commit on that branch is not ours. One that an
    /// earlier attempt saved is kept.
    async fn commit_of(&self, job: &Job, commit: &NewCommit) -> Result<CommitSha, Error> {
        let made = &self.writers.git.commit(&job.repo, commit).await?;
        decide_again(format!("the commit of job {}", job.id), || async move {
            let found = self.backend.must_job(&job.id).await?;
            let step = job::committed(&found.value, made)?;
            let kept = step.aggregate.committed().unwrap_or(made).clone();
            let mut unit = self.backend.unit();
            self.backend
                .save_job(&mut unit, Some(&found), &step)
                .await?;
            Ok::<_, Error>(self.backend.try_commit(unit).await?.then_some(kept))
        })
        .await
    }

    /// Whether a pull request of ours is open after all.
    pub(in crate::dispatcher) async fn was_proposed(
        &self,
        job: &JobId,
        repo: &RepoName,
    ) -> Result<(EffectFinding, EffectOutcome), Error> {
        let job = self.backend.must_job(job).await?.value;
        let nothing = (EffectFinding::NoTrace, EffectOutcome::Done);
        let Some(branch) = job.proposal_branch() else {
            return Ok(nothing);
        };
        Ok(match self.readers.git.pull_of(repo, &branch).await {
            // One that was opened for a job which is over is closed.
            Ok(Some(found)) if job.is_ended() || job.committed() == Some(&found.head) => {
                let opened = Some((found.pull, found.head));
                (EffectFinding::Happened, EffectOutcome::Proposed(opened))
            }
            // The next attempt finds a foreign one, and says so.
            Ok(_) => nothing,
            Err(_unread) => (EffectFinding::CannotTell, EffectOutcome::Done),
        })
    }

    /// Looks at a job without a session: its pull request settles it. What was lost on the way there ends it, or is asked for again.
    pub(in crate::dispatcher) async fn look_at_proposal(
        &self,
        id: &JobId,
        timing: &Timing,
    ) -> Result<(), Error> {
        self.settle_with_pull(id).await?;
        let Some(found) = self.backend.store.job(id).await? else {
            return Ok(());
        };
        let JobPhase::Proposed { pull, .. } = &found.value.phase else {
            return Ok(());
        };
        let now = self.backend.now();
        if job::deadline(&found.value, timing).is_none_or(|due| due > now) {
            return Ok(());
        }
        match pull {
            // A sprint opens it with a later weave, and ends the job itself.
            None if found.value.sprint().is_some() => {}
            None if !self.is_opening(id).await? => return self.end_lost(&found).await,
            Some(pull) if self.backend.store.pull(pull).await?.is_none() => {
                let look = Work::Pull {
                    pull: pull.clone(),
                    job: Some(id.clone()),
                    received_at: None,
                };
                self.backend
                    .queue
                    .send(&look.to_body(), SignedDuration::ZERO)
                    .await?;
            }
            None | Some(_) => {}
        }
        self.backend.put_off(&keys::job(id), PROPOSED_LOOK).await
    }

    /// Whether the effect that opens the pull request of a job goes on.
    async fn is_opening(&self, id: &JobId) -> Result<bool, Error> {
        let effects = self.backend.store.effects(&keys::job_pk(id)).await?;
        Ok(effects.iter().any(|found| {
            matches!(found.value.action, Action::Repo(_)) && !found.value.is_settled()
        }))
    }

    async fn end_lost(&self, found: &Versioned<Job>) -> Result<(), Error> {
        let lost = Failure::new(FailureClass::Conflict, "its pull request was never opened");
        let step = job::proposal_failed(&found.value, &lost, self.backend.now());
        let mut unit = self.backend.unit();
        self.backend.save_job(&mut unit, Some(found), &step).await?;
        ignore_conflict(self.backend.commit(unit).await)
    }
}

/// How far a pull request of ours is before it is opened.
enum Prepared {
    /// There is nothing to change.
    Nothing,
    /// It is open already.
    Open(PullRef, CommitSha),
    /// Its branch has this commit.
    Branch(CommitSha),
}

fn never_sent(error: Error) -> Error {
    if let Error::Outside(failure) = error {
        return Error::Outside(failure.never_sent());
    }
    error
}

/// A pull request that was found on our branch, if it has our commit.
fn ours(
    made: Option<&CommitSha>,
    found: FoundPull,
    branch: &BranchName,
) -> Result<(PullRef, CommitSha), Error> {
    if made != Some(&found.head) {
        return Err(not_ours(branch).into());
    }
    Ok((found.pull, found.head))
}

fn not_ours(branch: &BranchName) -> Failure {
    let message = format!(
        "the branch `{branch}` has a commit that Gaffer did not make: delete the branch, and begin again"
    );
    Failure::new(FailureClass::Conflict, message)
}
