//! Talking to Jules and recording it: every call is kept as it may be shown to others.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use anyhow::{Result, anyhow};
use jules::{Raw, RawCall};
use reqwest::Method;
use sandbox::replay::{Answered, Asked, Exchange, Transcript, digest};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::redact::{self, Whose};

/// Longest wait that a refusal for too many requests is given.
const STAY_AWAY: Duration = Duration::from_secs(60);

/// How often a reading is asked again after such a refusal.
const AGAIN_MAX: u32 = 2;

/// The window in which requests are counted.
const MINUTE: Duration = Duration::from_secs(60);

/// What came back, read as far as it can be.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) status: u16,
    pub(super) headers: BTreeMap<String, String>,
    /// JSON, or the text; null when it was empty.
    pub(super) body: Value,
}

impl Seen {
    pub(super) fn is_ok(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A text of the body.
    pub(super) fn text(&self, pointer: &str) -> &str {
        self.body
            .pointer(pointer)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The status in one line, with Google's own word and any reason.
    pub(super) fn line(&self) -> String {
        let mut line = self.status.to_string();
        let details = self
            .body
            .pointer("/error/details")
            .and_then(Value::as_array);
        let reason = details
            .into_iter()
            .flatten()
            .find_map(|it| it.get("reason").and_then(Value::as_str));
        for word in [Some(self.text("/error/status")), reason]
            .into_iter()
            .flatten()
        {
            if !word.is_empty() {
                line = format!("{line} {word}");
            }
        }
        line
    }

    /// Whether it speaks of a limit, in either of the ways that were seen.
    pub(super) fn is_limit(&self) -> bool {
        self.status == 429
            || ["FAILED_PRECONDITION", "RESOURCE_EXHAUSTED"].contains(&self.text("/error/status"))
    }

    /// What it says about coming back.
    pub(super) fn when(&self) -> String {
        let header = self.headers.get("retry-after");
        let details = self
            .body
            .pointer("/error/details")
            .and_then(Value::as_array);
        let info = details
            .into_iter()
            .flatten()
            .find_map(|it| it.get("retryDelay").and_then(Value::as_str));
        match (header, info) {
            (None, None) => "neither Retry-After nor RetryInfo".to_owned(),
            (Some(header), None) => format!("Retry-After {header}"),
            (None, Some(info)) => format!("RetryInfo {info}"),
            (Some(header), Some(info)) => format!("Retry-After {header} and RetryInfo {info}"),
        }
    }

    /// What the body is, in one word.
    pub(super) fn kind(&self) -> &'static str {
        match &self.body {
            Value::Null => "no body",
            Value::Object(members) if members.is_empty() => "{}",
            Value::Object(members) if members.contains_key("id") => "the session",
            Value::Object(_)
            | Value::Array(_)
            | Value::String(_)
            | Value::Bool(_)
            | Value::Number(_) => "something else",
        }
    }
}

/// The first reading that was refused for too many requests.
#[derive(Debug, Clone)]
pub(super) struct Throttled {
    /// Requests within the minute before it, with it.
    pub(super) requests: usize,
    /// The refusal.
    pub(super) seen: Seen,
}

/// A conversation with Jules.
pub(super) struct Talk {
    raw: Raw,
    repo: String,
    exchanges: Vec<Exchange>,
    asked_at: VecDeque<Instant>,
    /// Ids of the sessions that were begun here.
    pub(super) ours: Vec<String>,
    pub(super) throttled: Option<Throttled>,
}

impl Talk {
    pub(super) fn new(raw: Raw, repo: &str) -> Self {
        Self {
            raw,
            repo: repo.to_owned(),
            exchanges: Vec::new(),
            asked_at: VecDeque::new(),
            ours: Vec::new(),
            throttled: None,
        }
    }

    /// Reads. What is refused for too many requests is asked again later.
    pub(super) async fn get(&mut self, path: &str, query: &[(&str, &str)]) -> Result<Seen> {
        for _ in 0..AGAIN_MAX {
            let seen = self.call(Method::GET, (path, query), None).await?;
            if seen.status != 429 {
                return Ok(seen);
            }
            pause(wait_of(&seen)).await;
        }
        self.call(Method::GET, (path, query), None).await
    }

