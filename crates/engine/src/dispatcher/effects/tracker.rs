//! Issues on GitHub, and what deploys: tells issues how far their deliveries are, closes them, and starts workflows.

use domain::delivery::{self, IssueRef, ProviderReport};
use domain::effect::{EffectFinding, EffectState, TrackerAction};
use domain::failure::{Failure, FailureClass};

use super::{EffectOutcome, Settled, done, seen};
use crate::backend::{Error, UnitOfWork};
use crate::dispatcher::Dispatcher;
use crate::ports::{AwaitedRun, IssueComment};

/// The hidden marker of our one comment on an issue.
const MARKER: &str = "gaffer-delivery";

impl Dispatcher {
    /// Why an action on a tracker is obsolete: a text that was overtaken, an issue of another delivery, or a deployment that was cancelled.
    pub(super) async fn not_wanted_on_tracker(
        &self,
        pk: &str,
        action: &TrackerAction,
    ) -> Result<Option<String>, Error> {
        match action {
            TrackerAction::Tell { cause, .. } => self.not_told(pk, cause).await,
            TrackerAction::CloseIssue { issue, .. } => self.not_its_issue(pk, issue).await,
            TrackerAction::DispatchWorkflow { cause, .. } => self.not_dispatched(pk, cause).await,
        }
    }

    /// Makes the call.
    pub(super) async fn perform_on_tracker(&self, action: &TrackerAction) -> EffectOutcome {
        let issues = &self.writers.issues;
        done(match action {
            TrackerAction::Tell { issue, text, .. } => self.tell(issue, text).await,
            TrackerAction::CloseIssue { issue } => self.close_issue(issue).await,
            TrackerAction::DispatchWorkflow {
                repo, file, branch, ..
            } => issues.dispatch_workflow(repo, file, branch).await,
        })
    }

    /// Closes an open issue; one that a person closed keeps their reason. One that was deleted or moved has nothing
    /// left to close.
    async fn close_issue(&self, issue: &IssueRef) -> Result<(), Failure> {
        let is_gone = |failure: &Failure| failure.class == FailureClass::NotFound;
        match self.readers.issues.issue(issue).await {
            Ok(facts) if !facts.is_open => return Ok(()),
            Err(failure) if is_gone(&failure) => return Ok(()),
            read => drop(read?),
        }
        match self.writers.issues.close_issue(issue).await {
            Err(failure) if is_gone(&failure) => Ok(()),
            outcome => outcome,
        }
    }

    /// Keeps with a delivery that is over why its issue could not be closed, until it is.
    pub(super) async fn apply_on_tracker(
        &self,
        unit: &mut UnitOfWork,
        action: &TrackerAction,
        settled: Settled<'_>,
    ) -> Result<(), Error> {
        let issue = match action {
            TrackerAction::CloseIssue { issue } => issue,
            TrackerAction::Tell { .. } | TrackerAction::DispatchWorkflow { .. } => return Ok(()),
        };
        let why = match &settled.effect.state {
            EffectState::Failed { failure, .. } => Some(failure.to_string()),
            EffectState::Done { .. } => None,
            EffectState::Intent { .. }
            | EffectState::Started { .. }
            | EffectState::Unknown { .. } => return Ok(()),
        };
        let found = self.backend.delivery_of_issue(issue).await?;
        let Some(found) = found.filter(|found| found.value.is_terminal()) else {
            return Ok(());
        };
        let step = delivery::with_issue_left(&found.value, why.as_deref(), self.backend.now());
        if step.aggregate != found.value {
            self.backend
                .save_delivery(unit, Some(&found), &step)
                .await?;
        }
        Ok(())
    }

    /// Writes the one comment, or edits it.
    async fn tell(&self, issue: &IssueRef, text: &str) -> Result<(), Failure> {
        let issues = &self.writers.issues;
        match self.readers.issues.marked_comment(issue, MARKER).await? {
            Some(comment) if says(&comment, text) => Ok(()),
            Some(comment) => {
                issues
                    .edit_comment(&issue.repo, comment.id, text, MARKER)
                    .await
            }
            None => issues.comment(issue, text, MARKER).await,
        }
    }

    /// What the world shows of it.
    pub(super) async fn look_on_tracker(
        &self,
        action: &TrackerAction,
    ) -> (EffectFinding, EffectOutcome) {
        seen(self.was_tracked(action).await)
    }

    /// Whether the world shows that it was done, or that it need not be done.
    async fn was_tracked(&self, action: &TrackerAction) -> Result<bool, Failure> {
        let issues = &self.readers.issues;
        match action {
            TrackerAction::Tell { issue, text, .. } => {
                let found = issues.marked_comment(issue, MARKER).await?;
                Ok(found.is_some_and(|comment| says(&comment, text)))
            }
            TrackerAction::CloseIssue { issue } => match issues.issue(issue).await {
                Err(failure) if failure.class == FailureClass::NotFound => Ok(true),
                read => Ok(!read?.is_open),
            },
            // Its delivery awaits a run since the same moment and of the same merge: no other one proves anything.
            TrackerAction::DispatchWorkflow {
                repo,
                file,
                branch,
                since,
                merge,
                ..
            } => {
                let awaited = AwaitedRun {
                    file,
                    branch,
                    since: *since,
                    merge: merge.as_ref(),
                };
                let run = issues.workflow_run(repo, awaited).await?;
                Ok(run != ProviderReport::Nothing)
            }
        }
    }
}

/// Whether a comment of ours is this text and its marker: a longer text may begin with it.
fn says(comment: &IssueComment, text: &str) -> bool {
    let rest = comment.body.strip_prefix(text);
    rest.is_some_and(|rest| rest.trim_start().starts_with("<!--"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_that_says_more_does_not_say_the_same() {
        let comment = |text: &str| IssueComment {
            id: 1,
            body: format!("{text}\n\n<!-- gaffer:{MARKER} -->"),
        };
        assert!(says(&comment("At plan."), "At plan."));
        assert!(!says(
            &comment("At plan.\n\nIts issue cannot be read."),
            "At plan."
        ));
        assert!(!says(
            &comment("Pull request: /pull/12"),
            "Pull request: /pull/1"
        ));
    }
}
