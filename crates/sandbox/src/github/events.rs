//! Sends webhooks about changes, with payloads written from the state.

mod issues;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::access::INSTALLATION_ID;
use super::checks::{Check, Phase, Standing, Status, Suite};
use super::pen::{Pen, WEB, put};
use super::records::{Review, User};
use super::setup::Outcome;
use super::world::{GitHubRefusal, GitHubWorld, Repo, node_id};

pub(crate) use issues::IssueEvent;

/// The SHA by which git says "nothing".
const ZERO_SHA: &str = "0000000000000000000000000000000000000000";

/// An event of a pull request.
#[derive(Clone, Debug)]
pub(crate) enum PullEvent {
    Opened,
    /// The head moved away from this SHA.
    Synchronize {
        before: String,
    },
    Closed,
    Reopened,
    /// The base was changed from this branch, if it was.
    Edited {
        base_from: Option<String>,
    },
    ReadyForReview,
    Labeled {
        label: String,
    },
    Unlabeled {
        label: String,
    },
}

impl PullEvent {
    fn action(&self) -> &'static str {
        match self {
            Self::Opened => "opened",
            Self::Synchronize { .. } => "synchronize",
            Self::Closed => "closed",
            Self::Reopened => "reopened",
            Self::Edited { .. } => "edited",
            Self::ReadyForReview => "ready_for_review",
            Self::Labeled { .. } => "labeled",
            Self::Unlabeled { .. } => "unlabeled",
        }
    }
}

