//! Talking to Jules and recording it: every call is kept as it may be shown to others.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use anyhow::{Result, bail};
use jules::{Raw, RawCall};
use reqwest::Method;
use sandbox::replay::{Answered, Asked, Exchange, Transcript, digest};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::redact::{self, Whose};

/// Longest wait that a refusal for too many requests is given.
const STAY_AWAY: Duration = Duration::from_secs(60);

/// How often a reading is asked again after such a refusal, or when it was not answered as it should be.
const AGAIN_MAX: u32 = 2;

/// The window in which requests are counted.
const MINUTE: Duration = Duration::from_secs(60);

/// What an answer says about what was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It was done.
    Taken,
    /// It was certainly not done, because of what was asked.
    Refused,
    /// Neither can be told: no answer, a garbled one, or trouble that has nothing to do with what was asked.
    Untold,
}

/// What came back, read as far as it can be.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    /// The HTTP status; 0 when no answer came.
    pub(super) status: u16,
    pub(super) headers: BTreeMap<String, String>,
    /// JSON, or the text; null when it was empty.
    pub(super) body: Value,
}

impl Seen {
    /// No answer came, and why.
    fn nothing(why: &str) -> Self {
        Self {
            status: 0,
            headers: BTreeMap::new(),
            body: json!(why),
        }
    }

    /// What it says about what was asked. A page of a proxy says nothing, whatever its status is.
    pub(super) fn verdict(&self) -> Verdict {
        match self.status {
            200..=299 if self.body.is_object() || self.body.is_null() => Verdict::Taken,
            400 | 409 | 412 | 413 | 422 => Verdict::Refused,
            _ => Verdict::Untold,
        }
    }

    pub(super) fn is_ok(&self) -> bool {
        self.verdict() == Verdict::Taken
    }

    /// Whether it answers in one way or the other.
    pub(super) fn tells(&self) -> bool {
        self.verdict() != Verdict::Untold
    }

    /// Whether asking once more may be answered: the trouble is on the way or at the other end.
    fn stumbled(&self) -> bool {
        let garbled = (200..300).contains(&self.status) && !self.is_ok();
        garbled || self.status == 0 || self.status == 408 || self.status >= 500
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
        if self.status == 0 {
            let why = self.body.as_str().unwrap_or_default();
            return format!("no answer ({why})");
        }
        let mut line = self.status.to_string();
        if self.body.is_string() {
            line.push_str(" with a body that is no JSON");
        }
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

/// One request with what came of it, as it was.
struct Said {
    call: RawCall,
    seen: Seen,
}

/// A conversation with Jules.
pub(super) struct Talk {
    raw: Raw,
    repo: String,
    /// How long to wait before a reading that stumbled is asked again.
    every: Duration,
    said: Vec<Said>,
    asked_at: VecDeque<Instant>,
    /// Ids of the sessions that were begun here.
    pub(super) ours: Vec<String>,
    pub(super) throttled: Option<Throttled>,
}

impl Talk {
    pub(super) fn new(raw: Raw, repo: &str, every: Duration) -> Self {
        Self {
            raw,
            repo: repo.to_owned(),
            every,
            said: Vec::new(),
            asked_at: VecDeque::new(),
            ours: Vec::new(),
            throttled: None,
        }
    }

    /// Reads. What is refused for too many requests, or not answered as it should be, is asked again later.
    ///
    /// # Errors
    /// When no answer comes at all, however often it is asked.
    pub(super) async fn get(&mut self, path: &str, query: &[(&str, &str)]) -> Result<Seen> {
        let mut seen = self.get_once(path, query).await;
        for _ in 0..AGAIN_MAX {
            if seen.status == 429 {
                pause(wait_of(&seen)).await;
            } else if seen.stumbled() {
                pause(self.every).await;
            } else {
                break;
            }
            seen = self.get_once(path, query).await;
        }
        if seen.status == 0 {
            bail!("Jules does not answer: GET {path}: {}", seen.line());
        }
        Ok(seen)
    }

    /// Reads once, whatever comes.
    pub(super) async fn get_once(&mut self, path: &str, query: &[(&str, &str)]) -> Seen {
        self.made(call(Method::GET, (path, query), None)).await
    }

    /// Reads with a key that is nobody's.
    pub(super) async fn get_as_nobody(&mut self, path: &str) -> Seen {
        let mut call = call(Method::GET, (path, &[]), None);
        call.wrong_key = true;
        self.made(call).await
    }

    /// Writes once, whatever comes: what is not answered may have been done.
    pub(super) async fn post(&mut self, path: &str, body: Value) -> Seen {
        self.made(call(Method::POST, (path, &[]), Some(body))).await
    }

    /// Deletes, as [`Talk::post`] writes.
    pub(super) async fn delete(&mut self, path: &str) -> Seen {
        self.made(call(Method::DELETE, (path, &[]), None)).await
    }

    /// A session that was begun here.
    pub(super) fn own(&mut self, id: &str) {
        self.ours.push(id.to_owned());
    }

    async fn made(&mut self, call: RawCall) -> Seen {
        let now = Instant::now();
        self.asked_at.push_back(now);
        while self.asked_at.front().is_some_and(|at| now - *at > MINUTE) {
            self.asked_at.pop_front();
        }
        let seen = match self.raw.call(&call).await {
            Ok(answer) => Seen {
                status: answer.status,
                headers: answer.headers,
                body: match answer.body.trim() {
                    "" => Value::Null,
                    text => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
                },
            },
            Err(why) => Seen::nothing(&why),
        };
        // A task that is refused says something about tasks, not about requests.
        if call.method == Method::GET && seen.status == 429 && self.throttled.is_none() {
            self.throttled = Some(Throttled {
                requests: self.asked_at.len(),
                seen: seen.clone(),
            });
        }
        let said = Said { call, seen };
        let seen = said.seen.clone();
        self.said.push(said);
        seen
    }

    /// Everything so far as it may be shown. What got no answer is no exchange.
    ///
    /// It is masked only here, when it is known which sessions are the probe's.
    pub(super) fn transcript(&self) -> Transcript {
        let answered = self.said.iter().filter(|it| it.seen.status != 0);
        Transcript(answered.map(|it| self.shown(it)).collect())
    }

    fn shown(&self, Said { call, seen }: &Said) -> Exchange {
        let path = call.path.clone().unwrap_or_default();
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
            query: call.query.clone(),
            body_digest: call.body.as_ref().map(digest),
            body: call
                .body
                .as_ref()
                .map(|it| redact::shown(it, Whose::Ours, context)),
            wrong_key: call.wrong_key,
        };
        let response = Answered {
            status: seen.status,
            headers: seen.headers.clone(),
            body: redact::shown(&seen.body, whose, context),
        };
        Exchange { request, response }
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
