//! What `gaffer doctor` asks GitHub: about the credential itself, and about everything that a merge in a repository needs.

mod ci;
mod repository;
mod webhooks;
mod wire;

use std::collections::BTreeMap;

use async_trait::async_trait;
use domain::doctor::{CredentialIdentity, Hook, RepositoryFacts};
use domain::facts::Fact;
use domain::failure::{Failure, FailureClass};
use domain::ids::{BranchName, RepoName};
use engine::ports::GithubProbe;
use jiff::SignedDuration;

use crate::client::{Client, answered, refused};

/// A read-only view of GitHub.
#[derive(Debug, Clone)]
pub struct Probe {
    client: Client,
}

/// What an App may need, resource by resource; a higher access includes the lower. Some of it only some sources need,
/// which the doctor knows.
const APP_NEEDS: [(&str, &str); 10] = [
    ("actions", "read"),
    ("actions", "write"),
    ("checks", "read"),
    ("contents", "write"),
    ("deployments", "read"),
    ("issues", "write"),
    ("metadata", "read"),
    ("pull_requests", "write"),
    ("statuses", "read"),
    ("statuses", "write"),
];

impl Probe {
    /// A probe over a client.
    pub fn new(client: Client) -> Self {
        let client = client.with_any_credential();
        Self { client }
    }

    async fn person(&self) -> Result<CredentialIdentity, Failure> {
        let doing = "asking GitHub whose the token is";
        let received = self.client.inspect("/user", doing).await?;
        if received.status.as_u16() == 403 {
            let refused = refused(doing, &received);
            // Tokens of installations belong to no user.
            return if refused.class == FailureClass::Forbidden {
                Ok(CredentialIdentity::Installation)
            } else {
                Err(refused)
            };
        }
        let user: crate::wire::User = answered(&received, doing)?;
        let scopes = received.headers.get("x-oauth-scopes");
        let scopes = scopes
            .and_then(|scopes| scopes.to_str().ok())
            .map(|scopes| {
                let words = scopes.split(',').map(str::trim);
                words
                    .filter(|word| !word.is_empty())
                    .map(str::to_owned)
                    .collect()
            });
        Ok(CredentialIdentity::Person {
            login: user.login,
            scopes,
        })
    }

    async fn app(&self) -> Result<CredentialIdentity, Failure> {
        let doing = "asking GitHub which App this is";
        let received = self.client.inspect("/app", doing).await?;
        if received.status.as_u16() == 404 {
            let why = "GitHub knows no App with this id".to_owned();
            return Ok(CredentialIdentity::Refused { why });
        }
        let app: wire::ProbedApp = answered(&received, doing)?;
        Ok(CredentialIdentity::App { slug: app.slug })
    }

    /// Why the App may not work in a repository, and the permissions that it lacks there.
    async fn installation(&self, repo: &RepoName) -> Result<Vec<String>, RepositoryFacts> {
        let doing = format!("looking for the App's installation on {repo}");
        let trouble = |failure: &Failure| RepositoryFacts::Trouble {
            why: failure.message.clone(),
        };
        let path = format!("/repos/{repo}/installation");
        let received = self
            .client
            .inspect(&path, &doing)
            .await
            .map_err(|it| trouble(&it))?;
        match received.status.as_u16() {
            404 => return Err(RepositoryFacts::AppNotInstalled),
            300..=399 => return Err(RepositoryFacts::Renamed { to: None, id: None }),
            _other => {}
        }
        let found: wire::ProbedInstallation =
            answered(&received, &doing).map_err(|it| trouble(&it))?;
        if found.suspended_at.is_some() {
            return Err(RepositoryFacts::AppSuspended);
        }
        Ok(lacking(&found.permissions))
    }
}

fn lacking(granted: &BTreeMap<String, String>) -> Vec<String> {
    let enough = |resource: &str, access: &str| {
        granted
            .get(resource)
            .is_some_and(|granted| granted == access || granted == "write" || granted == "admin")
    };
    APP_NEEDS
        .into_iter()
        .filter(|(resource, access)| !enough(resource, access))
        .map(|(resource, access)| format!("{resource}: {access}"))
        .collect()
}

fn not_known(failure: &Failure) -> CredentialIdentity {
    let why = failure.message.clone();
    match failure.class {
        FailureClass::Unauthorized => CredentialIdentity::Refused { why },
        // A wrong address answers 404, or with something that is no JSON.
        FailureClass::Network | FailureClass::Garbled | FailureClass::NotFound => {
            CredentialIdentity::Unreachable { why }
        }
        FailureClass::Forbidden
        | FailureClass::Precondition
        | FailureClass::Conflict
        | FailureClass::Invalid
        | FailureClass::Throttled
        | FailureClass::Unavailable => CredentialIdentity::Trouble { why },
    }
}

/// The fact from a read, or why it is unknown. A 404 counts as forbidden where GitHub hides what the caller may not
/// see.
fn fact<T>(read: Result<T, Failure>, permission: &str, hides: bool) -> Fact<T> {
    match read {
        Ok(value) => Fact::Known(value),
        Err(failure)
            if failure.class == FailureClass::Forbidden
                || hides && failure.class == FailureClass::NotFound =>
        {
            Fact::Forbidden {
                permission: permission.to_owned(),
            }
        }
        Err(failure) => Fact::Unknown {
            why: failure.message,
        },
    }
}

#[async_trait]
impl GithubProbe for Probe {
    async fn identity(&self) -> CredentialIdentity {
        let asked = if self.client.app_id().is_some() {
            self.app().await
        } else {
            self.person().await
        };
        asked.unwrap_or_else(|failure| not_known(&failure))
    }

    async fn app_hook(&self) -> Fact<Option<Hook>> {
        if self.client.app_id().is_none() {
            return Fact::Known(None);
        }
        match webhooks::of_app(&self.client).await {
            Err(failure) if failure.class == FailureClass::NotFound => Fact::Known(None),
            read => fact(read, webhooks::HOOKS_READ, false),
        }
    }

    async fn repository(&self, repo: &RepoName, base: &BranchName) -> RepositoryFacts {
        let missing = match self.client.app_id() {
            None => Vec::new(),
            Some(_) => match self.installation(repo).await {
                Ok(missing) => missing,
                Err(facts) => return facts,
            },
        };
        repository::read(&self.client, repo, base, missing).await
    }

    fn ahead(&self) -> Option<SignedDuration> {
        self.client.ahead()
    }
}
