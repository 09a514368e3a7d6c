//! Secrets that a story can change.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use engine::ports::{SecretName, Secrets, SecretsError};
use sandbox::Scenario;
use secrecy::{ExposeSecret, SecretString};

use super::{AGENT, WEBHOOK_SECRET};

/// Secrets by path.
pub struct Vault(Mutex<BTreeMap<String, String>>);

impl Vault {
    /// What the sandbox accepts.
    pub(super) fn of(scenario: &Scenario) -> Self {
        let mut kept = BTreeMap::new();
        for account in &scenario.accounts {
            kept.insert(format!("jules/{}", account.name), account.key.clone());
        }
        let agent = agents::new_secret([7; 32]);
        let github = scenario
            .tokens
            .first()
            .map_or(sandbox::github::DEFAULT_TOKEN, |token| &token.token);
        kept.insert("github".to_owned(), github.to_owned());
        kept.insert("webhook".to_owned(), WEBHOOK_SECRET.to_owned());
        kept.insert(format!("agents/{AGENT}"), agent.expose_secret().to_owned());
        Self(Mutex::new(kept))
    }

    /// Puts a secret.
    pub fn put(&self, path: &str, value: &str) {
        self.kept().insert(path.to_owned(), value.to_owned());
    }

    /// The secret of a path, for a receiver that has to know it too.
    pub fn get(&self, path: &str) -> Option<String> {
        self.kept().get(path).cloned()
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Secrets for Vault {
    async fn read(&self, name: &SecretName) -> Result<SecretString, SecretsError> {
        let path = name.path();
        self.get(&path)
            .map(SecretString::from)
            .ok_or(SecretsError::Missing(path))
    }

    async fn write(&self, name: &SecretName, value: &SecretString) -> Result<(), SecretsError> {
        self.put(&name.path(), value.expose_secret());
        Ok(())
    }

    async fn remove(&self, name: &SecretName) -> Result<(), SecretsError> {
        self.kept().remove(&name.path());
        Ok(())
    }
}
