//! Secrets that a story can change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use engine::ports::{SecretName, Secrets, SecretsError};
use sandbox::Scenario;
use secrecy::{ExposeSecret, SecretString};

use super::{AGENT, WEBHOOK_SECRET};

/// Secrets by path.
pub struct Vault {
    kept: Mutex<BTreeMap<String, String>>,
    /// The paths that were put or removed since the last query.
    changed: Mutex<BTreeSet<String>>,
}

impl Vault {
    /// What the sandbox accepts.
    pub(super) fn from_scenario(scenario: &Scenario) -> Self {
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
        let changed = kept.keys().cloned().collect();
        Self {
            kept: Mutex::new(kept),
            changed: Mutex::new(changed),
        }
    }

    /// Puts a secret.
    pub fn put(&self, path: &str, value: &str) {
        self.kept().insert(path.to_owned(), value.to_owned());
        self.note(path);
    }

    /// The paths put or removed since the last call.
    pub(super) fn changes(&self) -> Vec<(SecretName, Option<SecretString>)> {
        let changed = std::mem::take(&mut *self.changed());
        let changes = changed.into_iter().map(|path| {
            let value = self.get(&path).map(SecretString::from);
            (named(&path), value)
        });
        changes.collect()
    }

    /// The next query returns all of them.
    pub(super) fn all_changed(&self) {
        self.changed().extend(self.kept().keys().cloned());
    }

    fn note(&self, path: &str) {
        self.changed().insert(path.to_owned());
    }

    fn changed(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The secret of a path, for a receiver that has to know it too.
    pub fn get(&self, path: &str) -> Option<String> {
        self.kept().get(path).cloned()
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn named(path: &str) -> SecretName {
    let name = |text: &str| text.parse().expect("a name");
    match path.split_once('/') {
        Some(("jules", account)) => SecretName::Jules(account.parse().expect("an account")),
        Some(("agents", agent)) => SecretName::Agent(name(agent)),
        Some(_) => panic!("stories keep no secret `{path}`"),
        None if path == "github" => SecretName::GitHub,
        None if path == "webhook" => SecretName::Webhook,
        None => SecretName::ApiToken,
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
        self.note(&name.path());
        Ok(())
    }
}
