//! Deployments of commits to environments, with the statuses that people and programs give them.

use jiff::Timestamp;

use super::GitHub;
use super::records::{Deployment, DeploymentState, DeploymentStatus, User};
use super::world::{GitHubRefusal, GitHubWorld};

/// What deploys, when a test does it.
const DEPLOYER: &str = "deployer[bot]";

impl GitHub {
    /// Deploys a commit to an environment, as a program of the repository's owner would; answers its number, unless there is no
    /// such repository or commit.
    pub fn deploy(&self, now: Timestamp, repo: &str, sha: &str, environment: &str) -> Option<u64> {
        let by = User::named(DEPLOYER);
        let made = self.world().deploy(now, repo, (sha, environment), by);
        made.map(|deployment| deployment.id).ok()
    }

    /// Says how a deployment goes; an unknown one changes nothing.
    pub fn set_deployment(&self, now: Timestamp, repo: &str, id: u64, state: DeploymentState) {
        let by = User::named(DEPLOYER);
        drop(self.world().set_deployment(now, repo, (id, state), by));
    }
}

impl GitHubWorld {
    /// Deploys a branch or a commit to an environment.
    pub(crate) fn deploy(
        &mut self,
        now: Timestamp,
        repo: &str,
        (reference, environment): (&str, &str),
        creator: User,
    ) -> Result<Deployment, GitHubRefusal> {
        let id = self.next_id();
        let found = self.repo(repo)?;
        let sha = match found.tip(reference) {
            "" => reference,
            tip => tip,
        };
        if !self.commits.contains_key(sha) {
            let message = format!("No ref found for: {reference}");
            return Err(GitHubRefusal::new(422, message));
        }
        let deployment = Deployment {
            id,
            sha: sha.to_owned(),
            reference: reference.to_owned(),
            environment: environment.to_owned(),
            creator,
            created_at: now,
            statuses: Vec::new(),
        };
        let deployments = &mut self.repo_mut(repo)?.deployments;
        deployments.push(deployment.clone());
        Ok(deployment)
    }

    /// Gives a deployment a status. One that succeeds makes the earlier ones of its environment inactive.
    pub(crate) fn set_deployment(
        &mut self,
        now: Timestamp,
        repo: &str,
        (id, state): (u64, DeploymentState),
        creator: User,
    ) -> Result<DeploymentStatus, GitHubRefusal> {
        let (own, next) = (self.next_id(), self.next_id());
        let status = DeploymentStatus {
            id: own,
            state,
            creator,
            at: now,
        };
        let environment = self.deployment(repo, id)?.environment.clone();
        for other in &mut self.repo_mut(repo)?.deployments {
            let last = other.statuses.last().map(|status| status.state);
            if other.id == id {
                other.statuses.push(status.clone());
            } else if state == DeploymentState::Success
                && other.environment == environment
                && last == Some(DeploymentState::Success)
            {
                other.statuses.push(DeploymentStatus {
                    id: next,
                    state: DeploymentState::Inactive,
                    ..status.clone()
                });
            }
        }
        Ok(status)
    }

    pub(crate) fn deployment(&self, repo: &str, id: u64) -> Result<&Deployment, GitHubRefusal> {
        let mut all = self.repo(repo)?.deployments.iter();
        all.find(|deployment| deployment.id == id)
            .ok_or_else(GitHubRefusal::not_found)
    }
}
