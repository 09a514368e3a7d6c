//! The credential: read from where secrets are kept, held for a while, and exchanged for installation tokens of an App.

use std::collections::HashMap;

use domain::failure::{Failure, FailureClass};
use domain::ids::RepoName;
use engine::ports::SecretName;
use http::Method;
use jiff::{SignedDuration, Timestamp};
use octocrab::auth::{EncodingKey, create_jwt};
use octocrab::models::AppId;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use tokio::time::Instant;

use super::Client;
use super::refusal::{failure, refused};
use super::transport::{Received, Request};

/// How long a secret is used before it is read again, so that a replaced one is noticed.
pub(crate) const SECRET_TTL: SignedDuration = SignedDuration::from_mins(5);

/// After a 401 the secret is read again at once, but not more often than this.
pub(crate) const REREAD_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// An installation token (it lives for an hour) is replaced this long before it expires.
pub(crate) const TOKEN_MARGIN: SignedDuration = SignedDuration::from_mins(5);

/// More installations and repositories than anybody has are not remembered.
const REMEMBERED_MAX: usize = 1_000;

/// What we prove who we are with.
enum Credential {
    /// A personal access token.
    Token(SecretString),
    /// An App's id and private key.
    App {
        app_id: u64,
        private_key: SecretString,
    },
}

/// What is held between calls.
#[derive(Default)]
pub(crate) struct Held {
    secret: Option<(SecretString, Timestamp)>,
    reread_at: Option<Timestamp>,
    installations: HashMap<RepoName, u64>,
    tokens: HashMap<u64, InstallationToken>,
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Held")
    }
}

#[derive(Clone)]
struct InstallationToken {
    token: SecretString,
    expires_at: Timestamp,
}

#[derive(Deserialize)]
struct NewToken {
    token: String,
    expires_at: Timestamp,
}

#[derive(Deserialize)]
struct Installation {
    id: u64,
}

impl Client {
    /// The bearer for calls about a repository. Every failure of it means that the call itself was never sent.
    pub(super) async fn bearer(
        &self,
        repo: &RepoName,
        until: Instant,
    ) -> Result<SecretString, Failure> {
        // Held over the exchange on purpose: many calls that start together make one token, not one each.
        let mut held = self.held().lock().await;
        match self.credential(&mut held).await? {
            Credential::Token(token) => Ok(token),
            Credential::App {
                app_id,
                private_key,
            } => {
                let app = App {
                    client: self,
                    until,
                    jwt: jwt(app_id, &private_key)?,
                };
                app.token(&mut held, repo)
                    .await
                    .map_err(Failure::never_sent)
            }
        }
    }

    /// The token itself, or the App's own signature, which is good for nothing but the App and its installations.
    pub(super) async fn own_bearer(&self) -> Result<SecretString, Failure> {
        let mut held = self.held().lock().await;
        match self.credential(&mut held).await? {
            Credential::Token(token) => Ok(token),
            Credential::App {
                app_id,
                private_key,
            } => jwt(app_id, &private_key),
        }
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

    async fn credential(&self, held: &mut Held) -> Result<Credential, Failure> {
        let secret = self.secret(held).await?;
        Ok(match self.app_id() {
            None => Credential::Token(secret),
            Some(app_id) => Credential::App {
                app_id,
                private_key: secret,
            },
        })
    }

    async fn secret(&self, held: &mut Held) -> Result<SecretString, Failure> {
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
                // The store of secrets is down: what worked until now goes on working.
                tracing::warn!(%error, "the GitHub secret could not be read again");
                Ok(secret.clone())
            }
            (Err(error), None) => {
                let message = format!("signing in to GitHub: {error}");
                Err(failure(FailureClass::Unauthorized, &message).never_sent())
            }
        }
    }
}

impl Held {
    /// Whether the refused bearer is not the one that would be used now; a refused installation token is forgotten.
    fn replaced_meanwhile(&mut self, refused: &SecretString, is_app: bool) -> bool {
        if is_app {
            let before = self.tokens.len();
            self.tokens.retain(|_, token| !same(&token.token, refused));
            return self.tokens.len() == before;
        }
        self.secret
            .as_ref()
            .is_some_and(|(secret, _)| !same(secret, refused))
    }

    /// Takes the one reading that each minute allows.
    fn may_reread(&mut self, now: Timestamp) -> bool {
        let may = self
            .reread_at
            .is_none_or(|at| now.duration_since(at) >= REREAD_EVERY);
        if may {
            self.reread_at = Some(now);
        }
        may
    }
}

