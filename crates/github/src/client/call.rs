//! One call: signed in, sent once, and its answer judged.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use domain::failure::{Failure, FailureClass};
use domain::ids::RepoName;
use http::Method;
use http::header::{ETAG, LINK, LOCATION};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use super::Client;
use super::memory::Kept;
use super::refusal::{self, failure};
use super::transport::{self, BODY_BYTES_MAX, Lost, Received, Request};

/// One call to the API.
pub(crate) struct Call<'a> {
    /// How.
    pub(crate) method: Method,
    /// Where: an absolute address of the API.
    pub(crate) url: String,
    /// The repository it is about, which chooses the App's installation.
    pub(crate) repo: &'a RepoName,
    /// What is sent along.
    pub(crate) body: Option<Value>,
    /// What we are doing, for messages: `reading acme/shop#7`.
    pub(crate) doing: &'a str,
}

/// A successful answer.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The body, JSON or empty.
    pub(crate) body: Bytes,
    /// Where the next page is.
    pub(crate) next: Option<String>,
}

impl Answer {
    /// The body as JSON.
    pub(crate) fn json<T: DeserializeOwned>(&self, doing: &str) -> Result<T, Failure> {
        let garbled = |error| {
            failure(
                FailureClass::Garbled,
                &format!("{doing}: the answer could not be read: {error}"),
            )
        };
        serde_json::from_slice(&self.body).map_err(garbled)
    }
}

impl Client {
    /// Reads one JSON document at a REST path.
    pub(crate) async fn get<T: DeserializeOwned>(
        &self,
        repo: &RepoName,
        path: &str,
        doing: &str,
    ) -> Result<T, Failure> {
        self.read(repo, self.base().rest(path), doing)
            .await?
            .json(doing)
    }

    /// Reads an address of the API, conditionally if an earlier answer was kept.
    pub(super) async fn read(
        &self,
        repo: &RepoName,
        url: String,
        doing: &str,
    ) -> Result<Answer, Failure> {
        let kept = self.0.memory.find(&url);
        let call = Call {
            method: Method::GET,
            url,
            repo,
            body: None,
            doing,
        };
        let received = Box::pin(self.perform(&call, kept.as_deref())).await?;
        let next = next_page(&received);
        if let (304, Some(kept)) = (received.status.as_u16(), kept) {
            self.0.not_modified.fetch_add(1, Ordering::Relaxed);
            // A list can get another page while this one stays as it was.
            return Ok(Answer {
                body: kept.body.clone(),
                next: next.or_else(|| kept.next.clone()),
            });
        }
        let etag = received.headers.get(ETAG).cloned();
        let answer = self.success(&call, received, next)?;
        match etag {
            Some(etag) => self.0.memory.keep(
                &call.url,
                Kept {
                    etag,
                    body: answer.body.clone(),
                    next: answer.next.clone(),
                },
            ),
            None => self.0.memory.forget(&call.url),
        }
        Ok(answer)
    }

    /// Changes something.
    pub(crate) async fn write(&self, call: Call<'_>) -> Result<Answer, Failure> {
        let received = Box::pin(self.perform(&call, None)).await?;
        self.success(&call, received, None)
    }

    /// Reads a log. GitHub redirects to another host for it, which is asked once, without any credential.
    pub(crate) async fn log(
        &self,
        repo: &RepoName,
        path: &str,
        doing: &str,
    ) -> Result<Option<Bytes>, Failure> {
        let call = Call {
            method: Method::GET,
            url: self.base().rest(path),
            repo,
            body: None,
            doing,
        };
        let received = Box::pin(self.perform(&call, None)).await?;
        if !received.status.is_redirection() {
            return self
                .success(&call, received, None)
                .map(|answer| Some(answer.body));
        }
        match received
            .headers
            .get(LOCATION)
            .and_then(|value| value.to_str().ok())
        {
            Some(address) if self.base().may_fetch(address) => Ok(self.fetch(address).await),
            Some(_) | None => Ok(None),
        }
    }

