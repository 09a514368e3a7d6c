//! Posting one signed webhook and reading the answer's status.

use std::sync::OnceLock;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::{Waiting, WebhookTarget};

/// How long GitHub waits for an answer to a webhook, real time.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// The number of the hook, shown in its headers.
pub(crate) const HOOK_ID: u64 = 1;

/// Posts webhooks over one client, made when the first one leaves.
#[derive(Debug, Default)]
pub(crate) struct Courier {
    client: OnceLock<Option<reqwest::Client>>,
}

impl Courier {
    /// Posts one webhook; returns the answer's status, or `None` when no answer came.
    pub(crate) async fn post(&self, target: &WebhookTarget, waiting: &Waiting) -> Option<u16> {
        if waiting.lost {
            return None;
        }
        let client = self.client.get_or_init(client).as_ref()?;
        let mut request = client.post(&target.url).body(waiting.body.clone());
        for (name, value) in
            headers_of(&waiting.event, &waiting.guid, &waiting.body, &target.secret)
        {
            request = request.header(name, value);
        }
        match request.send().await {
            Ok(response) => Some(response.status().as_u16()),
            Err(error) => {
                tracing::debug!(%error, event = waiting.event, "sandbox: a webhook was not answered");
                None
            }
        }
    }
}

/// The headers of a webhook.
pub(crate) fn headers_of(
    event: &str,
    guid: &str,
    body: &str,
    secret: &str,
) -> [(&'static str, String); 7] {
    [
        ("accept", "*/*".to_owned()),
        ("content-type", content_type(body).to_owned()),
        ("user-agent", "GitHub-Hookshot/5a11db0".to_owned()),
        ("x-github-delivery", guid.to_owned()),
        ("x-github-event", event.to_owned()),
        ("x-github-hook-id", HOOK_ID.to_string()),
        ("x-hub-signature-256", sign(secret, body.as_bytes())),
    ]
}

/// Forms begin with the name of their only field; JSON never does.
fn content_type(body: &str) -> &'static str {
    if body.starts_with("payload=") {
        "application/x-www-form-urlencoded"
    } else {
        "application/json"
    }
}

/// The signature of a raw body: `sha256=` and the HMAC in hex.
#[must_use]
pub fn sign(secret: &str, body: &[u8]) -> String {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else {
        // HMAC takes keys of every length, so this is never reached; an empty signature fails closed.
        return String::new();
    };
    mac.update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

/// A client without trusted roots, since the target is always a plain HTTP address nearby.
fn client() -> Option<reqwest::Client> {
    // An already installed provider serves as well.
    drop(rustls::crypto::ring::default_provider().install_default());
    let built = reqwest::Client::builder()
        .timeout(ANSWER_LIMIT)
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .build();
    built
        .inspect_err(|error| tracing::error!(%error, "sandbox: no client for webhooks"))
        .ok()
}
