//! Writes files, commits and branches, and what Gaffer opens or marks by itself.

mod trees;

use async_trait::async_trait;
use domain::failure::{Failure, FailureClass};
use domain::ids::{BranchName, CommitSha, PullRef, RepoName};
use engine::ports::{GitWrite, NewCommit, NewIssue, NewPull, NewStatus, StatusState, TREE_TRAILER};
use serde_json::json;

use super::{Endpoint, Writer};
use crate::client::{branch_path, failure, segment};
use crate::reader::branch::{self, commit_sha};
use crate::reader::hidden;
use crate::text::cut;
use crate::wire::git as wire;

/// GitHub accepts no longer description of a status.
const DESCRIPTION_CHARS_MAX: usize = 140;

#[async_trait]
impl GitWrite for Writer {
    /// A file to remove that is not there is a `Conflict`: GitHub answers 422, and nothing is made.
    ///
    /// Only the first write of a proposal waits for its turn. Its commit, branch and pull request follow at once.
    async fn commit(&self, repo: &RepoName, commit: &NewCommit) -> Result<CommitSha, Failure> {
        let doing = format!("making a commit in {repo}");
        let (tree, begun) = trees::make(self, repo, commit, &doing).await?;
        let message = if commit.names_tree {
            format!("{}\n{TREE_TRAILER}{tree}", commit.message)
        } else {
            commit.message.clone()
        };
        let body = json!({ "message": message, "tree": tree, "parents": commit.parents });
        let to = Endpoint::post(repo, "git/commits");
        let answer = if begun {
            self.follow_up(to, body, &doing).await?
        } else {
            self.send_below(to, body, &doing).await?
        };
        let made: wire::GitCommit = answer.json(&doing)?;
        commit_sha(&made.sha, &doing)
    }

    async fn create_branch(
        &self,
        repo: &RepoName,
        branch: &BranchName,
        commit: &CommitSha,
    ) -> Result<(), Failure> {
        let doing = format!("making {repo}'s branch {branch} at {commit}");
        let body = json!({ "ref": format!("refs/heads/{branch}"), "sha": commit });
        let made = self
            .follow_up(Endpoint::post(repo, "git/refs"), body, &doing)
            .await;
        let refusal = match made {
            Err(refusal) if says(&refusal, "Reference already exists") => refusal,
            made => return made.map(drop),
        };
        match branch::sha(self.client(), repo, branch).await? {
            Some(found) if found == *commit => Ok(()),
            Some(found) => {
                let message = format!("{doing}: it is there already, at {found}");
                Err(failure(FailureClass::Conflict, &message))
            }
            None => Err(refusal),
        }
    }

    async fn move_branch(
        &self,
        repo: &RepoName,
        branch: &BranchName,
        commit: &CommitSha,
    ) -> Result<(), Failure> {
        let doing = format!("moving {repo}'s branch {branch} on to {commit}");
        // GitHub refuses what would lose a commit.
        let body = json!({ "sha": commit, "force": false });
        let path = format!("git/refs/heads/{}", branch_path(branch.as_str()));
        self.follow_up(Endpoint::patch(repo, &path), body, &doing)
            .await
            .map(drop)
    }

    async fn edit_pull(&self, pull: &PullRef, title: &str, body: &str) -> Result<(), Failure> {
        let doing = format!("changing the title and the body of {pull}");
        let body = json!({ "title": title, "body": body });
        let path = format!("pulls/{}", pull.number);
        self.follow_up(Endpoint::patch(&pull.repo, &path), body, &doing)
            .await
            .map(drop)
    }

    async fn unlabel(&self, pull: &PullRef, label: &str) -> Result<(), Failure> {
        let doing = format!("taking the label `{label}` off {pull}");
        let path = format!("issues/{}/labels/{}", pull.number, segment(label));
        let call = self.below(Endpoint::delete(&pull.repo, &path), None, &doing);
        match self.send(call).await {
            Err(refusal) if refusal.class == FailureClass::NotFound => Ok(()),
            taken => taken.map(drop),
        }
    }

    async fn open_pull(&self, repo: &RepoName, pull: &NewPull) -> Result<PullRef, Failure> {
        let doing = format!("opening a pull request from {repo}'s branch {}", pull.head);
        let body = json!({
            "head": pull.head, "base": pull.base, "title": pull.title, "body": pull.body,
        });
        let answer = self.follow_up(Endpoint::post(repo, "pulls"), body, &doing);
        let opened: wire::Opened = answer.await?.json(&doing)?;
        Ok(PullRef {
            repo: repo.clone(),
            number: opened.number,
        })
    }

    async fn set_status(
        &self,
        repo: &RepoName,
        commit: &CommitSha,
        status: &NewStatus,
    ) -> Result<(), Failure> {
        let doing = format!(
            "setting the status {} of {commit} in {repo}",
            status.context
        );
        let state = match status.state {
            StatusState::Pending => "pending",
            StatusState::Success => "success",
            StatusState::Failure => "failure",
        };
        let description = cut(status.description.clone(), DESCRIPTION_CHARS_MAX);
        let body = json!({ "state": state, "context": status.context, "description": description });
        let path = format!("statuses/{commit}");
        self.act(Endpoint::post(repo, &path), body, &doing).await
    }

    async fn open_issue(&self, repo: &RepoName, issue: &NewIssue) -> Result<u64, Failure> {
        let doing = format!("opening an issue in {repo}");
        let text = format!("{}\n\n{}", issue.body, hidden(&issue.marker));
        let body = json!({ "title": issue.title, "body": text, "labels": [issue.label] });
        let answer = self.send_below(Endpoint::post(repo, "issues"), body, &doing);
        let opened: wire::Opened = answer.await?.json(&doing)?;
        Ok(opened.number)
    }

    async fn put_label(
        &self,
        repo: &RepoName,
        name: &str,
        colour: &str,
        description: &str,
    ) -> Result<(), Failure> {
        let doing = format!("making the label `{name}` in {repo}");
        let mut body = json!({ "name": name, "color": colour, "description": description });
        let made = self.send_below(Endpoint::post(repo, "labels"), body.clone(), &doing);
        match made.await {
            Err(refusal) if says(&refusal, "already_exists") => {}
            made => return made.map(drop),
        }
        let doing = format!("changing the label `{name}` in {repo}");
        if let Some(members) = body.as_object_mut() {
            members.remove("name");
        }
        let path = format!("labels/{}", segment(name));
        self.follow_up(Endpoint::patch(repo, &path), body, &doing)
            .await
            .map(drop)
    }
}

/// Whether GitHub refuses with these words.
fn says(failure: &Failure, words: &str) -> bool {
    failure.class == FailureClass::Conflict && failure.message.contains(words)
}
