//! GitHub's logs of webhook deliveries: the App's own, or that of each webhook of a repository that points at Gaffer.
//!
//! Source: GitHub, REST API, "Repository webhooks" and "GitHub App webhooks": the newest come first, pages follow the
//! `Link` header.

use async_trait::async_trait;
use domain::doctor::WEBHOOK_PATH;
use domain::failure::{Failure, FailureClass};
use domain::ids::RepoName;
use domain::redelivery::{DeliveryAttempt, DeliveryId, HookId, WebhookLog};
use engine::ports::{HooksRead, HooksWrite};
use http::Method;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::client::{Call, Client, answered, failure, next_page, refused};
use crate::reader::Reader;
use crate::writer::Writer;

/// 100 webhooks; GitHub allows twenty for each event.
const HOOK_PAGES_MAX: usize = 1;

/// 3,000 deliveries in one pass. The sweep covers what is behind them in the log.
const LOG_PAGES_MAX: usize = 30;

/// A webhook of a repository.
#[derive(Deserialize)]
pub(crate) struct HookWire {
    pub(crate) id: u64,
    #[serde(default)]
    pub(crate) active: bool,
    #[serde(default)]
    pub(crate) events: Vec<String>,
    #[serde(default)]
    pub(crate) config: HookConfig,
}

/// Where a webhook posts to, and in which form.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct HookConfig {
    pub(crate) url: String,
    pub(crate) content_type: String,
}

/// One line of a log.
#[derive(Deserialize)]
struct Line {
    id: u64,
    guid: String,
    delivered_at: Timestamp,
    #[serde(default)]
    redelivery: bool,
    #[serde(default)]
    status_code: Option<u16>,
    event: String,
}

impl HookWire {
    /// Whether it is active and its address has the path of Gaffer's webhook. Deliveries to others do not concern us.
    fn is_ours(&self) -> bool {
        let path = self.config.url.split(['?', '#']).next().unwrap_or_default();
        self.active && path.trim_end_matches('/').ends_with(WEBHOOK_PATH)
    }
}

impl Line {
    fn attempt(self, hook: Option<HookId>) -> Option<DeliveryAttempt> {
        Some(DeliveryAttempt {
            id: DeliveryId(self.id),
            hook,
            guid: self.guid.parse().ok()?,
            at: self.delivered_at,
            redelivery: self.redelivery,
            status: self.status_code.filter(|status| *status > 0),
            event: self.event,
        })
    }
}

#[async_trait]
impl HooksRead for Reader {
    async fn logs(&self, repos: &[RepoName]) -> Result<Vec<WebhookLog>, Failure> {
        if self.client().app_id().is_some() && of_app(self.client()).await?.is_some() {
            return Ok(vec![WebhookLog::App]);
        }
        Ok(repos.iter().cloned().map(WebhookLog::Repo).collect())
    }

    async fn attempts(
        &self,
        log: &WebhookLog,
        since: Timestamp,
    ) -> Result<Option<Vec<DeliveryAttempt>>, Failure> {
        let client = self.client();
        let repo = match log {
            WebhookLog::App => return app_attempts(client, since).await.map(Some),
            WebhookLog::Repo(repo) => repo,
        };
        let hooks = of_repository(client, repo).await?;
        let ours: Vec<&HookWire> = hooks.iter().filter(|hook| hook.is_ours()).collect();
        let mut attempts = Vec::new();
        for hook in &ours {
            let found = of_hook(client, repo, HookId(hook.id), since).await?;
            attempts.extend(found);
        }
        Ok((!ours.is_empty()).then_some(attempts))
    }
}

/// The webhooks of a repository.
pub(crate) async fn of_repository(
    client: &Client,
    repo: &RepoName,
) -> Result<Vec<HookWire>, Failure> {
    let doing = format!("listing the webhooks of {repo}");
    let path = format!("/repos/{repo}/hooks");
    client
        .list::<Vec<HookWire>>(repo, &path, HOOK_PAGES_MAX, &doing)
        .await
}

