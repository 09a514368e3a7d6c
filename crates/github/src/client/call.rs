//! One call: signed in, sent once, and its answer judged.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use domain::failure::{Failure, FailureClass};
use domain::ids::RepoName;
use engine::ports::Share;
use http::Method;
use http::header::{ETAG, LINK, LOCATION};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use super::Client;
use super::broker::{BudgetExhausted, BudgetOwner, Spending};
use super::credential::Authorization;
use super::etag_cache::{CacheKey, CachedAnswer};
use super::refusal::{self, failure};
use super::transport::{self, BODY_BYTES_MAX, Received, Request};

/// The purpose of a call, which decides its price: GraphQL posts its queries too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It changes nothing.
    Read,
    /// It writes.
    Write,
    /// It goes on with what an earlier write began.
    FollowUp,
}

/// One call to the API.
pub(crate) struct Call<'a> {
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
    /// Where it is kept.
    pub(super) place: Option<CacheKey>,
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

/// One exchange, and its credential.
pub(super) struct Exchanged {
    pub(super) received: Received,
    pub(super) pass: Authorization,
    /// The earlier answer that was asked about.
    kept: Option<Arc<CachedAnswer>>,
}

/// Where a read led.
pub(super) enum Redirection {
    /// To its answer.
    Here(Answer),
    /// To another address of the same API.
    On(String),
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

    /// Reads an address of the API, conditionally if an earlier answer is cached. It follows the redirect of a
    /// renamed or transferred repository once, within the API.
    pub(crate) async fn read(
        &self,
        repo: &RepoName,
        url: String,
        doing: &str,
    ) -> Result<Answer, Failure> {
        let again = match self.read_at(repo, url, doing).await? {
            Redirection::Here(answer) => return Ok(answer),
            Redirection::On(address) => self.read_at(repo, address, doing).await?,
        };
        match again {
            Redirection::Here(answer) => Ok(answer),
            Redirection::On(_) => Err(failure(
                FailureClass::Garbled,
                &format!("{doing}: GitHub led on twice"),
            )),
        }
    }

    pub(super) async fn read_at(
        &self,
        repo: &RepoName,
        url: String,
        doing: &str,
    ) -> Result<Redirection, Failure> {
        let call = Call {
            method: Method::GET,
            url,
            repo,
            body: None,
            doing,
        };
        let exchanged = Box::pin(self.perform(&call, Purpose::Read, true)).await?;
        let Exchanged {
            received,
            pass,
            kept,
        } = exchanged;
        let next = next_page(&received);
        if let (304, Some(kept)) = (received.status.as_u16(), kept) {
            self.0.not_modified.fetch_add(1, Ordering::Relaxed);
            // A list can get another page while this one stays unchanged.
            return Ok(Redirection::Here(Answer {
                body: kept.body.clone(),
                next: next.or_else(|| kept.next.clone()),
                place: Some(self.place(&pass, &call)),
            }));
        }
        if let Some(address) = moved_to(&received).filter(|to| self.base().contains(to)) {
            return Ok(Redirection::On(address.to_owned()));
        }
        let etag = received.headers.get(ETAG).cloned();
        let mut answer = success(&call, received, next)?;
        let place = self.place(&pass, &call);
        match etag {
            Some(etag) => {
                let kept = CachedAnswer {
                    etag,
                    body: answer.body.clone(),
                    next: answer.next.clone(),
                };
                self.memory().keep(place.clone(), kept);
            }
            None => self.memory().forget(&place),
        }
        answer.place = Some(place);
        Ok(Redirection::Here(answer))
    }

    /// Sends a call within its budget; retries once if the credential was refused and another one is available, since a 401 did nothing.
    pub(super) async fn perform(
        &self,
        call: &Call<'_>,
        purpose: Purpose,
        conditional: bool,
    ) -> Result<Exchanged, Failure> {
        let until = self.deadline();
        let pass = self.admitted(call, until).await?;
        self.pay(&call.url, call.doing, purpose, &pass)?;
        let exchanged = self.attempt(call, pass, conditional, until).await?;
        let refused = exchanged.received.status.as_u16() == 401;
        if !refused || !self.renew(&exchanged.pass.bearer).await {
            return Ok(exchanged);
        }
        let pass = self.admitted(call, until).await?;
        self.attempt(call, pass, conditional, until).await
    }

    /// Signed in with a credential that can do the work.
    async fn admitted(&self, call: &Call<'_>, until: Instant) -> Result<Authorization, Failure> {
        let pass = self.sign_in(call, until).await?;
        if !self.admits() {
            return Ok(pass);
        }
        let admitted = self.admit(call.repo, &pass, until).await;
        admitted.map_err(|failure| about(call, failure).never_sent())?;
        Ok(pass)
    }

