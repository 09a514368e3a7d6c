//! Signing in: the secret is read from where secrets are kept, and of an App it is exchanged for installation tokens.

use domain::doctor::CredentialKind;
use domain::failure::{Failure, FailureClass};
use domain::ids::RepoName;
use engine::ports::SecretName;
use jiff::SignedDuration;
use secrecy::{ExposeSecret, SecretString};
use tokio::time::Instant;

use super::Client;
use super::app::AppClient;
use super::broker::BudgetOwner;
use super::credential::{Authorization, CachedCredential, same};
use super::proof::proof;
use super::refusal::failure;

/// How long a secret is used before it is read again, so that a replaced one is noticed.
pub(crate) const SECRET_TTL: SignedDuration = SignedDuration::from_mins(5);

/// What we prove who we are with.
enum Credential {
    /// A token.
    Token(SecretString),
    /// An App's id and private key.
    App {
        app_id: u64,
        private_key: SecretString,
    },
}

fn of_token(token: SecretString) -> Authorization {
    Authorization::new(token, |fingerprint| {
        BudgetOwner::Token(fingerprint.to_owned())
    })
}

impl Client {
    /// What calls about a repository are signed in with. Every failure of it means that the call itself was never sent.
    pub(super) async fn pass(
        &self,
        repo: &RepoName,
        until: Instant,
    ) -> Result<Authorization, Failure> {
        // Held over the exchange on purpose: many calls that start together make one token, not one each.
        let mut held = self.held().lock().await;
        match self.credential(&mut held).await? {
            Credential::Token(token) => Ok(of_token(token)),
            Credential::App {
                app_id,
                private_key,
            } => {
                let app = AppClient {
                    client: self,
                    until,
                    jwt: proof(app_id, &private_key, self.clock().now())?,
                };
                app.pass(&mut held, repo).await.map_err(Failure::never_sent)
            }
        }
    }

    /// The token itself, or the App's own signature, which is good for nothing but the App and its installations.
    pub(super) async fn own_pass(&self) -> Result<Authorization, Failure> {
        let mut held = self.held().lock().await;
        Ok(match self.credential(&mut held).await? {
            Credential::Token(token) => of_token(token),
            Credential::App {
                app_id,
                private_key,
            } => {
                let proof = proof(app_id, &private_key, self.clock().now())?;
                Authorization::new(proof, |_| BudgetOwner::App)
            }
        })
    }

    /// After a 401: whether another bearer than the refused one can be had.
    pub(super) async fn renew(&self, refused: &SecretString) -> bool {
        let mut held = self.held().lock().await;
        let now = self.clock().now();
        if held.replaced_meanwhile(refused, self.app_id().is_some()) {
            return true;
        }
        if !held.may_reread(now) {
            return false;
        }
        let Ok(secret) = self.secrets().read(&SecretName::GitHub).await else {
            return false;
        };
        let other = !same(&secret, refused);
        held.secret = Some((secret, now));
        other
    }

    async fn credential(&self, held: &mut CachedCredential) -> Result<Credential, Failure> {
        let secret = self.secret(held).await?;
        match self.app_id() {
            None => of_github(&secret).map(|()| Credential::Token(secret)),
            Some(app_id) => Ok(Credential::App {
                app_id,
                private_key: secret,
            }),
        }
    }

    async fn secret(&self, held: &mut CachedCredential) -> Result<SecretString, Failure> {
        let now = self.clock().now();
        if let Some((secret, at)) = &held.secret
            && now.duration_since(*at) < SECRET_TTL
        {
            return Ok(secret.clone());
        }
        match (self.secrets().read(&SecretName::GitHub).await, &held.secret) {
            (Ok(secret), _) => {
                held.secret = Some((secret.clone(), now));
                Ok(secret)
            }
            (Err(error), Some((secret, _))) => {
                // The store of secrets is down: the cached secret stays in use.
                tracing::warn!(%error, "the GitHub secret could not be read again");
                Ok(secret.clone())
            }
            (Err(error), None) => {
                let message = format!("signing in to GitHub: {error}");
                Err(failure(error.class(), &message).never_sent())
            }
        }
    }
}

/// A secret that is certainly no token of GitHub's is not sent there: a key is worth more than the refusal.
fn of_github(secret: &SecretString) -> Result<(), Failure> {
    let shape = CredentialKind::detect(secret.expose_secret());
    if shape.may_be_github(false) {
        return Ok(());
    }
    let next = if shape == CredentialKind::PrivateKey {
        "and no App's id is known: set GAFFER_GITHUB_APP_ID, or start again after `gaffer github setup`"
    } else {
        "and no token of GitHub's: put one in the secret `github`"
    };
    let message = format!(
        "signing in to GitHub: what is kept is {}, {next}",
        shape.words()
    );
    Err(failure(FailureClass::Unauthorized, &message).never_sent())
}
