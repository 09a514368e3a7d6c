//! The bearer token of our own HTTP API: from the environment, from the stored secrets, or made on the first start.

use anyhow::{Context, Result};
use engine::ports::{SecretName, SecretsError};
use secrecy::SecretString;

use super::Base;

/// The token and where it is.
pub struct Token {
    /// The token.
    pub value: SecretString,
    /// Where people find it, as text.
    pub place: String,
    /// Whether it was made just now.
    pub new: bool,
}

/// Finds the token, or makes one.
pub(super) async fn find(base: &Base, from_environment: Option<SecretString>) -> Result<Token> {
    if let Some(value) = from_environment {
        return Ok(Token {
            value,
            place: "GAFFER_TOKEN".to_owned(),
            new: false,
        });
    }
    let place = base.token_place.clone();
    match base.secrets.read(&SecretName::ApiToken).await {
        Ok(value) => Ok(Token {
            value,
            place,
            new: false,
        }),
        Err(SecretsError::Missing(_)) => {
            let value = SecretString::from(format!(
                "gaf_{:032x}{:032x}",
                rand::random::<u128>(),
                rand::random::<u128>()
            ));
            base.secrets
                .write(&SecretName::ApiToken, &value)
                .await
                .context("storing the first API token")?;
            Ok(Token {
                value,
                place,
                new: true,
            })
        }
        Err(error) => Err(error).context("reading the API token"),
    }
}
