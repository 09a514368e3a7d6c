//! Webhooks about issues and their comments.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::pen::{Pen, put};
use super::super::records::{Comment, Issue, User};
use super::super::world::{GitHubRefusal, GitHubWorld, Repo};
use super::PullEvent;

/// An event of an issue that is no pull request.
#[derive(Clone, Debug)]
pub(crate) enum IssueEvent {
    Opened,
    Closed,
    Reopened,
    /// The texts before, of those that changed.
    Edited {
        title: Option<String>,
        body: Option<String>,
    },
    Labeled {
        label: String,
    },
    Unlabeled {
        label: String,
    },
    Deleted,
    /// Where it is now.
    Transferred {
        repo: String,
        number: u64,
    },
}

impl IssueEvent {
    fn action(&self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Closed => "closed",
            Self::Reopened => "reopened",
            Self::Edited { .. } => "edited",
            Self::Labeled { .. } => "labeled",
            Self::Unlabeled { .. } => "unlabeled",
            Self::Deleted => "deleted",
            Self::Transferred { .. } => "transferred",
        }
    }

    /// What the payload has besides the issue.
    fn more(
        &self,
        pen: &Pen<'_>,
        repo: &Repo,
    ) -> Result<Option<(&'static str, Value)>, GitHubRefusal> {
        Ok(match self {
            Self::Opened | Self::Closed | Self::Reopened | Self::Deleted => None,
            Self::Labeled { label } | Self::Unlabeled { label } => {
                Some(("label", pen.label(repo, label)))
            }
            Self::Edited { title, body } => {
                let mut changes = json!({});
                for (field, from) in [("title", title), ("body", body)] {
                    if let Some(from) = from {
                        put(&mut changes, field, json!({ "from": from }));
                    }
                }
                Some(("changes", changes))
            }
            Self::Transferred { repo: to, number } => {
                let there = pen.world.repo(to)?;
                let issue = pen.world.issue(to, *number)?;
                let changes = json!({
                    "new_issue": pen.issue(there, issue),
                    "new_repository": pen.repo(there),
                });
                Some(("changes", changes))
            }
        })
    }

    /// Who did it, where that is known; else its author.
    fn sender(&self, issue: &Issue) -> User {
        match (self, &issue.closed_by) {
            (Self::Closed, Some(closer)) => closer.clone(),
            (_, _) => issue.author.clone(),
        }
    }
}

impl GitHubWorld {
    pub(crate) fn tell_issue(
        &mut self,
        now: Timestamp,
        repo: &str,
        number: u64,
        event: IssueEvent,
    ) {
        let told = self.repo(repo).and_then(|found| {
            let (issue, pen) = (self.issue(repo, number)?, self.pen(now));
            let mut body = json!({ "action": event.action(), "issue": pen.issue(found, issue) });
            if let Some((field, value)) = event.more(&pen, found)? {
                put(&mut body, field, value);
            }
            Ok((body, event.sender(issue)))
        });
        if let Ok(told) = told {
            self.send_event(now, repo, "issues", told);
        }
    }

    /// Tells that a pull request or an issue was closed.
    pub(crate) fn tell_closed(&mut self, now: Timestamp, repo: &str, number: u64) {
        if self.pull(repo, number).is_ok() {
            self.tell_pull(now, repo, number, PullEvent::Closed);
        } else {
            self.tell_issue(now, repo, number, IssueEvent::Closed);
        }
    }

    /// Tells that a pull request or an issue was opened again.
    pub(crate) fn tell_reopened(&mut self, now: Timestamp, repo: &str, number: u64) {
        if self.pull(repo, number).is_ok() {
            self.tell_pull(now, repo, number, PullEvent::Reopened);
        } else {
            self.tell_issue(now, repo, number, IssueEvent::Reopened);
        }
    }

    pub(crate) fn tell_comment(
        &mut self,
        now: Timestamp,
        repo: &str,
        comment: &Comment,
        action: &str,
    ) {
        let told = self.repo(repo).and_then(|found| {
            let issue = self.issue(repo, comment.number)?;
            let pen = self.pen(now);
            Ok(json!({
                "action": action,
                "issue": pen.issue(found, issue),
                "comment": pen.comment(found, comment),
            }))
        });
        if let Ok(body) = told {
            self.send_event(now, repo, "issue_comment", (body, comment.author.clone()));
        }
    }
}
