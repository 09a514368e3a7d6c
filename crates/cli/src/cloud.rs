//! A stack on AWS, for the commands that work on it from here.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use async_trait::async_trait;
use aws::{Parameters, SqsQueue, Stack};
use engine::backend::Backend;
use engine::machine::{RandomIds, SystemClock};
use engine::ports::{Clock, Records, SecretName, Secrets, SecretsError};
use engine::store::Store;
use secrecy::SecretString;
use server::Base;

pub(crate) struct Cloud {
    /// Its table, queues and parameters.
    pub(crate) stack: Stack,
}

impl Cloud {
    /// The stack of this name, by the environment that every AWS tool reads.
    pub(crate) async fn find(name: &str) -> Result<Self> {
        let config = aws::connect().await;
        let stack = Stack::find(config, name).await?;
        Ok(Self { stack })
    }

    /// What one process here works on instead of the functions, or beside them: secrets of the environment go before the stack's.
    pub(crate) async fn base(&self, overlay: BTreeMap<String, SecretString>) -> Result<Base> {
        let parameters = self.stack.parameters();
        Ok(Base {
            backend: self.backend_over(self.stack.work().waiting()).await?,
            queue: Arc::new(self.stack.work()),
            bell: None,
            token_place: format!("the parameter {}", parameters.path(&SecretName::ApiToken)),
            secrets: Arc::new(Overlaid {
                overlay,
                parameters,
            }),
            clock: Arc::new(SystemClock),
        })
    }

    /// Its store, queue and time. Like a function's start, this says once which installation it is.
    pub(crate) async fn backend(&self) -> Result<Backend> {
        self.backend_over(self.stack.work()).await
    }

    async fn backend_over(&self, queue: SqsQueue) -> Result<Backend> {
        let records: Arc<dyn Records> = Arc::new(self.stack.table());
        let store = Store::new(records.clone());
        let installation =
            engine::installation::load_or_create(&store, &RandomIds, SystemClock.now())
                .await
                .with_context(|| format!("reading the table of the stack {}", self.stack.name()))?;
        Ok(Backend::new(
            records,
            Arc::new(queue),
            Arc::new(SystemClock),
            Arc::new(RandomIds),
            installation,
        ))
    }
}

/// Secrets of the environment, and then those of the stack.
struct Overlaid {
    overlay: BTreeMap<String, SecretString>,
    parameters: Parameters,
}

#[async_trait]
impl Secrets for Overlaid {
    async fn read(&self, name: &SecretName) -> Result<SecretString, SecretsError> {
        match self.overlay.get(&name.path()) {
            Some(secret) => Ok(secret.clone()),
            None => self.parameters.read(name).await,
        }
    }

    async fn write(&self, name: &SecretName, value: &SecretString) -> Result<(), SecretsError> {
        self.parameters.write(name, value).await
    }

    async fn remove(&self, name: &SecretName) -> Result<(), SecretsError> {
        self.parameters.remove(name).await
    }
}