    /// Fetches an address without any credential; none when it is refused, answered in error or too large.
    async fn fetch(&self, url: &str) -> Option<Bytes> {
        let request = Request {
            method: Method::GET,
            url,
            body: None,
            bearer: None,
            etag: None,
        };
        let received = transport::exchange(&self.0.octocrab, request, transport::deadline())
            .await
            .ok()?;
        (received.status.is_success() && !received.cut).then_some(received.body)
    }

    fn success(
        &self,
        call: &Call<'_>,
        received: Received,
        next: Option<String>,
    ) -> Result<Answer, Failure> {
        if !received.status.is_success() {
            return Err(refusal::refused(call.doing, &received, self.clock().now()));
        }
        if received.cut {
            let message = format!(
                "{}: the answer is larger than {BODY_BYTES_MAX} bytes",
                call.doing
            );
            return Err(failure(FailureClass::Garbled, &message));
        }
        Ok(Answer {
            body: received.body,
            next,
        })
    }

    /// Sends a call; once more if the credential was refused and another one can be had, since a 401 did nothing.
    pub(super) async fn perform(
        &self,
        call: &Call<'_>,
        kept: Option<&Kept>,
    ) -> Result<Received, Failure> {
        let until = transport::deadline();
        let (bearer, received) = self.attempt(call, kept, until).await?;
        if received.status.as_u16() != 401 || !self.renew(&bearer).await {
            return Ok(received);
        }
        self.attempt(call, kept, until)
            .await
            .map(|(_, received)| received)
    }

    async fn attempt(
        &self,
        call: &Call<'_>,
        kept: Option<&Kept>,
        until: Instant,
    ) -> Result<(SecretString, Received), Failure> {
        let bearer = match tokio::time::timeout_at(until, self.bearer(call.repo, until)).await {
            Ok(bearer) => bearer.map_err(|failure| Failure {
                message: format!("{}: {}", call.doing, failure.message),
                ..failure
            })?,
            Err(_) => {
                return Err(failure(
                    FailureClass::Network,
                    &format!("{}: signing in took too long", call.doing),
                )
                .never_sent());
            }
        };
        let request = Request {
            method: call.method.clone(),
            url: &call.url,
            body: call.body.as_ref(),
            bearer: Some(&bearer),
            etag: kept.map(|kept| &kept.etag),
        };
        let mut received = self.exchange(request, until, call.doing).await?;
        received.body = without(&received, &bearer);
        Ok((bearer, received))
    }

    /// One exchange with the API itself, counted, and its budget noted.
    pub(super) async fn exchange(
        &self,
        request: Request<'_>,
        until: Instant,
        doing: &str,
    ) -> Result<Received, Failure> {
        self.0.requests.fetch_add(1, Ordering::Relaxed);
        let received = transport::exchange(&self.0.octocrab, request, until)
            .await
            .map_err(|lost| match lost {
                Lost::NeverSent(why) => failure(
                    FailureClass::Network,
                    &format!("{doing}: GitHub cannot be reached: {why}"),
                )
                .never_sent(),
                Lost::Broken(why) => failure(FailureClass::Network, &format!("{doing}: {why}")),
            })?;
        self.0.rates.note(&received.headers);
        self.0.dates.note(&received.headers, self.clock().now());
        Ok(received)
    }
}

/// The body of a refusal without the credential, should something on the way have repeated it. Its shape may be any.
fn without(received: &Received, bearer: &SecretString) -> Bytes {
    let body = String::from_utf8_lossy(&received.body);
    if received.status.is_success()
        || bearer.expose_secret().is_empty()
        || !body.contains(bearer.expose_secret())
    {
        return received.body.clone();
    }
    body.replace(bearer.expose_secret(), domain::redact::MASK)
        .into()
}

/// The address of the next page in a Link header.
fn next_page(received: &Received) -> Option<String> {
    let link = received.headers.get(LINK)?.to_str().ok()?;
    link.split(',').find_map(|part| {
        let (address, attributes) = part.split_once(';')?;
        let is_next = attributes
            .split(';')
            .any(|attribute| attribute.trim() == "rel=\"next\"");
        let address = address.trim().strip_prefix('<')?.strip_suffix('>')?;
        is_next.then(|| address.to_owned())
    })
}
