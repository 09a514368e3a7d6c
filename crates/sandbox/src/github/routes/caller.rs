//! The caller: a token, the App with its JSON web token, or an anonymous one; with its rights and its limits.

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde_json::Value;

use crate::github::access::{APP_ID, Access, Resource, TokenKind, TokenSetup, Window};
use crate::github::records::User;
use crate::github::world::{GitHubRefusal, GitHubWorld};

/// How GitHub refuses what should be the App's token and is not.
const NO_JWT: &str = "A JSON web token could not be decoded";

#[derive(Clone, Debug)]
pub(super) enum Caller {
    /// Before the credentials were read.
    Nobody,
    /// A known token.
    Token(TokenSetup),
    /// The App itself.
    App,
}

impl Caller {
    /// Reads `Authorization: Bearer …` or `token …`.
    pub(super) fn identify(
        world: &GitHubWorld,
        headers: &HeaderMap,
        now: Timestamp,
    ) -> Result<Self, GitHubRefusal> {
        let header = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let Some(header) = header else {
            return Err(GitHubRefusal::new(401, "Requires authentication"));
        };
        let secret = match header.split_once(' ') {
            Some((scheme, secret)) if is_token_scheme(scheme) => secret.trim(),
            Some(_) | None => return Err(bad_credentials()),
        };
        if let [head, claims, signature] = secret.split('.').collect::<Vec<_>>()[..] {
            return app_of(head, claims, signature);
        }
        let token = world.tokens.get(secret).ok_or_else(bad_credentials)?;
        if token.expires_at.is_some_and(|end| end <= now) {
            return Err(bad_credentials());
        }
        Ok(Self::Token(token.setup.clone()))
    }

    /// The login under which this caller writes.
    pub(super) fn login(&self) -> &str {
        match self {
            Self::Token(token) => &token.login,
            Self::App => "gaffer-sandbox[bot]",
            Self::Nobody => "ghost",
        }
    }

    /// The user behind the credential: a workflow run's is the bot, whichever user started the run.
    pub(super) fn viewer(&self) -> &str {
        if self.is_actions() {
            "github-actions[bot]"
        } else {
            self.login()
        }
    }

    pub(super) fn actor(&self) -> User {
        User::named(self.login())
    }

    /// Whether this is the token of a workflow run, whose deeds start no other runs.
    pub(super) fn is_actions(&self) -> bool {
        match self {
            Self::Token(token) => token.kind == TokenKind::Actions,
            Self::App | Self::Nobody => false,
        }
    }

    /// Refuses repositories the caller cannot see as if they did not exist.
    pub(super) fn sees(&self, world: &GitHubWorld, repo: &str) -> Result<(), GitHubRefusal> {
        let found = world.repo(repo)?;
        match self {
            Self::Token(token) => {
                let known = world.tokens.get(&token.token);
                let seen = known.is_some_and(|token| token.sees(found.full_name()));
                if seen {
                    Ok(())
                } else {
                    Err(GitHubRefusal::not_found())
                }
            }
            // The App's own token is valid only for the App and its installations.
            Self::App | Self::Nobody => Err(bad_credentials()),
        }
    }

    /// Refuses when a permission is missing, and names the one that would have been enough.
    pub(super) fn need(&self, resource: Resource, access: Access) -> Result<(), GitHubRefusal> {
        let Self::Token(token) = self else {
            return Err(bad_credentials());
        };
        if token.permissions.access(resource) >= access {
            return Ok(());
        }
        let message = match token.kind {
            TokenKind::Classic => "Must have admin rights to Repository.",
            TokenKind::FineGrained => "Resource not accessible by personal access token",
            TokenKind::Installation | TokenKind::Actions => {
                "Resource not accessible by integration"
            }
        };
        let word = if access == Access::Write {
            "write"
        } else {
            "read"
        };
        let needs = Some(format!("{}={word}", resource.as_str()));
        Err(GitHubRefusal {
            needs,
            ..GitHubRefusal::new(403, message)
        })
    }

    /// Refuses all callers but the App.
    pub(super) fn is_app(&self) -> Result<(), GitHubRefusal> {
        match self {
            Self::App => Ok(()),
            Self::Token(_) | Self::Nobody => Err(GitHubRefusal::new(401, NO_JWT)),
        }
    }

    /// Refuses when the hour's requests are used up; the request itself is counted when it is answered.
    pub(super) fn spend(
        &self,
        world: &mut GitHubWorld,
        now: Timestamp,
    ) -> Result<(), GitHubRefusal> {
        let Some((limit, window)) = self.window(world, now) else {
            return Ok(());
        };
        if window.used < limit {
            return Ok(());
        }
        let id = self.actor().id;
        Err(GitHubRefusal::new(
            403,
            format!("API rate limit exceeded for user ID {id}."),
        ))
    }

    /// Counts one request against the hour.
    pub(super) fn count(&self, world: &mut GitHubWorld) {
        if let Self::Token(token) = self
            && let Some(token) = world.tokens.get_mut(&token.token)
        {
            // What is refused for lack of requests uses up none.
            token.window.used = (token.window.used + 1).min(token.setup.rate_limit);
        }
    }

    /// The hour's limit and its usage, after starting a new hour if it is time.
    pub(super) fn window(&self, world: &mut GitHubWorld, now: Timestamp) -> Option<(u64, Window)> {
        let Self::Token(setup) = self else {
            return None;
        };
        let token = world.tokens.get_mut(&setup.token)?;
        token.window.roll(now);
        Some((setup.rate_limit, token.window))
    }

    /// The scopes that answers to classic tokens name.
    pub(super) fn scopes(&self) -> Option<&str> {
        match self {
            Self::Token(token) if token.kind == TokenKind::Classic => Some(&token.scopes),
            Self::Token(_) | Self::App | Self::Nobody => None,
        }
    }
}

/// How GitHub refuses a credential that it does not know, or that is of no use for a request.
pub(super) fn bad_credentials() -> GitHubRefusal {
    GitHubRefusal::new(401, "Bad credentials")
}

fn is_token_scheme(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("token")
}

/// Accepts the App's web token by its claims. The signature is not verified, as the sandbox has no key; only its presence is checked.
fn app_of(head: &str, claims: &str, signature: &str) -> Result<Caller, GitHubRefusal> {
    let refusal = || GitHubRefusal::new(401, NO_JWT);
    let head = decoded(head).ok_or_else(refusal)?;
    let claims = decoded(claims).ok_or_else(refusal)?;
    let issuer = match claims.get("iss") {
        Some(Value::String(text)) => text.parse().ok(),
        Some(number) => number.as_u64(),
        None => None,
    };
    let genuine = head.get("alg").and_then(Value::as_str) == Some("RS256")
        && issuer == Some(APP_ID)
        && claims.get("exp").is_some_and(Value::is_number)
        && !signature.is_empty();
    if genuine {
        Ok(Caller::App)
    } else {
        Err(refusal())
    }
}

fn decoded(part: &str) -> Option<Value> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}
