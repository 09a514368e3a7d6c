//! The endpoint for GitHub's webhooks. It can only enqueue, and reads no secret but its own.

mod body;
mod counters;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use domain::ids::PullRef;
use engine::ports::{Clock, Queue, SecretName, Secrets};
use engine::work::{IssueWebhook, WebhookEvent, Work};
use github::webhook::{
    Classified, Rejected, SIGNATURE_HEADER, Wakeup, WebhookKind, classify, is_signature, verify,
};
use jiff::SignedDuration;

use crate::live::LiveSecret;
use crate::refusal::Refused;
use crate::route::{Caller, RequestBody, ResponseBody, Row};
use body::Bodies;

pub use counters::WebhookCounters;

/// Longest body of a delivery, in bytes: GitHub's own limit.
pub const WEBHOOK_BODY_BYTES_MAX: usize = 25 * 1024 * 1024;

/// What the webhook endpoint needs: no store, no credential.
#[derive(Clone)]
pub struct WebhookApi {
    /// Where wake-ups go.
    pub queue: Arc<dyn Queue>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Where the webhook's secret is; no other is ever read.
    pub secrets: Arc<dyn Secrets>,
    /// Counters of the deliveries so far.
    pub counters: Arc<WebhookCounters>,
}

/// What deliveries share, cheap to clone.
pub(crate) type Hooks = Arc<WebhookInner>;

/// The endpoint, and the secret of its senders.
pub(crate) struct WebhookInner {
    api: WebhookApi,
    live: LiveSecret,
    bodies: Bodies,
}

/// What GitHub calls.
pub(crate) static HOOKS: &[Row<Hooks>] = &[Row::post(
    "/github/webhook",
    "github_webhook",
    "Takes a webhook delivery of GitHub's, and can do nothing but look at what it names",
    || post(deliver),
)
.called_by(Caller::GitHub)
.sends(RequestBody::Delivery)
.answers(&[(202, ResponseBody::Nothing)])];

/// The outcome of one delivery.
enum Received {
    /// Put in the queue.
    Accepted,
    /// Signed, and about nothing that is followed.
    Ignored,
    /// Not believed.
    Unsigned(Rejected),
    /// Not read, or not readable.
    Refused(StatusCode),
    /// Signed and understood, but the queue did not take it.
    Unavailable,
}

/// `POST /github/webhook`.
async fn deliver(State(inner): State<Hooks>, request: Request) -> Response {
    let received = inner.receive(request).await;
    let counters = &inner.api.counters;
    let status = match received {
        Received::Accepted => {
            counters.accepted();
            return StatusCode::ACCEPTED.into_response();
        }
        Received::Ignored => {
            counters.ignored();
            return StatusCode::ACCEPTED.into_response();
        }
        Received::Unsigned(why) => {
            counters.unsigned(why, inner.api.clock.now());
            StatusCode::UNAUTHORIZED
        }
        Received::Refused(status) => {
            counters.refused();
            status
        }
        Received::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    };
    let mut response = refusal(status).into_response();
    // A token opens nothing here.
    response.headers_mut().remove(WWW_AUTHENTICATE);
    response
}

/// The answer to the sender. It does not reveal whether a secret is configured.
fn refusal(status: StatusCode) -> Refused {
    let (code, detail) = match status {
        StatusCode::UNAUTHORIZED => (
            "bad_signature",
            "`x-hub-signature-256` is not this delivery's signature: give the webhook in GitHub the secret that Gaffer has",
        ),
        StatusCode::PAYLOAD_TOO_LARGE => ("too_large", "the body is longer than 26214400 bytes"),
        StatusCode::REQUEST_TIMEOUT => (
            "too_slow",
            "the body did not come within 10 seconds: deliver it again",
        ),
        StatusCode::UNPROCESSABLE_ENTITY => (
            "bad_json",
            "the body is not JSON: set the webhook's content type to application/json",
        ),
        StatusCode::SERVICE_UNAVAILABLE => (
            "unavailable",
            "the queue cannot be used just now: deliver it again",
        ),
        _ => ("bad_body", "the body did not come whole: deliver it again"),
    };
    let refused = Refused::new(status, code, detail);
    match status {
        StatusCode::UNAUTHORIZED => refused.about(SIGNATURE_HEADER),
        _ => refused,
    }
}

impl WebhookInner {
    /// It reads no secret before the first delivery comes.
    pub(crate) fn new(api: WebhookApi) -> Self {
        let secrets = api.secrets.clone();
        let live = LiveSecret::new(SecretName::Webhook, secrets, api.clock.clone());
        Self {
            api,
            live,
            bodies: Bodies::default(),
        }
    }

