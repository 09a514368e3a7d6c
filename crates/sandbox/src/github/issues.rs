//! Issues as people change them: opened, edited, labelled, closed, deleted, transferred.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::GitHub;
use super::events::IssueEvent;
use super::records::{Comment, Gone, Issue, User};
use super::setup::NewIssue;
use super::view::{self, IssueView};
use super::world::{GitHubRefusal, GitHubWorld};

/// A change of an issue's text; what is `None` stays.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextEdit<'a> {
    pub(crate) title: Option<&'a str>,
    pub(crate) body: Option<&'a str>,
}

impl GitHub {
    /// Opens an issue and answers its number.
    pub fn open_issue(&self, now: Timestamp, repo: &str, issue: NewIssue) -> u64 {
        let mut world = self.world();
        world.ensure_repo(now, repo);
        world.open_issue(now, repo, issue).unwrap_or_default()
    }

    /// Changes the title and the body of an issue as its author would; an unknown number changes nothing.
    pub fn edit_issue(&self, now: Timestamp, repo: &str, number: u64, (title, body): (&str, &str)) {
        let edit = TextEdit {
            title: Some(title),
            body: Some(body),
        };
        drop(self.world().edit_issue(now, repo, number, edit));
    }

    /// Closes a pull request or an issue as its repository's owner would; an unknown number changes nothing.
    pub fn close(&self, now: Timestamp, repo: &str, number: u64) {
        let mut world = self.world();
        let owner = world.owner_of(repo);
        drop(world.close(now, repo, number, &owner));
    }

    /// The same as a named user.
    pub fn close_as(&self, now: Timestamp, repo: &str, number: u64, login: &str) {
        let closer = User::named(login);
        drop(self.world().close(now, repo, number, &closer));
    }

    /// Opens a closed pull request or issue again as a person would; leaves a merged or unknown one unchanged.
    pub fn reopen(&self, now: Timestamp, repo: &str, number: u64) {
        drop(self.world().reopen(now, repo, number));
    }

    /// Writes a comment as a user; an unknown number changes nothing.
    pub fn comment(&self, now: Timestamp, repo: &str, number: u64, (login, body): (&str, &str)) {
        drop(self.world().comment(now, repo, number, (login, body)));
    }

    /// Changes the text of a comment, as a user who may; an unknown one changes nothing.
    pub fn edit_comment(&self, now: Timestamp, repo: &str, id: u64, body: &str) {
        drop(self.world().edit_comment(now, repo, id, body));
    }

    /// Deletes a comment; an unknown one changes nothing.
    pub fn delete_comment(&self, now: Timestamp, repo: &str, id: u64) {
        drop(self.world().delete_comment(now, repo, id));
    }

    /// The labels that were made in a repository, each with its colour and its description.
    #[must_use]
    pub fn labels(&self, repo: &str) -> BTreeMap<String, (String, String)> {
        let world = self.world();
        let found = world.repo(repo).ok();
        found.map(|found| found.labels.clone()).unwrap_or_default()
    }

    /// Adds a label as a user; an unknown number changes nothing.
    pub fn add_label(&self, now: Timestamp, repo: &str, number: u64, label: &str) {
        let labels = [label.to_owned()];
        drop(self.world().add_labels(now, repo, number, &labels));
    }

    /// Takes a label off as a user; an unknown number or label changes nothing.
    pub fn remove_label(&self, now: Timestamp, repo: &str, number: u64, label: &str) {
        drop(self.world().remove_label(now, repo, number, label));
    }

    /// Deletes an issue, as an administrator may; from then on it answers 410.
    pub fn delete_issue(&self, now: Timestamp, repo: &str, number: u64) {
        drop(self.world().delete_issue(now, repo, number));
    }

    /// Moves an issue to another repository, which must exist, and answers its number there.
    /// Its old address leads on to it.
    pub fn transfer_issue(&self, now: Timestamp, repo: &str, number: u64, to: &str) -> Option<u64> {
        self.world().transfer_issue(now, repo, number, to).ok()
    }

    /// Whether an issue or pull request is closed; `None` when it does not exist.
    #[must_use]
    pub fn is_closed(&self, repo: &str, number: u64) -> Option<bool> {
        let world = self.world();
        world
            .issue(repo, number)
            .ok()
            .map(|issue| issue.closed_at.is_some())
    }

    /// An issue that is no pull request; `None` when it does not exist.
    #[must_use]
    pub fn issue(&self, repo: &str, number: u64) -> Option<IssueView> {
        view::load_issue(&self.world(), repo, number)
    }

    /// The numbers of all issues of a repository that are no pull requests.
    #[must_use]
    pub fn issues(&self, repo: &str) -> Vec<u64> {
        let world = self.world();
        let Ok(found) = world.repo(repo) else {
            return Vec::new();
        };
        let numbers = found.issues.keys().copied();
        numbers
            .filter(|number| !found.pulls.contains_key(number))
            .collect()
    }
}

impl GitHubWorld {
    /// An issue or a pull request; one that was deleted is refused in other words than one that never was.
    pub(crate) fn issue(&self, repo: &str, number: u64) -> Result<&Issue, GitHubRefusal> {
        let found = self.repo(repo)?;
        match (found.issues.get(&number), found.gone.get(&number)) {
            (Some(issue), _) => Ok(issue),
            (None, Some(Gone::Deleted)) => Err(GitHubRefusal::new(410, "This issue was deleted")),
            (None, Some(Gone::Transferred { .. }) | None) => Err(GitHubRefusal::not_found()),
        }
    }