fn same(one: &SecretString, other: &SecretString) -> bool {
    one.expose_secret() == other.expose_secret()
}

/// Signed in as the App itself, which may only ask for installations and their tokens.
struct App<'a> {
    client: &'a Client,
    until: Instant,
    jwt: SecretString,
}

impl App<'_> {
    async fn token(&self, held: &mut Held, repo: &RepoName) -> Result<SecretString, Failure> {
        let id = match held.installations.get(repo) {
            Some(id) => *id,
            None => self.installation(held, repo).await?,
        };
        let now = self.client.clock().now();
        if let Some(token) = held
            .tokens
            .get(&id)
            .filter(|token| token.expires_at.duration_since(now) > TOKEN_MARGIN)
        {
            return Ok(token.token.clone());
        }
        let path = format!("/app/installations/{id}/access_tokens");
        let made = self
            .call::<NewToken>(
                held,
                Method::POST,
                &path,
                "asking for an installation token",
            )
            .await;
        if made
            .as_ref()
            .is_err_and(|failure| failure.class == FailureClass::NotFound)
        {
            // The App was removed and installed again: the installation has another id now.
            held.installations.remove(repo);
        }
        let NewToken { token, expires_at } = made?;
        let token = SecretString::from(token);
        remember(
            &mut held.tokens,
            id,
            InstallationToken {
                token: token.clone(),
                expires_at,
            },
        );
        Ok(token)
    }

    async fn installation(&self, held: &mut Held, repo: &RepoName) -> Result<u64, Failure> {
        let path = format!("/repos/{repo}/installation");
        let found = self
            .call::<Installation>(
                held,
                Method::GET,
                &path,
                "looking for the App's installation",
            )
            .await;
        let id = found.map_err(|failure| not_installed(failure, repo))?.id;
        remember(&mut held.installations, repo.clone(), id);
        Ok(id)
    }

    async fn call<T: for<'de> Deserialize<'de>>(
        &self,
        held: &mut Held,
        method: Method,
        path: &str,
        doing: &str,
    ) -> Result<T, Failure> {
        let url = self.client.base().rest(path);
        let request = Request {
            method,
            url: &url,
            body: None,
            bearer: Some(&self.jwt),
            etag: None,
        };
        let received = self.client.exchange(request, self.until, doing).await?;
        if received.status.as_u16() == 401 {
            self.forget_key(held);
        }
        read(&received, doing, self.client.clock().now())
    }

    /// The key was refused: it is read again with the next call, at most once a minute.
    fn forget_key(&self, held: &mut Held) {
        if held.may_reread(self.client.clock().now()) {
            held.secret = None;
        }
    }
}

fn read<T: for<'de> Deserialize<'de>>(
    received: &Received,
    doing: &str,
    now: Timestamp,
) -> Result<T, Failure> {
    if !received.status.is_success() {
        return Err(refused(doing, received, now));
    }
    // The parser's words could repeat the token, so they are not shown.
    serde_json::from_slice(&received.body).map_err(|_| {
        failure(
            FailureClass::Garbled,
            &format!("{doing}: the answer could not be read"),
        )
    })
}

fn not_installed(failure: Failure, repo: &RepoName) -> Failure {
    if failure.class != FailureClass::NotFound {
        return failure;
    }
    self::failure(
        FailureClass::Forbidden,
        &format!(
            "the GitHub App is not installed on {repo}; install it there, or give it access to this repository"
        ),
    )
}

/// A map that is emptied when it grows beyond reason: everything in it can be asked for again.
fn remember<K: std::hash::Hash + Eq, V>(map: &mut HashMap<K, V>, key: K, value: V) {
    if map.len() >= REMEMBERED_MAX {
        map.clear();
    }
    map.insert(key, value);
}

/// A token that proves for nine minutes that we are the App. Octocrab takes its times from the machine's clock.
pub(crate) fn jwt(app_id: u64, private_key: &SecretString) -> Result<SecretString, Failure> {
    let bad = |what: &str| {
        failure(
            FailureClass::Unauthorized,
            &format!("signing in as the GitHub App {app_id}: {what}"),
        )
        .never_sent()
    };
    // An environment variable often holds the key in one line, with `\n` written out.
    let pem = private_key.expose_secret().replace("\\n", "\n");
    let key = EncodingKey::from_rsa_pem(pem.as_bytes());
    let key = key.map_err(|_| {
        bad("the private key is no RSA key in PEM; store the file that GitHub gave you")
    })?;
    create_jwt(AppId(app_id), &key)
        .map(SecretString::from)
        .map_err(|_| bad("the private key cannot sign"))
}
