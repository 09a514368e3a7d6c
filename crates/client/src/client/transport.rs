//! One call at a time: address, token, limits, and the error it ends in.

use std::fmt;
use std::time::Duration;

use domain::ids::{InvalidId, SessionId};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Response, StatusCode, redirect, retry};
use rustls::crypto::CryptoProvider;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use url::{Host, Url};

use super::Answer;
use crate::error::Error;
use crate::wire::{IDEMPOTENCY_KEY, Problem};

/// How long one call may take: the door itself waits up to ten seconds for an effect, and the store may be busy.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// How long connecting may take: the door is nearby or not there at all.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How many bytes of an answer are read: a full list of 200 jobs, each with a long plan.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How Google's API keys and tokens begin; none of them is Gaffer's.
const GOOGLE_KEYS: [&str; 2] = ["AIza", "AQ."];

/// A client of one Gaffer; cloning it is cheap.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
    authorization: HeaderValue,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("base", &self.base.as_str())
            .finish_non_exhaustive()
    }
}

/// One call without its token.
pub(super) struct Call {
    method: Method,
    path: Vec<String>,
    query: Vec<(&'static str, String)>,
    body: Option<Vec<u8>>,
    key: Option<String>,
}

impl Call {
    /// A call of the resource at a path of plain segments.
    pub(super) fn new<S: AsRef<str>>(method: Method, path: &[S]) -> Self {
        let path = path
            .iter()
            .map(|segment| segment.as_ref().to_owned())
            .collect();
        Self {
            method,
            path,
            query: Vec::new(),
            body: None,
            key: None,
        }
    }

    /// The same call with a JSON body.
    pub(super) fn body(mut self, body: &impl Serialize) -> Self {
        // Requests are plain fields with text keys, which always serialize; an empty body would be refused by name.
        self.body = Some(serde_json::to_vec(body).unwrap_or_default());
        self
    }

    /// The same call with one more query parameter.
    pub(super) fn with(mut self, name: &'static str, value: String) -> Self {
        self.query.push((name, value));
        self
    }

    /// The same call under a name, so that repeating it does nothing twice.
    pub(super) fn key(mut self, key: Option<&str>) -> Self {
        self.key = key.map(str::to_owned);
        self
    }
}

/// The path of a job. Its id and those of its sessions are plain words, so that nothing in it can be another path.
pub(super) fn job_path(id: &str, rest: &[&str]) -> Result<Vec<String>, InvalidId> {
    let id: SessionId = id.parse().map_err(|refused: InvalidId| InvalidId {
        kind: "job or session id",
        ..refused
    })?;
    let mut path = vec!["jobs".to_owned(), id.to_string()];
    path.extend(rest.iter().map(|segment| (*segment).to_owned()));
    Ok(path)
}

impl Client {
    /// A client of the door at an address.
    ///
    /// # Errors
    /// [`Error::Base`], [`Error::GoogleKey`], [`Error::Token`], [`Error::NoTlsProvider`] unless the process has installed one, and [`Error::Http`].
    pub fn new(base: Url, token: SecretString) -> Result<Self, Error> {
        check(&base)?;
        let authorization = authorization(&token)?;
        // Without a provider the HTTP client's builder would panic, even for plain HTTP.
        if CryptoProvider::get_default().is_none() {
            return Err(Error::NoTlsProvider);
        }
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("gaffer/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(CALL_TIMEOUT);
        if is_here(&base) {
            // A proxy for the outside world cannot reach a service on this machine.
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(Error::Http)?;
        Ok(Self {
            http,
            base,
            authorization,
        })
    }

    /// Makes a call that ends in 200 or 201.
    pub(super) async fn done<T: DeserializeOwned>(&self, call: Call) -> Result<T, Error> {
        let (status, body) = self.send(call).await?;
        self.read(status, &body)
    }

    /// Makes a call that may end in 202.
    pub(super) async fn answer<T: DeserializeOwned>(&self, call: Call) -> Result<Answer<T>, Error> {
        let (status, body) = self.send(call).await?;
        if status == StatusCode::ACCEPTED {
            return Ok(Answer::Later(Box::new(self.read(status, &body)?)));
        }
        Ok(Answer::Done(self.read(status, &body)?))
    }

    async fn send(&self, call: Call) -> Result<(StatusCode, Vec<u8>), Error> {
        let mut request = self
            .http
            .request(call.method, self.url(&call.path, &call.query))
            .header(AUTHORIZATION, self.authorization.clone())
            .header(ACCEPT, "application/json, application/problem+json");
        if let Some(key) = call.key {
            request = request.header(IDEMPOTENCY_KEY, key);
        }
        if let Some(body) = call.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        let mut response = request
            .send()
            .await
            .map_err(|error| self.unanswered(error))?;
        let status = response.status();
        let body = self.body(&mut response).await?;
        if status.is_success() {
            return Ok((status, body));
        }
        match serde_json::from_slice::<Problem>(&body) {
            Ok(problem) => Err(Error::Problem(Box::new(problem))),
            Err(_) => Err(self.foreign(status, "the refusal is not a problem document")),
        }
    }

    async fn body(&self, response: &mut Response) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| self.unanswered(error))?
        {
            if body.len() + chunk.len() > BODY_BYTES_MAX {
                return Err(self.foreign(response.status(), "the answer is far too long"));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn read<T: DeserializeOwned>(&self, status: StatusCode, body: &[u8]) -> Result<T, Error> {
        serde_json::from_slice(body).map_err(|error| self.foreign(status, &error.to_string()))
    }

    fn unanswered(&self, error: reqwest::Error) -> Error {
        let base = self.base.to_string();
        // The address may hold an id somebody mistyped; the base says enough.
        let source = error.without_url();
        if source.is_connect() {
            Error::Unreachable { base, source }
        } else {
            Error::NoAnswer { base, source }
        }
    }

    fn foreign(&self, status: StatusCode, why: &str) -> Error {
        Error::Foreign {
            base: self.base.to_string(),
            status: status.as_u16(),
            why: why.to_owned(),
        }
    }

    fn url(&self, path: &[String], query: &[(&'static str, String)]) -> Url {
        let mut url = self.base.clone();
        // `check` refused addresses that have no path to join to.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        url
    }
}

/// Refuses an address that could carry a secret or that paths cannot be joined to.
fn check(base: &Url) -> Result<(), Error> {
    let why = if !matches!(base.scheme(), "http" | "https") {
        "it must begin with http:// or https://"
    } else if !base.username().is_empty() || base.password().is_some() {
        "it must not hold a user name or password"
    } else if base.query().is_some() || base.fragment().is_some() {
        "it must not hold a query or fragment"
    } else {
        return Ok(());
    };
    let host = base.host_str().unwrap_or_default();
    Err(Error::Base {
        base: format!("{}://{host}", base.scheme()),
        why,
    })
}

fn authorization(token: &SecretString) -> Result<HeaderValue, Error> {
    let token = token.expose_secret().trim();
    if GOOGLE_KEYS.iter().any(|start| token.starts_with(start)) {
        return Err(Error::GoogleKey);
    }
    let plain = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    let header = HeaderValue::from_str(&format!("Bearer {token}")).ok();
    let mut header = header.filter(|_| plain).ok_or(Error::Token)?;
    header.set_sensitive(true);
    Ok(header)
}

/// Whether an address is on this machine.
fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
