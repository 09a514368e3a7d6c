//! Who may enter: whoever shows one of our tokens.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::door::Inner;
use crate::live::LiveSecret;
use crate::refusal::Refused;

/// What opens the door.
pub(crate) struct Tokens {
    /// What was told at the start.
    pub(crate) fixed: Digests,
    /// What is kept where secrets are, and may change there.
    pub(crate) kept: Option<LiveSecret>,
}

impl Tokens {
    async fn open_for(&self, given: &str) -> bool {
        if self.fixed.hold(given) {
            return true;
        }
        let Some(kept) = &self.kept else {
            return false;
        };
        Digests::of(&kept.known().await).hold(given)
            || Digests::of(&kept.read_again().await).hold(given)
    }
}

/// Digests of tokens: of equal length, so that comparing them tells nothing about a token.
pub(crate) struct Digests(Vec<[u8; 32]>);

impl Digests {
    /// An empty token opens nothing.
    pub(crate) fn of(tokens: &[SecretString]) -> Self {
        let tokens = tokens.iter().map(|token| token.expose_secret().trim());
        let named = tokens.filter(|token| !token.is_empty());
        Self(named.map(digest).collect())
    }

    fn hold(&self, given: &str) -> bool {
        let given = digest(given);
        let mut matches = Choice::from(0);
        for token in &self.0 {
            // No early end: how long this takes must not tell which token matched.
            matches |= token.ct_eq(&given);
        }
        bool::from(matches)
    }
}

fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// Lets a request pass only with a token, before anything else of it is looked at.
pub(crate) async fn require_token(
    State(door): State<Arc<Inner>>,
    request: Request,
    next: Next,
) -> Response {
    match bearer(&request) {
        Some(token) if door.tokens.open_for(token).await => next.run(request).await,
        Some(_) => refuse("wrong_token", "the bearer token is not one of Gaffer's"),
        None => refuse(
            "no_token",
            "send `Authorization: Bearer` and Gaffer's token; `gaffer up` tells where it is",
        ),
    }
}

fn bearer(request: &Request) -> Option<&str> {
    let header = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = header.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim())
}

fn refuse(code: &str, detail: &str) -> Response {
    Refused::new(StatusCode::UNAUTHORIZED, code, detail).into_response()
}
