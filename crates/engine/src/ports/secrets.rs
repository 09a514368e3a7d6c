//! The secrets port: records hold names of secrets, never secrets.

use async_trait::async_trait;
use domain::failure::FailureClass;
use domain::ids::{AccountName, AgentName};
use secrecy::SecretString;

/// Which secret. The path is the same everywhere: below `DATA/secrets/` locally, below `/gaffer/STACK/` on AWS.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SecretName {
    /// A Jules key.
    Jules(AccountName),
    /// The GitHub token, or the App's private key.
    GitHub,
    /// The private key of a GitHub App that is not used yet.
    App(u64),
    /// What GitHub signs webhooks with: the current secret, then the previous after a comma.
    Webhook,
    /// What wakes of an agent are signed with: `whsec_…`, the current one first, then the previous after a comma.
    Agent(AgentName),
    /// The first bearer token of our own API.
    ApiToken,
}

impl SecretName {
    /// The path below the root of all secrets.
    pub fn path(&self) -> String {
        match self {
            Self::Jules(account) => format!("jules/{account}"),
            Self::GitHub => "github".to_owned(),
            Self::App(id) => format!("apps/{id}"),
            Self::Webhook => "webhook".to_owned(),
            Self::Agent(agent) => format!("agents/{agent}"),
            Self::ApiToken => "token".to_owned(),
        }
    }
}

/// Why a secret could not be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretsError {
    /// There is none under this name.
    #[error("there is no secret `{0}` yet")]
    Missing(String),
    /// It exists but others can read it, or it is unreadable.
    #[error("the secret `{name}` cannot be used: {message}")]
    Unusable {
        /// Its path.
        name: String,
        /// What is wrong and how to fix it.
        message: String,
    },
    /// Where secrets are kept does not answer, which says nothing about the secret.
    #[error("the secret `{name}` cannot be read now: {message}")]
    Unreachable {
        /// Its path.
        name: String,
        /// The outcome of the call.
        message: String,
    },
}

impl SecretsError {
    /// The failure of a call that needs this secret. An unavailable store is no refused credential, and causes no
    /// announcement.
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Missing(_) | Self::Unusable { .. } => FailureClass::Unauthorized,
            Self::Unreachable { .. } => FailureClass::Unavailable,
        }
    }
}

/// Where secrets are kept.
#[async_trait]
pub trait Secrets: Send + Sync {
    /// The secret's value, trimmed of a trailing newline.
    async fn read(&self, name: &SecretName) -> Result<SecretString, SecretsError>;

    /// Stores or replaces a secret so that only its owner can read it.
    async fn write(&self, name: &SecretName, value: &SecretString) -> Result<(), SecretsError>;

    /// Deletes a secret; deleting a missing one succeeds.
    async fn remove(&self, name: &SecretName) -> Result<(), SecretsError>;
}