impl GitHubWorld {
    fn pen(&self, now: Timestamp) -> Pen<'_> {
        Pen {
            world: self,
            now,
            api: &self.base,
        }
    }

    /// Writes an event down for delivery, with the repository and its sender.
    fn send_event(
        &mut self,
        now: Timestamp,
        repo: &str,
        event: &str,
        (body, sender): (Value, User),
    ) {
        // Payloads are costly to write, and without a hook they are unused.
        if self.outbox.target.is_none() {
            return;
        }
        let Ok(found) = self.repo(repo) else { return };
        let pen = self.pen(now);
        let mut payload = body;
        put(&mut payload, "repository", pen.repo(found));
        put(&mut payload, "sender", pen.user(&sender));
        let node = node_id("I", INSTALLATION_ID);
        put(
            &mut payload,
            "installation",
            json!({ "id": INSTALLATION_ID, "node_id": node }),
        );
        self.outbox.push(now, event, &payload);
    }

    pub(crate) fn tell_pull(&mut self, now: Timestamp, repo: &str, number: u64, event: PullEvent) {
        if let Ok(told) = self.pull_body(now, repo, number, &event) {
            self.send_event(now, repo, "pull_request", told);
        }
    }

    fn pull_body(
        &self,
        now: Timestamp,
        repo: &str,
        number: u64,
        event: &PullEvent,
    ) -> Result<(Value, User), GitHubRefusal> {
        let (found, pull, issue) = (
            self.repo(repo)?,
            self.pull(repo, number)?,
            self.issue(repo, number)?,
        );
        let pen = self.pen(now);
        let mut body = json!({
            "action": event.action(),
            "number": number,
            "pull_request": pen.whole_pull(found, pull, issue),
        });
        let more = match event {
            PullEvent::Opened
            | PullEvent::Closed
            | PullEvent::Reopened
            | PullEvent::ReadyForReview => json!({}),
            PullEvent::Synchronize { before } => {
                json!({ "before": before, "after": pull.head_sha })
            }
            PullEvent::Edited { base_from } => {
                json!({ "changes": { "base": { "ref": { "from": base_from } } } })
            }
            PullEvent::Labeled { label } | PullEvent::Unlabeled { label } => {
                json!({ "label": pen.label(found, label) })
            }
        };
        if let (Value::Object(body), Value::Object(more)) = (&mut body, more) {
            body.extend(more);
        }
        let sender = pull
            .merged
            .as_ref()
            .map_or_else(|| issue.author.clone(), |merged| merged.by.clone());
        Ok((body, sender))
    }

    pub(crate) fn tell_review(&mut self, now: Timestamp, repo: &str, review: &Review) {
        let told = self.repo(repo).and_then(|found| {
            let (pull, issue) = (self.pull(repo, review.number)?, self.issue(repo, review.number)?);
            let pen = self.pen(now);
            let mut written = pen.review(found, review);
            // Payloads spell the state in lower case, answers in upper case.
            put(&mut written, "state", json!(review.state.to_ascii_lowercase()));
            Ok(json!({ "action": "submitted", "review": written, "pull_request": pen.pull(found, pull, issue) }))
        });
        if let Ok(body) = told {
            self.send_event(
                now,
                repo,
                "pull_request_review",
                (body, review.author.clone()),
            );
        }
    }

    pub(crate) fn tell_check(&mut self, now: Timestamp, repo: &str, check: &Check, was: Phase) {
        let action = match (was, check.phase) {
            (_, Phase::Planned) => return,
            (_, Phase::Completed(_)) => "completed",
            (Phase::Planned | Phase::Completed(_), Phase::Queued | Phase::InProgress) => "created",
            // A check run that goes from queued to in progress sends nothing.
            (Phase::Queued | Phase::InProgress, Phase::Queued | Phase::InProgress) => return,
        };
        let told = self.repo(repo).map(|found| {
            let pen = self.pen(now);
            let mut run = pen.check_run(found, check);
            let suite = found.suites.iter().find(|suite| suite.id == check.suite);
            put(
                &mut run,
                "check_suite",
                suite.map_or(Value::Null, |suite| pen.suite(found, suite)),
            );
            json!({ "action": action, "check_run": run })
        });
        if let Ok(body) = told {
            self.send_event(now, repo, "check_run", (body, self.pusher(&check.sha)));
        }
    }

    /// Sends webhooks about a suite whose standing differs from `before`, and about its workflow run.
    pub(crate) fn tell_suite(
        &mut self,
        now: Timestamp,
        repo: &str,
        suite: &Suite,
        before: Option<Standing>,
    ) {
        let done = matches!(suite.told, Some(Standing::Completed(_)));
        if suite.run.is_some() {
            let waits = self.waits_for_approval(repo, suite);
            let mut actions = Vec::new();
            actions.extend(before.is_none().then_some("requested"));
            actions.extend((suite.told == Some(Standing::InProgress)).then_some("in_progress"));
            actions.extend((done && !waits).then_some("completed"));
            for action in actions {
                self.tell_run(now, repo, suite, action);
            }
        }
        if done {
            let told = self
                .repo(repo)
                .map(|found| self.pen(now).suite(found, suite));
            if let Ok(written) = told {
                let body = json!({ "action": "completed", "check_suite": written });
                self.send_event(now, repo, "check_suite", (body, self.pusher(&suite.sha)));
            }
        }
    }

    fn tell_run(&mut self, now: Timestamp, repo: &str, suite: &Suite, action: &str) {
        let Some(run) = &suite.run else { return };
        let told = self.repo(repo).map(|found| {
            let pen = self.pen(now);
            json!({
                "action": action,
                "workflow_run": pen.workflow_run(found, suite, run),
                "workflow": pen.workflow(found, &run.workflow),
            })
        });
        if let Ok(body) = told {
            self.send_event(now, repo, "workflow_run", (body, self.pusher(&suite.sha)));
        }
    }

    fn waits_for_approval(&self, repo: &str, suite: &Suite) -> bool {
        let waits = |check: &Check| {
            check.suite == suite.id
                && !check.superseded
                && check.outcome == Outcome::ApprovalPending
        };
        self.repo(repo)
            .is_ok_and(|repo| repo.checks.iter().any(waits))
    }

    pub(crate) fn tell_status(&mut self, now: Timestamp, repo: &str, status: &Status) {
        let told = self
            .repo(repo)
            .map(|found| self.status_body(now, found, status));
        if let Ok(body) = told {
            self.send_event(now, repo, "status", (body, status.creator.clone()));
        }
    }

    fn status_body(&self, now: Timestamp, repo: &Repo, status: &Status) -> Value {
        let pen = self.pen(now);
        let holds = |tip: &String| self.ancestors(tip).contains(status.sha.as_str());
        let branches: Vec<Value> = repo
            .branches
            .iter()
            .filter(|(_, tip)| holds(tip))
            .map(|(name, tip)| {
                let url = format!("{}/commits/{tip}", pen.repo_url(repo));
                json!({ "name": name, "commit": { "sha": tip, "url": url }, "protected": false })
            })
            .collect();
        json!({
            "id": status.id,
            "sha": status.sha,
            "name": repo.full_name(),
            "avatar_url": format!("https://avatars.githubusercontent.com/u/{}?v=4", status.creator.id),
            "target_url": status.target_url,
            "context": status.context,
            "description": status.description,
            "state": status.state,
            "commit": self.commits.get(&status.sha).map(|commit| pen.commit(repo, commit)),
            "branches": branches,
            "created_at": super::pen::time(status.at),
            "updated_at": super::pen::time(status.at),
        })
    }

    /// Sends a webhook about a branch that moved from one SHA to another; `None` means "did not exist".
    pub(crate) fn tell_push(
        &mut self,
        now: Timestamp,
        repo: &str,
        branch: &str,
        (before, after): (Option<&str>, Option<&str>),
    ) {
        let pusher = self.pusher(after.or(before).unwrap_or_default());
        let told = self.repo(repo).map(|found| {
            let pen = self.pen(now);
            let head = after.map_or(Value::Null, |sha| pen.pushed_commit(found, sha));
            let (from, to) = (before.unwrap_or(ZERO_SHA), after.unwrap_or(ZERO_SHA));
            let commits: Vec<&Value> = (!head.is_null()).then_some(&head).into_iter().collect();
            json!({
                "ref": format!("refs/heads/{branch}"),
                "before": from,
                "after": to,
                "base_ref": null,
                "created": before.is_none(),
                "deleted": after.is_none(),
                "forced": false,
                "compare": format!("{WEB}/{}/compare/{from}...{to}", found.full_name()),
                "commits": commits,
                "head_commit": head,
                "pusher": { "name": pusher.login, "email": null },
            })
        });
        if let Ok(body) = told {
            self.send_event(now, repo, "push", (body, pusher));
        }
    }

    /// The author of a commit, as the sender of events that follow from it.
    fn pusher(&self, sha: &str) -> User {
        self.commits
            .get(sha)
            .map_or_else(|| User::named("ghost"), |commit| commit.author.clone())
    }
}