/// The App's own webhook; none when it has none.
pub(crate) async fn of_app(client: &Client) -> Result<Option<HookConfig>, Failure> {
    let doing = "reading the App's webhook";
    let received = client.inspect("/app/hook/config", doing).await?;
    if received.status.as_u16() == 404 {
        return Ok(None);
    }
    let config: HookConfig = answered(&received, doing)?;
    Ok(Some(config).filter(|config| !config.url.is_empty()))
}

async fn app_attempts(client: &Client, since: Timestamp) -> Result<Vec<DeliveryAttempt>, Failure> {
    let doing = "reading the App's webhook deliveries";
    let mut url = client.base().rest("/app/hook/deliveries?per_page=100");
    let mut attempts = Vec::new();
    for _ in 0..LOG_PAGES_MAX {
        let received = client.call_own(Method::GET, &url, doing).await?;
        attempts.extend(attempts_of(answered(&received, doing)?, None));
        match further(client, next_page(&received), since, &attempts) {
            Some(next) => url = next,
            None => return Ok(attempts),
        }
    }
    tracing::warn!("the App's log of webhook deliveries is too long to be read to its end");
    Ok(attempts)
}

async fn of_hook(
    client: &Client,
    repo: &RepoName,
    hook: HookId,
    since: Timestamp,
) -> Result<Vec<DeliveryAttempt>, Failure> {
    let doing = format!("reading the webhook deliveries of {repo}");
    let path = format!("/repos/{repo}/hooks/{hook}/deliveries?per_page=100");
    let mut url = client.base().rest(&path);
    let mut attempts = Vec::new();
    for _ in 0..LOG_PAGES_MAX {
        let answer = client.read(repo, url, &doing).await?;
        attempts.extend(attempts_of(answer.json(&doing)?, Some(hook)));
        match further(client, answer.next, since, &attempts) {
            Some(next) => url = next,
            None => return Ok(attempts),
        }
    }
    tracing::warn!(%repo, "the log of webhook deliveries is too long to be read to its end");
    Ok(attempts)
}

/// The attempts in the lines of a page. An unreadable line is skipped.
fn attempts_of(lines: Vec<Value>, hook: Option<HookId>) -> impl Iterator<Item = DeliveryAttempt> {
    let lines = lines.into_iter();
    lines.filter_map(move |line| serde_json::from_value::<Line>(line).ok()?.attempt(hook))
}

/// Where to go on after a page, unless everything since then was read.
fn further(
    client: &Client,
    next: Option<String>,
    since: Timestamp,
    attempts: &[DeliveryAttempt],
) -> Option<String> {
    let reaches_back = attempts.iter().any(|attempt| attempt.at < since);
    next.filter(|next| !reaches_back && client.base().contains(next))
}

#[async_trait]
impl HooksWrite for Writer {
    async fn redeliver(
        &self,
        log: &WebhookLog,
        hook: Option<HookId>,
        id: DeliveryId,
    ) -> Result<(), Failure> {
        let doing = format!("asking for the webhook delivery {id} of {log} again");
        let base = self.client().base();
        match (log, hook) {
            (WebhookLog::Repo(repo), Some(hook)) => {
                let path = format!("/repos/{repo}/hooks/{hook}/deliveries/{id}/attempts");
                let call = Call {
                    method: Method::POST,
                    url: base.rest(&path),
                    repo,
                    body: None,
                    doing: &doing,
                };
                self.send(call).await.map(drop)
            }
            (WebhookLog::App, _) => {
                let url = base.rest(&format!("/app/hook/deliveries/{id}/attempts"));
                // The App's own log accepts the App's signature only, not an installation's token.
                let received = self.client().call_own(Method::POST, &url, &doing).await?;
                if received.status.is_success() {
                    return Ok(());
                }
                Err(refused(&doing, &received))
            }
            (WebhookLog::Repo(_), None) => {
                let message = format!("{doing}: it is of no webhook of the repository");
                Err(failure(FailureClass::NotFound, &message).never_sent())
            }
        }
    }
}
