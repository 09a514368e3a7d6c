//! Secrets as files that only their owner reads, and what the environment lays over them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use engine::ports::{SecretName, Secrets, SecretsError};
use secrecy::{ExposeSecret, SecretString};

mod files;

pub(crate) use files::{is_path, quoted};

/// Secrets below one folder, each in a file of mode 0600 at [`SecretName::path`].
#[derive(Debug, Clone)]
pub struct SecretFiles {
    root: PathBuf,
    overlay: BTreeMap<String, SecretString>,
}

impl SecretFiles {
    /// The secrets below `root` (`DATA/secrets`), which is created when the first is written.
    ///
    /// `overlay` holds, by path, what the environment sets, for example `jules/default`. It goes before the files and cannot be written.
    pub fn new(root: &Path, overlay: BTreeMap<String, SecretString>) -> Self {
        Self {
            root: root.to_owned(),
            overlay,
        }
    }

    /// Every stored secret by its path, in order; what the environment sets is left out. Blocks.
    pub fn stored(&self) -> Result<Vec<(String, SecretString)>, SecretsError> {
        let paths = files::paths(&self.root)?;
        let read = |path: String| {
            let value = files::read(&self.root.join(&path), &path)?;
            Ok((path, value))
        };
        paths.into_iter().map(read).collect()
    }

    /// Stores a secret under a path that was checked. Blocks.
    pub(crate) fn put_back(&self, path: &str, value: &SecretString) -> Result<(), SecretsError> {
        files::write(&self.root.join(path), path, value.expose_secret())
    }

    /// Refuses to change a file that the environment overrides.
    fn refuse_overlaid(&self, path: &str) -> Result<(), SecretsError> {
        if !self.overlay.contains_key(path) {
            return Ok(());
        }
        let message =
            "the environment sets it, and goes before the stored one; unset that variable first";
        Err(SecretsError::Unusable {
            name: path.to_owned(),
            message: message.to_owned(),
        })
    }

    async fn blocking<T, F>(&self, name: &str, work: F) -> Result<T, SecretsError>
    where
        F: FnOnce(&Path) -> Result<T, SecretsError> + Send + 'static,
        T: Send + 'static,
    {
        let file = self.root.join(name);
        let outcome = tokio::task::spawn_blocking(move || work(&file)).await;
        outcome.unwrap_or_else(|stopped| {
            Err(SecretsError::Unusable {
                name: name.to_owned(),
                message: stopped.to_string(),
            })
        })
    }
}

#[async_trait]
impl Secrets for SecretFiles {
    async fn read(&self, name: &SecretName) -> Result<SecretString, SecretsError> {
        let path = name.path();
        if let Some(value) = self.overlay.get(&path) {
            return Ok(value.clone());
        }
        let told = path.clone();
        self.blocking(&path, move |file| files::read(file, &told))
            .await
    }

    async fn write(&self, name: &SecretName, value: &SecretString) -> Result<(), SecretsError> {
        let path = name.path();
        self.refuse_overlaid(&path)?;
        let (told, value) = (path.clone(), value.clone());
        self.blocking(&path, move |file| {
            files::write(file, &told, value.expose_secret())
        })
        .await
    }

    async fn remove(&self, name: &SecretName) -> Result<(), SecretsError> {
        let path = name.path();
        self.refuse_overlaid(&path)?;
        let told = path.clone();
        self.blocking(&path, move |file| files::remove(file, &told))
            .await
    }
}

#[cfg(test)]
mod tests;
