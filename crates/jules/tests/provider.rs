//! Without a TLS provider a client is an error and no panic; a process of its own, since a provider is for the whole process.

use std::sync::Arc;

use async_trait::async_trait;
use engine::ports::{Clock, SecretName, Secrets, SecretsError};
use jiff::Timestamp;
use jules::{Client, Error, Settings};
use secrecy::SecretString;

struct Nothing;

impl Clock for Nothing {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

#[async_trait]
impl Secrets for Nothing {
    async fn read(&self, name: &SecretName) -> Result<SecretString, SecretsError> {
        Err(SecretsError::Missing(name.path()))
    }

    async fn write(&self, _: &SecretName, _: &SecretString) -> Result<(), SecretsError> {
        Ok(())
    }

    async fn remove(&self, _: &SecretName) -> Result<(), SecretsError> {
        Ok(())
    }
}

#[test]
fn a_missing_provider_is_an_error() {
    let client = || Client::new(Settings::default(), Arc::new(Nothing), Arc::new(Nothing));
    assert!(matches!(client(), Err(Error::NoTlsProvider)));
    rustls::crypto::ring::default_provider()
        .install_default()
        .unwrap();
    assert!(client().is_ok());
}
