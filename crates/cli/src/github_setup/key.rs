//! The App's private key: found again after a run that stopped, or taken from a file, and only if it is that App's.

use anyhow::{Context, Result};
use engine::ports::{SecretName, SecretsError};
use engine::settings::MadeApp;
use secrecy::SecretString;

use super::report::not_signed_in;
use super::{Run, progress};
use crate::error::Error;
use crate::stdin;

/// Longest private key, in bytes: one of 8,192 bits has about 6,400.
const KEY_BYTES_MAX: u64 = 16 * 1024;

impl Run {
    /// A run stopped before the App was used: its key is stored, or it is lost.
    pub(super) async fn rescue(&self, made: MadeApp) -> Result<MadeApp> {
        if let Some(file) = &self.args.key_file {
            return self.take_key(made, file).await;
        }
        match self.data.secrets.read(&SecretName::App(made.id)).await {
            Ok(_) => return Ok(made),
            Err(SecretsError::Missing(_)) => {}
            Err(error @ (SecretsError::Unusable { .. } | SecretsError::Unreachable { .. })) => {
                return Err(error.into());
            }
        }
        let what = format!(
            "the App {} was made, and its key was lost before it could be kept",
            made.slug
        );
        let next = format!(
            "make a private key on its page {} and give it with `gaffer github setup --key-file FILE`, or delete the App there and type `gaffer github setup --again`",
            made.page
        );
        Err(Error::refused("key_lost", what, next).into())
    }

    /// An App that was made by hand.
    pub(super) async fn take_over(&self, id: u64) -> Result<MadeApp> {
        let made = MadeApp {
            id,
            slug: String::new(),
            page: String::new(),
        };
        match &self.args.key_file {
            Some(file) => self.take_key(made, file).await,
            None => Err(Error::usage(
                "the App's key is not given",
                "give it with `--key-file FILE`",
            )
            .into()),
        }
    }

    /// Keeps a key that fits the App.
    async fn take_key(&self, made: MadeApp, file: &std::path::Path) -> Result<MadeApp> {
        let text = stdin::of_file(file, KEY_BYTES_MAX).context("reading the private key")?;
        let key = SecretString::from(text);
        let seen = self
            .maker
            .installations(made.id, &key, self.data.backend.now())
            .await;
        seen.map_err(|failure| not_signed_in(&failure))?;
        let name = SecretName::App(made.id);
        self.data.secrets.write(&name, &key).await?;
        progress::made(&self.data.backend, &made).await?;
        Ok(made)
    }
}
