//! Signed in as a GitHub App: which installation a repository belongs to, and the tokens of each installation.

use std::collections::HashMap;

use domain::failure::{Failure, FailureClass};
use domain::ids::RepoName;
use http::Method;
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use serde::Deserialize;
use tokio::time::Instant;

use super::Client;
use super::broker::BudgetOwner;
use super::call::moved_to;
use super::credential::{Authorization, CachedCredential, InstallationToken};
use super::refusal::{answered, failure};
use super::transport::{Media, Received, Request};

/// An installation token (it lives for an hour) is replaced this long before it expires.
pub(crate) const TOKEN_MARGIN: SignedDuration = SignedDuration::from_mins(5);

/// Cache lifetime of a repository's installation: it changes when the repository is transferred.
pub(crate) const INSTALLATION_TTL: SignedDuration = SignedDuration::from_mins(10);

/// Cache limit: more installations and repositories than any App has.
const REMEMBERED_MAX: usize = 1_000;

#[derive(Deserialize)]
struct NewToken {
    token: String,
    expires_at: Timestamp,
}

#[derive(Deserialize)]
struct AppInstallation {
    id: u64,
    #[serde(default)]
    suspended_at: Option<String>,
}

/// Signed in as the App itself, which may only ask for installations and their tokens.
pub(super) struct AppClient<'a> {
    pub(super) client: &'a Client,
    pub(super) until: Instant,
    pub(super) jwt: SecretString,
}

impl AppClient<'_> {
    /// What calls about a repository are signed in with: a token of the installation that the repository belongs to.
    pub(super) async fn pass(
        &self,
        held: &mut CachedCredential,
        repo: &RepoName,
    ) -> Result<Authorization, Failure> {
        let now = self.client.clock().now();
        let known = held.installations.get(repo);
        let fresh = known.filter(|(_, at)| now.duration_since(*at) < INSTALLATION_TTL);
        let id = match fresh {
            Some((id, _)) => *id,
            None => self.installation(held, repo).await?,
        };
        let kept = held.tokens.get(&id);
        if let Some(token) =
            kept.filter(|token| token.expires_at.duration_since(now) > TOKEN_MARGIN)
        {
            return Ok(pass(&token.token, id));
        }
        let token = self.token(held, repo, id).await?;
        Ok(pass(&token, id))
    }

    async fn token(
        &self,
        held: &mut CachedCredential,
        repo: &RepoName,
        id: u64,
    ) -> Result<SecretString, Failure> {
        let path = format!("/app/installations/{id}/access_tokens");
        let doing = "asking for an installation token";
        let made = self
            .call::<NewToken>(held, Method::POST, &path, doing)
            .await;
        if let Err(failure) = &made
            && matches!(
                failure.class,
                FailureClass::NotFound | FailureClass::Forbidden
            )
        {
            // The App was removed, installed again or suspended: look up its installation again.
            held.installations.remove(repo);
            held.tokens.remove(&id);
        }
        let NewToken { token, expires_at } = made.map_err(|failure| suspended(failure, repo))?;
        let token = SecretString::from(token);
        let kept = InstallationToken {
            token: token.clone(),
            expires_at,
        };
        remember(&mut held.tokens, id, kept);
        Ok(token)
    }

    async fn installation(
        &self,
        held: &mut CachedCredential,
        repo: &RepoName,
    ) -> Result<u64, Failure> {
        let path = format!("/repos/{repo}/installation");
        let doing = "looking for the App's installation";
        let found = self
            .call::<AppInstallation>(held, Method::GET, &path, doing)
            .await;
        held.installations.remove(repo);
        let found = found.map_err(|failure| not_installed(failure, repo))?;
        if found.suspended_at.is_some() {
            held.tokens.remove(&found.id);
            return Err(is_suspended(repo));
        }
        let now = self.client.clock().now();
        remember(&mut held.installations, repo.clone(), (found.id, now));
        Ok(found.id)
    }

    async fn call<T: for<'de> Deserialize<'de>>(
        &self,
        held: &mut CachedCredential,
        method: Method,
        path: &str,
        doing: &str,
    ) -> Result<T, Failure> {
        let base = self.client.base();
        let mut received = self.ask(&method, &base.rest(path), doing).await?;
        let to = moved_to(&received).filter(|to| method == Method::GET && base.contains(to));
        if let Some(to) = to.map(ToOwned::to_owned) {
            // A repository that was renamed or transferred.
            received = self.ask(&method, &to, doing).await?;
        }
        if received.status.as_u16() == 401 {
            held.forget_key(self.client.clock().now());
        }
        answered(&received, doing)
    }

    async fn ask(&self, method: &Method, url: &str, doing: &str) -> Result<Received, Failure> {
        let request = Request {
            media: Media::Json,
            method: method.clone(),
            url,
            body: None,
            bearer: Some(&self.jwt),
            etag: None,
        };
        self.client
            .exchange(request, &BudgetOwner::App, self.until, doing)
            .await
    }
}

fn pass(token: &SecretString, installation: u64) -> Authorization {
    Authorization::new(token.clone(), |_| BudgetOwner::Installation(installation))
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

/// GitHub refuses tokens for a suspended installation.
fn suspended(failure: Failure, repo: &RepoName) -> Failure {
    if failure.class == FailureClass::Forbidden && failure.message.contains("suspended") {
        return is_suspended(repo);
    }
    failure
}

fn is_suspended(repo: &RepoName) -> Failure {
    let owner = repo.owner();
    failure(
        FailureClass::Forbidden,
        &format!(
            "the GitHub App's installation for {repo} is suspended; unsuspend it in the settings of `{owner}` under GitHub Apps"
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
