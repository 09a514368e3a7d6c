//! The ports to GitHub's logs of webhook deliveries: one that reads them, and one that asks for deliveries again.

use async_trait::async_trait;
use domain::failure::Failure;
use domain::ids::RepoName;
use domain::redelivery::{DeliveryAttempt, DeliveryId, HookId, WebhookLog};
use jiff::Timestamp;

/// Reads the outcomes of webhook deliveries.
#[async_trait]
pub trait HooksRead: Send + Sync {
    /// The logs of these repositories' webhooks: the App's if it has a webhook, else one for each repository.
    async fn logs(&self, repos: &[RepoName]) -> Result<Vec<WebhookLog>, Failure>;

    /// The delivery attempts since a time, and perhaps some older ones, in any order; `None` when no webhook there
    /// points at our API. A long log is cut to its newest part.
    async fn attempts(
        &self,
        log: &WebhookLog,
        since: Timestamp,
    ) -> Result<Option<Vec<DeliveryAttempt>>, Failure>;
}

/// Asks for webhook deliveries again. Only the dispatcher holds one.
#[async_trait]
pub trait HooksWrite: Send + Sync {
    /// Requests a redelivery from GitHub. `NotFound` when GitHub does not have it any more.
    async fn redeliver(
        &self,
        log: &WebhookLog,
        hook: Option<HookId>,
        id: DeliveryId,
    ) -> Result<(), Failure>;
}