    pub(crate) fn issue_mut(
        &mut self,
        repo: &str,
        number: u64,
    ) -> Result<&mut Issue, GitHubRefusal> {
        self.repo_mut(repo)?
            .issues
            .get_mut(&number)
            .ok_or_else(GitHubRefusal::not_found)
    }

    fn owner_of(&self, repo: &str) -> User {
        User::named(self.repo(repo).map_or("ghost", |repo| repo.owner()))
    }

    /// Changes the text of an issue or a pull request; the same text changes nothing.
    pub(crate) fn edit_issue(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
        edit: TextEdit<'_>,
    ) -> Result<(), GitHubRefusal> {
        let is_pull = self.pull(repo, number).is_ok();
        let issue = self.issue_mut(repo, number)?;
        let title = replaced(&mut issue.title, edit.title);
        let body = replaced(&mut issue.body, edit.body);
        if title.is_none() && body.is_none() {
            return Ok(());
        }
        issue.updated_at = now;
        if !is_pull {
            self.tell_issue(now, repo, number, IssueEvent::Edited { title, body });
        }
        Ok(())
    }

    /// Closes a pull request or an issue without merging; one that is closed stays as it is.
    pub(crate) fn close(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
        by: &User,
    ) -> Result<(), GitHubRefusal> {
        if self.issue(repo, number)?.closed_at.is_some() {
            return Ok(());
        }
        self.freeze_base(repo, number)?;
        let is_pull = self.pull(repo, number).is_ok();
        let issue = self.issue_mut(repo, number)?;
        issue.closed_at = Some(now);
        issue.closed_by = Some(by.clone());
        issue.state_reason = (!is_pull).then(|| "completed".to_owned());
        issue.updated_at = now;
        self.tell_closed(now, repo, number);
        Ok(())
    }

    /// Opens a closed pull request or issue again; refuses a merged one.
    pub(crate) fn reopen(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
    ) -> Result<(), GitHubRefusal> {
        let pull = self.pull(repo, number);
        let merged = pull.as_ref().is_ok_and(|pull| pull.merged.is_some());
        let is_pull = pull.is_ok();
        if merged {
            return Err(GitHubRefusal::new(422, "Validation Failed"));
        }
        let issue = self.issue_mut(repo, number)?;
        if issue.closed_at.is_none() {
            return Ok(());
        }
        issue.closed_at = None;
        issue.closed_by = None;
        issue.state_reason = (!is_pull).then(|| "reopened".to_owned());
        issue.updated_at = now;
        if is_pull {
            self.pull_mut(repo, number)?.changed_at = now;
        }
        self.tell_reopened(now, repo, number);
        Ok(())
    }

    fn delete_issue(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
    ) -> Result<(), GitHubRefusal> {
        self.is_issue_only(repo, number)?;
        self.tell_issue(now, repo, number, IssueEvent::Deleted);
        self.take_away(repo, number, Gone::Deleted).map(drop)
    }

    fn transfer_issue(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
        to: &str,
    ) -> Result<u64, GitHubRefusal> {
        self.is_issue_only(repo, number)?;
        let mut moved = self.issue(repo, number)?.clone();
        let id = self.next_id();
        let target = self.repo_mut(to)?;
        let (there, target_id) = (target.next_number, target.id);
        target.next_number += 1;
        moved.id = id;
        moved.number = there;
        moved.updated_at = now;
        // Only labels that the other repository has too go along.
        moved
            .labels
            .retain(|label| target.setup.admin.labels.contains(label));
        target.issues.insert(there, moved);
        let event = IssueEvent::Transferred {
            repo: to.to_owned(),
            number: there,
        };
        self.tell_issue(now, repo, number, event);
        let gone = Gone::Transferred {
            repo: target_id,
            number: there,
        };
        let comments = self.take_away(repo, number, gone)?;
        let comments = comments.into_iter().map(|mut comment| {
            comment.number = there;
            comment
        });
        self.repo_mut(to)?.comments.extend(comments);
        self.tell_issue(now, to, there, IssueEvent::Opened);
        Ok(there)
    }

    /// Removes an issue from its repository, and answers the comments that it had.
    fn take_away(
        &mut self,
        repo: &str,
        number: u64,
        gone: Gone,
    ) -> Result<Vec<Comment>, GitHubRefusal> {
        let found = self.repo_mut(repo)?;
        found.issues.remove(&number);
        found.gone.insert(number, gone);
        let of_issue = |comment: &mut Comment| comment.number == number;
        Ok(found.comments.extract_if(.., of_issue).collect())
    }

    /// Refuses pull requests, which are neither deleted nor transferred.
    fn is_issue_only(&self, repo: &str, number: u64) -> Result<(), GitHubRefusal> {
        self.issue(repo, number)?;
        match self.pull(repo, number) {
            Ok(_) => Err(GitHubRefusal::not_found()),
            Err(_) => Ok(()),
        }
    }
}

/// Replaces a text by another one, and answers the old one.
fn replaced(text: &mut String, by: Option<&str>) -> Option<String> {
    let by = by.filter(|by| *by != text.as_str())?;
    Some(std::mem::replace(text, by.to_owned()))
}
