//! The ports to GitHub's logs of webhook deliveries: one that reads them, and one that asks for deliveries again.

use async_trait::async_trait;
use domain::failure::Failure;
use domain::hooks::{Attempt, DeliveryId, HookId, Log};
use domain::ids::RepoName;
use jiff::Timestamp;

/// Reads what became of webhook deliveries.
#[async_trait]
pub trait HooksRead: Send + Sync {
    /// The logs that tell of these repositories' webhooks: the App's if it has a webhook, else one for each repository.
    async fn logs(&self, repos: &[RepoName]) -> Result<Vec<Log>, Failure>;

    /// The tries since a time, and perhaps some older ones, in any order; none when no webhook there points at our door. Of a log that is longer than anybody reads, the newest.
    async fn attempts(&self, log: &Log, since: Timestamp) -> Result<Option<Vec<Attempt>>, Failure>;
}

/// Asks for webhook deliveries again. Only the dispatcher holds one.
#[async_trait]
pub trait HooksWrite: Send + Sync {
    /// Has GitHub send a delivery once more. `NotFound` when it does not know it any more.
    async fn redeliver(
        &self,
        log: &Log,
        delivery: (Option<HookId>, DeliveryId),
    ) -> Result<(), Failure>;
}
