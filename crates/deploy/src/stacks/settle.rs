//! The states of a stack: which are ends, which of them are good, and why one is not.

use std::time::Duration;

use aws_sdk_cloudformation::types::{Change, ChangeAction, Replacement, Stack, StackStatus};
use tokio::time::Instant;

use crate::cloud::{Cloud, LOOK_EVERY};
use crate::error::Error;

/// Longest wait for a stack to settle: ours takes minutes, and CloudFormation itself gives up on most things within an hour.
const SETTLED_WITHIN: Duration = Duration::from_secs(3600);

/// How many reasons of a failure are reported: the first ones are the cause, what follows is its consequence.
const REASONS_MAX: usize = 3;

/// Whether a stack has reached the requested state.
pub(super) fn is_done(stack: &Stack) -> bool {
    matches!(
        stack.stack_status,
        Some(StackStatus::CreateComplete | StackStatus::UpdateComplete)
    )
}

/// Whether what a stack says about itself can be believed: it came to be once.
pub(super) fn is_usable(stack: &Stack) -> bool {
    !is_in_review(stack) && !never_came_to_be(stack)
}

/// Whether a stack is only an empty name that a change set waits beneath.
pub(super) fn is_in_review(stack: &Stack) -> bool {
    stack.stack_status == Some(StackStatus::ReviewInProgress)
}

/// Whether its first making failed, or its end: it can only be taken down.
pub(super) fn never_came_to_be(stack: &Stack) -> bool {
    matches!(
        stack.stack_status,
        Some(
            StackStatus::CreateFailed
                | StackStatus::RollbackComplete
                | StackStatus::RollbackFailed
                | StackStatus::DeleteFailed
        )
    )
}

fn is_moving(stack: &Stack) -> bool {
    let status = stack.stack_status.as_ref().map(StackStatus::as_str);
    status.is_some_and(|it| it.ends_with("_IN_PROGRESS")) && !is_in_review(stack)
}

fn is_gone(stack: &Stack) -> bool {
    stack.stack_status == Some(StackStatus::DeleteComplete)
}

/// One change as a person reads it.
pub(super) fn line(change: &Change) -> Option<String> {
    let change = change.resource_change.as_ref()?;
    let action = change.action.as_ref();
    let sign = match action.map(ChangeAction::as_str) {
        Some("Add" | "Import") => "+",
        Some("Remove") => "-",
        Some(_) | None => "~",
    };
    let kind = change.resource_type.as_deref().unwrap_or("a resource");
    let name = change.logical_resource_id.as_deref().unwrap_or_default();
    let replacement = change.replacement.as_ref();
    let replaced = match replacement.map(Replacement::as_str) {
        Some("True") => ", made anew",
        Some("Conditional") => ", perhaps made anew",
        Some(_) | None => "",
    };
    Some(format!("{sign} {kind} {name}{replaced}"))
}

impl Cloud {
    /// The stack, once no change is in progress; `None` when it is deleted.
    pub(super) async fn settled(&self, name: &str) -> Result<Option<Stack>, Error> {
        let mut beat = tokio::time::interval(LOOK_EVERY);
        let until = Instant::now() + SETTLED_WITHIN;
        while Instant::now() < until {
            beat.tick().await;
            let stack = self.stack(name).await?;
            match stack {
                Some(stack) if is_moving(&stack) => {}
                Some(stack) if is_gone(&stack) => return Ok(None),
                stack => return Ok(stack),
            }
        }
        Err(Error::stopped(
            format!("waiting for the stack {name}"),
            format!("it still changes after {} s", SETTLED_WITHIN.as_secs()),
            "see its events in CloudFormation, and go on when it has come to its end",
        ))
    }

    /// Why a change of a stack failed.
    pub(super) async fn why_not(&self, name: &str, stack: Option<Stack>) -> Error {
        let status = stack.as_ref().and_then(|it| it.stack_status.as_ref());
        let status = status.map_or("gone", StackStatus::as_str);
        let events = self.stacks.describe_stack_events().stack_name(name);
        let events = events.send().await.ok().and_then(|it| it.stack_events);
        let mut reasons: Vec<String> = events
            .unwrap_or_default()
            .into_iter()
            .filter(|it| {
                let status = it.resource_status.as_ref();
                status.is_some_and(|it| it.as_str().ends_with("_FAILED"))
            })
            .filter_map(|it| {
                Some(format!(
                    "{}: {}",
                    it.logical_resource_id?, it.resource_status_reason?
                ))
            })
            .collect();
        // They come newest first.
        reasons.reverse();
        reasons.truncate(REASONS_MAX);
        Error::stopped(
            format!("changing the stack {name}"),
            format!("it is {status}: {}", reasons.join(", ")),
            "mend it and deploy again",
        )
    }
}
