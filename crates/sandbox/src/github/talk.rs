//! What people and bots say: issues, comments, labels, reviews.

use jiff::Timestamp;

use super::events::{IssueEvent, PullEvent};
use super::records::{Comment, Issue, Review, User};
use super::setup::NewIssue;
use super::world::{GitHubRefusal, GitHubWorld};

impl GitHubWorld {
    /// Opens an issue and answers its number.
    pub(crate) fn open_issue(
        &mut self,
        now: Timestamp,
        repo: &str,
        new: NewIssue,
    ) -> Result<u64, GitHubRefusal> {
        let id = self.next_id();
        let author = User::named(&new.author_login);
        let association = self.association(repo, &author.login);
        let found = self.repo_mut(repo)?;
        let number = found.next_number;
        found.next_number += 1;
        let issue = Issue {
            id,
            number,
            title: new.title,
            body: new.body,
            author,
            association,
            labels: new.labels,
            created_at: now,
            updated_at: now,
            closed_at: None,
            closed_by: None,
            state_reason: None,
        };
        found.issues.insert(number, issue);
        self.tell_issue(now, repo, number, IssueEvent::Opened);
        Ok(number)
    }

    /// `author_association` of someone who talks.
    pub(crate) fn association(&self, repo: &str, login: &str) -> String {
        let Ok(found) = self.repo(repo) else {
            return "NONE".to_owned();
        };
        let known = found.setup.collaborators.contains_key(login);
        let word = if found.owner() == login {
            "OWNER"
        } else if known {
            "COLLABORATOR"
        } else {
            "NONE"
        };
        word.to_owned()
    }

    /// `admin`, `write`, `read` or `none`.
    pub(crate) fn permission_of(&self, repo: &str, login: &str) -> Result<String, GitHubRefusal> {
        let found = self.repo(repo)?;
        if found.owner().eq_ignore_ascii_case(login) {
            return Ok("admin".to_owned());
        }
        let granted = found.setup.collaborators.get(login).cloned();
        Ok(granted.unwrap_or_else(|| if found.setup.private { "none" } else { "read" }.to_owned()))
    }

    /// Writes a comment on an issue or pull request.
    pub(crate) fn comment(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
        (login, body): (&str, &str),
    ) -> Result<Comment, GitHubRefusal> {
        self.issue(repo, number)?;
        let comment = Comment {
            id: self.next_id(),
            number,
            author: User::named(login),
            association: self.association(repo, login),
            body: body.to_owned(),
            created_at: now,
            updated_at: now,
        };
        self.repo_mut(repo)?.comments.push(comment.clone());
        self.issue_mut(repo, number)?.updated_at = now;
        self.tell_comment(now, repo, &comment, "created");
        Ok(comment)
    }

    /// Changes the text of a comment.
    pub(crate) fn edit_comment(
        &mut self,
        now: Timestamp,
        repo: &str,
        id: u64,
        body: &str,
    ) -> Result<Comment, GitHubRefusal> {
        let mut comments = self.repo_mut(repo)?.comments.iter_mut();
        let comment = comments
            .find(|comment| comment.id == id)
            .ok_or_else(GitHubRefusal::not_found)?;
        comment.body = body.to_owned();
        comment.updated_at = now;
        let comment = comment.clone();
        self.issue_mut(repo, comment.number)?.updated_at = now;
        self.tell_comment(now, repo, &comment, "edited");
        Ok(comment)
    }

    /// Takes a comment away.
    pub(crate) fn delete_comment(
        &mut self,
        now: Timestamp,
        repo: &str,
        id: u64,
    ) -> Result<(), GitHubRefusal> {
        let comments = &mut self.repo_mut(repo)?.comments;
        let at = comments.iter().position(|comment| comment.id == id);
        let comment = comments.remove(at.ok_or_else(GitHubRefusal::not_found)?);
        self.issue_mut(repo, comment.number)?.updated_at = now;
        self.tell_comment(now, repo, &comment, "deleted");
        Ok(())
    }

    /// Puts labels on; those already there stay single. Returns how many were new.
    pub(crate) fn add_labels(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
        labels: &[String],
    ) -> Result<u64, GitHubRefusal> {
        let mut added = 0;
        for label in labels {
            let issue = self.issue_mut(repo, number)?;
            if issue.labels.contains(label) {
                continue;
            }
            issue.labels.push(label.clone());
            issue.updated_at = now;
            added += 1;
            self.tell_label(now, repo, number, (label, true));
        }
        Ok(added)
    }

    /// Takes a label off.
    pub(crate) fn remove_label(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
        label: &str,
    ) -> Result<(), GitHubRefusal> {
        let issue = self.issue_mut(repo, number)?;
        let Some(at) = issue.labels.iter().position(|known| known == label) else {
            return Err(GitHubRefusal::new(404, "Label does not exist"));
        };
        issue.labels.remove(at);
        issue.updated_at = now;
        self.tell_label(now, repo, number, (label, false));
        Ok(())
    }

    fn tell_label(&mut self, now: Timestamp, repo: &str, number: u64, (label, on): (&str, bool)) {
        let label = label.to_owned();
        if self.pull(repo, number).is_ok() {
            let event = if on {
                PullEvent::Labeled { label }
            } else {
                PullEvent::Unlabeled { label }
            };
            self.tell_pull(now, repo, number, event);
        } else {
            let event = if on {
                IssueEvent::Labeled { label }
            } else {
                IssueEvent::Unlabeled { label }
            };
            self.tell_issue(now, repo, number, event);
        }
    }

    /// Submits a review of the present head: `APPROVED`, `CHANGES_REQUESTED` or `COMMENTED`.
    pub(crate) fn review(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
        (login, state, body): (&str, &str, &str),
    ) -> Result<Review, GitHubRefusal> {
        let commit = self.pull(repo, number)?.head_sha.clone();
        let review = Review {
            id: self.next_id(),
            number,
            author: User::named(login),
            association: self.association(repo, login),
            state: state.to_owned(),
            body: body.to_owned(),
            commit,
            at: now,
        };
        self.repo_mut(repo)?.reviews.push(review.clone());
        self.tell_review(now, repo, &review);
        Ok(review)
    }
}
