//! The webhook's live secrets, kept for a while and read again when a signature does not match.

use std::sync::Arc;

use engine::ports::{Clock, SecretName, Secrets, SecretsError};
use github::webhook::{Rejected, live_secrets, verify};
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use tokio::sync::Mutex;

/// How long a secret that was read is used.
pub const SECRET_KEPT: SignedDuration = SignedDuration::from_mins(5);

/// A signature that does not match has the secret read again, at most this often: anybody can send one.
pub const SECRET_READ_AGAIN: SignedDuration = SignedDuration::from_mins(1);

/// The live secrets.
pub(super) struct LiveSecrets {
    secrets: Arc<dyn Secrets>,
    clock: Arc<dyn Clock>,
    kept: Mutex<Kept>,
}

/// What was last read.
#[derive(Clone, Default)]
struct Kept {
    live: Vec<SecretString>,
    read_at: Option<Timestamp>,
}

impl LiveSecrets {
    /// Nothing is read before the first delivery.
    pub(super) fn new(secrets: Arc<dyn Secrets>, clock: Arc<dyn Clock>) -> Self {
        Self {
            secrets,
            clock,
            kept: Mutex::default(),
        }
    }

    /// Checks a signature against the secrets that were read, and if it does not match, against those that are there now.
    pub(super) async fn verify(&self, signature: &str, raw: &[u8]) -> Result<(), Rejected> {
        let live = self.younger_than(SECRET_KEPT).await;
        match verify(&live, Some(signature), raw) {
            Err(Rejected::Mismatch | Rejected::NoSecret) => {
                let live = self.younger_than(SECRET_READ_AGAIN).await;
                verify(&live, Some(signature), raw)
            }
            Err(rejected @ (Rejected::Unsigned | Rejected::Malformed)) => Err(rejected),
            Ok(()) => Ok(()),
        }
    }

    /// The secrets as they were at most this long ago. The lock is held while reading, so that a burst reads once.
    async fn younger_than(&self, age: SignedDuration) -> Vec<SecretString> {
        let now = self.clock.now();
        let mut kept = self.kept.lock().await;
        let fresh = |read: Timestamp| now.duration_since(read).abs() < age;
        if !kept.read_at.is_some_and(fresh) {
            kept.read_at = Some(now);
            match self.secrets.read(&SecretName::Webhook).await {
                Ok(stored) => kept.live = live_secrets(&stored),
                Err(SecretsError::Missing(_)) => kept.live.clear(),
                // Whatever is wrong with the store of secrets says nothing about the one we know.
                Err(error @ (SecretsError::Unusable { .. } | SecretsError::Unreachable { .. })) => {
                    tracing::warn!(%error, "the webhook's secret could not be read again");
                }
            }
        }
        kept.live.clone()
    }
}
