//! A secret that opens a door, kept for a while and read again when what somebody shows does not match.

use std::sync::Arc;

use engine::ports::{Clock, SecretName, Secrets, SecretsError};
use github::webhook::live_secrets;
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use tokio::sync::Mutex;

/// How long a secret that was read is used.
pub const SECRET_KEPT: SignedDuration = SignedDuration::from_mins(5);

/// What does not match has the secret read again, at most this often: anybody can show something.
pub const SECRET_READ_AGAIN: SignedDuration = SignedDuration::from_mins(1);

/// One secret with what it was before: both are live.
pub(crate) struct LiveSecret {
    name: SecretName,
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

impl LiveSecret {
    /// Nothing is read before somebody comes to the door.
    pub(crate) fn new(name: SecretName, secrets: Arc<dyn Secrets>, clock: Arc<dyn Clock>) -> Self {
        Self {
            name,
            secrets,
            clock,
            kept: Mutex::default(),
        }
    }

    /// What is live, as far as is known.
    pub(crate) async fn known(&self) -> Vec<SecretString> {
        self.younger_than(SECRET_KEPT).await
    }

    /// The same, once something did not match.
    pub(crate) async fn read_again(&self) -> Vec<SecretString> {
        self.younger_than(SECRET_READ_AGAIN).await
    }

    /// What was live at most this long ago. Of a burst one reads: the others wait for it only while nothing is known at all.
    async fn younger_than(&self, age: SignedDuration) -> Vec<SecretString> {
        let now = self.clock.now();
        let mut kept = self.kept.lock().await;
        let fresh = |read: Timestamp| now.duration_since(read).abs() < age;
        if kept.read_at.is_some_and(fresh) {
            return kept.live.clone();
        }
        kept.read_at = Some(now);
        if kept.live.is_empty() {
            self.read_into(&mut kept).await;
            return kept.live.clone();
        }
        // A store of secrets that does not answer must not hold up those whom the known one lets in.
        let mut read = kept.clone();
        drop(kept);
        self.read_into(&mut read).await;
        let mut kept = self.kept.lock().await;
        kept.live.clone_from(&read.live);
        read.live
    }

    async fn read_into(&self, kept: &mut Kept) {
        match self.secrets.read(&self.name).await {
            Ok(stored) => kept.live = live_secrets(&stored),
            Err(SecretsError::Missing(_)) => kept.live.clear(),
            // Whatever is wrong with the store of secrets says nothing about the one we know.
            Err(error @ (SecretsError::Unusable { .. } | SecretsError::Unreachable { .. })) => {
                let name = self.name.path();
                tracing::warn!(%error, name, "a secret could not be read again");
            }
        }
    }
}