    /// Checks a signature against the cached secrets, and after a mismatch against freshly read ones.
    async fn verify(&self, signature: &str, raw: &[u8]) -> Result<(), Rejected> {
        match verify(&self.live.live_secrets().await, Some(signature), raw) {
            Err(Rejected::Mismatch | Rejected::NoSecret) => {
                verify(&self.live.read_again().await, Some(signature), raw)
            }
            Err(rejected @ (Rejected::Unsigned | Rejected::Malformed)) => Err(rejected),
            Ok(()) => Ok(()),
        }
    }

    async fn receive(&self, request: Request) -> Received {
        let received_at = self.api.clock.now();
        let (parts, body) = request.into_parts();
        // Without a signature nothing of the body is even read.
        let signature = match signature(&parts.headers) {
            Ok(signature) => signature,
            Err(rejected) => return Received::Unsigned(rejected),
        };
        let whole = match self.bodies.read(&parts.headers, body).await {
            Ok(whole) => whole,
            Err(status) => return Received::Refused(status),
        };
        if let Err(rejected) = self.verify(signature, &whole.raw).await {
            return Received::Unsigned(rejected);
        }
        match classify(&whole.raw, received_at) {
            Classified::Look(wakeups) => self.enqueue(&wakeups).await,
            Classified::Ignored { why } => {
                tracing::debug!(why, "a webhook delivery is about nothing that is followed");
                Received::Ignored
            }
            Classified::Unreadable => {
                tracing::warn!(
                    "a signed webhook delivery is not JSON: set the webhook's content type to application/json"
                );
                Received::Refused(StatusCode::UNPROCESSABLE_ENTITY)
            }
        }
    }

    async fn enqueue(&self, wakeups: &[Wakeup]) -> Received {
        let mut received = Received::Ignored;
        for work in wakeups.iter().filter_map(work) {
            let body = work.to_body();
            if let Err(error) = self.api.queue.send(&body, SignedDuration::ZERO).await {
                tracing::error!(%error, "a webhook delivery could not be put in the queue");
                return Received::Unavailable;
            }
            received = Received::Accepted;
        }
        received
    }
}

fn signature(headers: &HeaderMap) -> Result<&str, Rejected> {
    let mut given = headers.get_all(SIGNATURE_HEADER).iter();
    let first = given.next().ok_or(Rejected::Unsigned)?;
    let text = first.to_str().ok().filter(|text| is_signature(text));
    // With two signatures at least one is wrong.
    text.filter(|_| given.next().is_none())
        .ok_or(Rejected::Malformed)
}

/// The message for a webhook; `None` for one that names nothing that is followed.
fn work(wakeup: &Wakeup) -> Option<Work> {
    match wakeup.kind {
        WebhookKind::Issue | WebhookKind::IssueComment => issue_work(wakeup),
        WebhookKind::PullRequest
        | WebhookKind::Review
        | WebhookKind::CheckRun
        | WebhookKind::CheckSuite
        | WebhookKind::WorkflowRun
        | WebhookKind::Status
        | WebhookKind::Push => pull_work(wakeup),
    }
}

/// The message about an issue. Which sources take issues, the dispatcher knows; comments on pull requests are about none.
fn issue_work(wakeup: &Wakeup) -> Option<Work> {
    let number = wakeup.number.filter(|_| !wakeup.is_pull)?;
    let webhook = wakeup.repo_id.map(|repo_id| IssueWebhook {
        repo_id,
        received_at: wakeup.received_at,
    });
    Some(Work::Intake {
        repo: wakeup.repo.clone(),
        number: Some(number),
        webhook,
    })
}

/// The message about a pull request, or about a commit that may be one's.
fn pull_work(wakeup: &Wakeup) -> Option<Work> {
    let Wakeup {
        kind: _,
        repo,
        repo_id,
        number,
        sha,
        is_pull: _,
        received_at,
        news,
    } = wakeup;
    if let Some(repo_id) = repo_id
        && (number.is_some() || sha.is_some())
    {
        return Some(Work::Webhook(WebhookEvent {
            repo: repo.clone(),
            repo_id: *repo_id,
            number: *number,
            sha: sha.clone(),
            received_at: *received_at,
            news: *news,
        }));
    }
    match (number, sha) {
        (Some(number), _) => Some(Work::Pull {
            pull: PullRef {
                repo: repo.clone(),
                number: *number,
            },
            job: None,
            received_at: Some(*received_at),
        }),
        (None, Some(sha)) => Some(Work::Commit {
            repo: repo.clone(),
            sha: sha.clone(),
            received_at: *received_at,
        }),
        (None, None) => None,
    }
}
