//! The accounts' keys: read from the secrets, kept for a while, read again when Jules refuses one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::failure::Failure;
use domain::ids::AccountName;
use engine::ports::{Clock, SecretName, Secrets, SecretsError};
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};

/// How long a key is used before it is read again: a key that was replaced works at the latest after this.
const KEY_TTL: SignedDuration = SignedDuration::from_mins(5);

/// How often refusals may make us read an account's key again, so that a dead key does not hammer the secrets.
const REREAD_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// The keys of all accounts.
pub(crate) struct Keys {
    secrets: Arc<dyn Secrets>,
    clock: Arc<dyn Clock>,
    held: Mutex<HashMap<AccountName, Held>>,
}

#[derive(Clone)]
struct Held {
    key: SecretString,
    read_at: Timestamp,
    reread_at: Option<Timestamp>,
}

impl Keys {
    pub(crate) fn new(secrets: Arc<dyn Secrets>, clock: Arc<dyn Clock>) -> Self {
        Self {
            secrets,
            clock,
            held: Mutex::default(),
        }
    }

    /// The account's key.
    pub(crate) async fn key(&self, account: &AccountName) -> Result<SecretString, Failure> {
        let now = self.clock.now();
        let held = self.lock().get(account).cloned();
        match held {
            Some(held) if is_within(held.read_at, now, KEY_TTL) => Ok(held.key),
            Some(_) | None => self.read(account, now).await,
        }
    }

    /// Another key than the one just refused, if the secrets hold one by now.
    pub(crate) async fn instead_of(
        &self,
        account: &AccountName,
        refused: &SecretString,
    ) -> Option<SecretString> {
        let now = self.clock.now();
        {
            let mut all = self.lock();
            let held = all.get_mut(account)?;
            if differ(&held.key, refused) {
                return Some(held.key.clone());
            }
            if held
                .reread_at
                .is_some_and(|at| is_within(at, now, REREAD_EVERY))
            {
                return None;
            }
            held.reread_at = Some(now);
        }
        let key = self.read(account, now).await.ok()?;
        differ(&key, refused).then_some(key)
    }

    async fn read(&self, account: &AccountName, now: Timestamp) -> Result<SecretString, Failure> {
        let name = SecretName::Jules(account.clone());
        let key = match self.secrets.read(&name).await {
            Ok(key) => key,
            Err(error) => return self.without_store(account, &error),
        };
        let mut all = self.lock();
        let reread_at = all.get(account).and_then(|held| held.reread_at);
        let held = Held {
            key: key.clone(),
            read_at: now,
            reread_at,
        };
        all.insert(account.clone(), held);
        Ok(key)
    }

    /// A store that does not answer says nothing about the key that worked until now.
    fn without_store(
        &self,
        account: &AccountName,
        error: &SecretsError,
    ) -> Result<SecretString, Failure> {
        let held = self.lock().get(account).map(|held| held.key.clone());
        match (error, held) {
            (SecretsError::Unreachable { .. }, Some(key)) => {
                tracing::warn!(%account, %error, "the Jules key could not be read again");
                Ok(key)
            }
            (SecretsError::Unreachable { .. }, None)
            | (SecretsError::Missing(_) | SecretsError::Unusable { .. }, _) => {
                let message = format!("reading the Jules key of account `{account}`: {error}");
                Err(Failure::new(error.class(), message).never_sent())
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AccountName, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether `now` is in the span that begins at `start`; a clock that went back is out of it.
pub(crate) fn is_within(start: Timestamp, now: Timestamp, span: SignedDuration) -> bool {
    let age = now.duration_since(start);
    !age.is_negative() && age < span
}

fn differ(one: &SecretString, other: &SecretString) -> bool {
    one.expose_secret() != other.expose_secret()
}
