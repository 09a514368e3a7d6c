//! The person: lets a pull request through that Gaffer may not merge, and cancels a job together with its pull request.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use client::Client;
use client::wire::{CancelRequest, MergeRequest};
use sandbox::Sandbox;
use sandbox::github::PullView;
use tokio::sync::watch;

use crate::stage::{BLOCKED_LABEL, HANDBOOK};
use crate::time::LOOK_EVERY;

/// How long to wait before saying it once more, in real time.
const AGAIN_AFTER: Duration = Duration::from_millis(50);

/// Once a pull request has a comment and the label, says that its job may be merged, until Gaffer takes it.
pub(crate) async fn unblock(
    sandbox: Arc<Sandbox>,
    mut client_slot: watch::Receiver<Option<Client>>,
    job: String,
) -> Result<()> {
    let mut look = tokio::time::interval(LOOK_EVERY);
    while !pulls(&sandbox).iter().any(asks) {
        look.tick().await;
    }
    let mut again = tokio::time::interval(AGAIN_AFTER);
    loop {
        again.tick().await;
        let Some(client) = client_slot.wait_for(Option::is_some).await?.clone() else {
            continue;
        };
        // What Gaffer refuses now, because it cannot read it, it takes a little later.
        if client.merge(&job, &MergeRequest::default()).await.is_ok() {
            return Ok(());
        }
    }
}

/// Once Gaffer knows the pull request of a job, cancels the job and has its pull request closed, until Gaffer takes it.
pub(crate) async fn cancel(
    mut client_slot: watch::Receiver<Option<Client>>,
    job: String,
) -> Result<()> {
    let order = CancelRequest {
        by: None,
        close_pull: true,
    };
    let mut again = tokio::time::interval(AGAIN_AFTER);
    loop {
        again.tick().await;
        let Some(client) = client_slot.wait_for(Option::is_some).await?.clone() else {
            continue;
        };
        let shown = client.job(&job).await;
        let is_linked = shown.is_ok_and(|job| job.pull_request.is_some());
        if is_linked && client.cancel(&job, &order).await.is_ok() {
            return Ok(());
        }
    }
}

/// The pull requests that may need a person.
pub(crate) fn pulls(sandbox: &Sandbox) -> Vec<PullView> {
    let github = sandbox.github();
    let numbers = github.pulls(HANDBOOK);
    let view = |number| github.pull(HANDBOOK, number);
    numbers.into_iter().filter_map(view).collect()
}

/// Whether a pull request says that it needs a person.
fn asks(pull: &PullView) -> bool {
    let labelled = pull.labels.iter().any(|label| label == BLOCKED_LABEL);
    labelled && !pull.comments.is_empty()
}
