//! The demo's agent: asleep until a wake comes, then one decision, then asleep again.

use client::Client;
use client::wire::ApproveRequest;
use sandbox::agent::Received;
use serde::Deserialize;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

/// The parts of a wake that this agent needs.
#[derive(Deserialize)]
pub(super) struct Wake {
    event: String,
    pub(super) kind: String,
    pub(super) event_id: String,
    pub(super) job_id: Option<String>,
}

/// Answers wakes until the sandbox ends.
pub(super) async fn answer(mut wakes: Receiver<Received>, client: Client) {
    loop {
        match wakes.recv().await {
            Ok(received) => decide(&received, &client).await,
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

/// One decision. The wake's id makes it safe to get a wake twice.
async fn decide(received: &Received, client: &Client) {
    let Ok(wake) = serde_json::from_str::<Wake>(&received.body) else {
        return;
    };
    let Some(job) = &wake.job_id else { return };
    let outcome = match (wake.event.as_str(), wake.kind.as_str()) {
        ("question", "plan_approval") => client
            .approve(job, &ApproveRequest::default())
            .await
            .map(drop),
        ("question", _) => client
            .say(job, "Use the one we have already.", Some(&wake.event_id))
            .await
            .map(drop),
        ("stuck", _) => client
            .say(
                job,
                "Are you still there? Please go on.",
                Some(&wake.event_id),
            )
            .await
            .map(drop),
        _ => Ok(()),
    };
    if let Err(error) = outcome {
        tracing::warn!(%error, "the demo's agent could not answer");
    }
}
