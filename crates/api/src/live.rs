//! A cached secret that authenticates callers; a mismatch reads it again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::ports::{Clock, SecretName, Secrets, SecretsError};
use github::webhook::live_secrets;
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;

/// How long a secret that was read is used.
pub const SECRET_KEPT: SignedDuration = SignedDuration::from_mins(5);

/// Minimum time between reads caused by mismatches: anyone can send a wrong secret.
pub const SECRET_READ_AGAIN: SignedDuration = SignedDuration::from_mins(1);

/// One secret with its previous value: both are live.
pub(crate) struct LiveSecret {
    name: SecretName,
    secrets: Arc<dyn Secrets>,
    clock: Arc<dyn Clock>,
    kept: Mutex<CachedSecret>,
    /// Held by the one who reads.
    turn: tokio::sync::Mutex<()>,
}

/// The cached value.
#[derive(Clone, Default)]
struct CachedSecret {
    live: Vec<SecretString>,
    read_at: Option<Timestamp>,
}

impl LiveSecret {
    /// Reads nothing before the first caller comes.
    pub(crate) fn new(name: SecretName, secrets: Arc<dyn Secrets>, clock: Arc<dyn Clock>) -> Self {
        Self {
            name,
            secrets,
            clock,
            kept: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    /// The cached live secrets. In a burst one caller reads, and the others wait only while the cache is empty: a
    /// store that does not answer delays no caller whom the cache admits.
    pub(crate) async fn live_secrets(&self) -> Vec<SecretString> {
        let kept = self.kept().clone();
        if kept.live.is_empty() {
            let _turn = self.turn.lock().await;
            return self.younger_than(SECRET_KEPT).await;
        }
        match self.turn.try_lock() {
            Ok(_turn) => self.younger_than(SECRET_KEPT).await,
            Err(_) => kept.live,
        }
    }

    /// The same after a mismatch: waits for a read in progress, since that may bring the match.
    pub(crate) async fn read_again(&self) -> Vec<SecretString> {
        let _turn = self.turn.lock().await;
        self.younger_than(SECRET_READ_AGAIN).await
    }

    /// The cached secrets, if they are younger than `age`.
    async fn younger_than(&self, age: SignedDuration) -> Vec<SecretString> {
        let now = self.clock.now();
        let mut kept = self.kept().clone();
        let fresh = |read: Timestamp| now.duration_since(read).abs() < age;
        if kept.read_at.is_some_and(fresh) {
            return kept.live;
        }
        kept.read_at = Some(now);
        match self.secrets.read(&self.name).await {
            Ok(stored) => kept.live = live_secrets(&stored),
            Err(SecretsError::Missing(_)) => kept.live.clear(),
            // An error of the store says nothing about the cached secret.
            Err(error @ (SecretsError::Unusable { .. } | SecretsError::Unreachable { .. })) => {
                let name = self.name.path();
                tracing::warn!(%error, name, "a secret could not be read again");
            }
        }
        self.kept().clone_from(&kept);
        kept.live
    }

    fn kept(&self) -> MutexGuard<'_, CachedSecret> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Poll;

    use async_trait::async_trait;
    use secrecy::ExposeSecret;
    use tokio::sync::Semaphore;

    use super::*;

    /// A store that answers as often as it is allowed to, and is late otherwise.
    struct Slow {
        stored: Mutex<&'static str>,
        answers: Semaphore,
    }

    #[async_trait]
    impl Secrets for Slow {
        async fn read(&self, _: &SecretName) -> Result<SecretString, SecretsError> {
            self.answers.acquire().await.unwrap().forget();
            Ok((*self.stored.lock().unwrap()).into())
        }

        async fn write(&self, _: &SecretName, _: &SecretString) -> Result<(), SecretsError> {
            panic!("an API writes no secret")
        }

        async fn remove(&self, _: &SecretName) -> Result<(), SecretsError> {
            panic!("an API removes no secret")
        }
    }

    struct Time(Mutex<Timestamp>);

    impl Clock for Time {
        fn now(&self) -> Timestamp {
            *self.0.lock().unwrap()
        }
    }

    fn shown(live: Vec<SecretString>) -> Vec<String> {
        let words = live.iter().map(|it| it.expose_secret().to_owned());
        words.collect()
    }

    #[tokio::test]
    async fn who_knows_the_secret_waits_for_no_reader_and_who_does_not_waits_for_what_is_read() {
        let store = Arc::new(Slow {
            stored: Mutex::new("old"),
            answers: Semaphore::new(1),
        });
        let clock = Arc::new(Time(Mutex::new(Timestamp::UNIX_EPOCH)));
        let live = LiveSecret::new(SecretName::Webhook, store.clone(), clock.clone());
        assert_eq!(shown(live.live_secrets().await), ["old"]);
        *store.stored.lock().unwrap() = "new,old";
        *clock.0.lock().unwrap() += SECRET_KEPT;
        let mut reading = std::pin::pin!(live.live_secrets());
        assert!(futures::poll!(&mut reading).is_pending());
        let mut mismatch = std::pin::pin!(live.read_again());
        assert!(futures::poll!(&mut mismatch).is_pending());
        let known = futures::poll!(std::pin::pin!(live.live_secrets()));
        assert_eq!(known.map(shown), Poll::Ready(vec!["old".to_owned()]));
        store.answers.add_permits(1);
        assert_eq!(shown(reading.await), ["new", "old"]);
        assert_eq!(shown(mismatch.await), ["new", "old"]);
        assert_eq!(store.answers.available_permits(), 0);
    }
}