    pub(super) async fn sign_in(
        &self,
        call: &Call<'_>,
        until: Instant,
    ) -> Result<Authorization, Failure> {
        match tokio::time::timeout_at(until, self.pass(call.repo, until)).await {
            Ok(pass) => pass.map_err(|failure| about(call, failure)),
            Err(_) => Err(failure(
                FailureClass::Network,
                &format!("{}: signing in took too long", call.doing),
            )
            .never_sent()),
        }
    }

    /// A call that the budget does not allow now is not sent: it says from when on it may be.
    pub(super) fn pay(
        &self,
        url: &str,
        doing: &str,
        purpose: Purpose,
        pass: &Authorization,
    ) -> Result<(), Failure> {
        let now = self.clock().now();
        let spend = match (purpose, self.share()) {
            (Purpose::Read, Share::Common) => Spending::Read,
            (Purpose::Read, Share::Kept) => Spending::KeptRead,
            (Purpose::Write, _) => Spending::Write,
            (Purpose::FollowUp, _) => Spending::FollowUp,
        };
        let resource = if url == self.base().graphql() {
            "graphql"
        } else {
            "core"
        };
        let spent = self
            .broker()
            .spend(&pass.purse, (resource, doing, spend), now);
        spent.map_err(|BudgetExhausted { until, why }| {
            let message = format!(
                "{doing}: not asked now, since {why}; it is asked again from {until:.0} on"
            );
            failure(FailureClass::Throttled, &message)
                .after(Some(until.duration_since(now)))
                .never_sent()
        })
    }

    pub(super) async fn attempt(
        &self,
        call: &Call<'_>,
        pass: Authorization,
        conditional: bool,
        until: Instant,
    ) -> Result<Exchanged, Failure> {
        let kept = if conditional {
            self.memory().find(&self.place(&pass, call))
        } else {
            None
        };
        let request = Request {
            media: self.media(),
            method: call.method.clone(),
            url: &call.url,
            body: call.body.as_ref(),
            bearer: Some(&pass.bearer),
            etag: kept.as_ref().map(|kept| &kept.etag),
        };
        let mut received = self
            .exchange(request, &pass.purse, until, call.doing)
            .await?;
        received.body = without(&received, &pass.bearer);
        Ok(Exchanged {
            received,
            pass,
            kept,
        })
    }

    fn place(&self, pass: &Authorization, call: &Call<'_>) -> CacheKey {
        CacheKey {
            bearer: pass.fingerprint.clone(),
            url: call.url.clone(),
            media: self.media(),
        }
    }

    /// One exchange with the API itself, counted, and its budget noted.
    pub(super) async fn exchange(
        &self,
        request: Request<'_>,
        purse: &BudgetOwner,
        until: Instant,
        doing: &str,
    ) -> Result<Received, Failure> {
        self.0.requests.fetch_add(1, Ordering::Relaxed);
        let mut received = transport::exchange(self.connection(), request, until)
            .await
            .map_err(|lost| lost.failure(doing))?;
        self.0.dates.note(&received.headers, self.clock().now());
        let said = if received.status.is_client_error() {
            refusal::said(&received.body)
        } else {
            String::new()
        };
        let answer = (received.status, &received.headers, said.as_str());
        received.stay_away = self.broker().note(purse, answer, self.clock().now());
        Ok(received)
    }
}

pub(super) fn success(
    call: &Call<'_>,
    received: Received,
    next: Option<String>,
) -> Result<Answer, Failure> {
    if !received.status.is_success() {
        return Err(refusal::refused(call.doing, &received));
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
        place: None,
    })
}

/// A failure on the way to a call.
fn about(call: &Call<'_>, failure: Failure) -> Failure {
    Failure {
        message: format!("{}: {}", call.doing, failure.message),
        ..failure
    }
}

/// Where a redirect leads.
pub(super) fn moved_to(received: &Received) -> Option<&str> {
    let leads_on = matches!(received.status.as_u16(), 301 | 302 | 307 | 308);
    let to = received.headers.get(LOCATION)?.to_str().ok()?;
    leads_on.then_some(to)
}

/// The body of a refusal without the credential, in case a proxy has repeated it. Its shape may be any.
pub(super) fn without(received: &Received, bearer: &SecretString) -> Bytes {
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
pub(crate) fn next_page(received: &Received) -> Option<String> {
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