    /// Reads once, whatever comes.
    pub(super) async fn get_once(&mut self, path: &str, query: &[(&str, &str)]) -> Result<Seen> {
        self.call(Method::GET, (path, query), None).await
    }

    /// Reads with a key that is nobody's.
    pub(super) async fn get_as_nobody(&mut self, path: &str) -> Result<Seen> {
        let mut call = call(Method::GET, (path, &[]), None);
        call.wrong_key = true;
        self.made(call).await
    }

    pub(super) async fn post(&mut self, path: &str, body: Value) -> Result<Seen> {
        self.call(Method::POST, (path, &[]), Some(body)).await
    }

    pub(super) async fn delete(&mut self, path: &str) -> Result<Seen> {
        self.call(Method::DELETE, (path, &[]), None).await
    }

    async fn call(
        &mut self,
        method: Method,
        place: (&str, &[(&str, &str)]),
        body: Option<Value>,
    ) -> Result<Seen> {
        self.made(call(method, place, body)).await
    }

    async fn made(&mut self, call: RawCall) -> Result<Seen> {
        let now = Instant::now();
        self.asked_at.push_back(now);
        while self.asked_at.front().is_some_and(|at| now - *at > MINUTE) {
            self.asked_at.pop_front();
        }
        let answer = self.raw.call(&call).await.map_err(|why| {
            let path = call.path.as_deref().unwrap_or("its description");
            anyhow!("{} {path}: Jules did not answer: {why}", call.method)
        })?;
        let body = match answer.body.trim() {
            "" => Value::Null,
            text => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        };
        let seen = Seen {
            status: answer.status,
            headers: answer.headers,
            body,
        };
        if call.method == Method::POST && call.path.as_deref() == Some("sessions") && seen.is_ok() {
            self.ours.push(seen.text("/id").to_owned());
        }
        // A task that is refused says something about tasks, not about requests.
        let is_read = call.method == Method::GET;
        self.record(call, &seen);
        if is_read && seen.status == 429 && self.throttled.is_none() {
            let requests = self.asked_at.len();
            self.throttled = Some(Throttled {
                requests,
                seen: seen.clone(),
            });
        }
        Ok(seen)
    }

    fn record(&mut self, call: RawCall, seen: &Seen) {
        let path = call.path.unwrap_or_default();
        let about_ours = self
            .ours
            .iter()
            .any(|id| path.starts_with(&format!("sessions/{id}")));
        let whose = if about_ours || path.is_empty() {
            Whose::Ours
        } else {
            Whose::Theirs
        };
        let context = (self.ours.as_slice(), self.repo.as_str());
        let request = Asked {
            method: call.method.to_string(),
            path,
            query: call.query,
            body_digest: call.body.as_ref().map(digest),
            body: call.body.map(|it| redact::shown(&it, Whose::Ours, context)),
            wrong_key: call.wrong_key,
        };
        let response = Answered {
            status: seen.status,
            headers: seen.headers.clone(),
            body: redact::shown(&seen.body, whose, context),
        };
        self.exchanges.push(Exchange { request, response });
    }

    /// Everything so far.
    pub(super) fn transcript(&self) -> Transcript {
        Transcript(self.exchanges.clone())
    }
}

fn call(method: Method, (path, query): (&str, &[(&str, &str)]), body: Option<Value>) -> RawCall {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    RawCall {
        method,
        path: Some(path.to_owned()).filter(|path| !path.is_empty()),
        query: query.iter().map(pair).collect(),
        body,
        wrong_key: false,
    }
}

fn wait_of(seen: &Seen) -> Duration {
    let asked = seen.headers.get("retry-after");
    let asked = asked
        .and_then(|it| it.parse().ok())
        .map(Duration::from_secs);
    asked.unwrap_or(STAY_AWAY).min(STAY_AWAY)
}

/// Lets time pass.
pub(super) async fn pause(how_long: Duration) {
    let _ = tokio::time::timeout(how_long, std::future::pending::<()>()).await;
}
