//! One call at a time: address, token, and the error it ends in.

mod network;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use domain::ids::{InvalidId, JobName};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::Answer;
use crate::error::Error;
use crate::wire::{IDEMPOTENCY_KEY, IDEMPOTENCY_KEY_BYTES_MAX, Problem, THROUGH, Through};

pub use network::CALL_TIMEOUT;

use network::Network;

/// What every call understands.
const ACCEPTED: &str = "application/json, application/problem+json";

/// Prefixes of Google's API keys and tokens; none of them is Gaffer's.
const GOOGLE_KEYS: [&str; 2] = ["AIza", "AQ."];

/// The nominal address of a client in the API's own process: nothing is ever sent to it.
const WITHIN: &str = "http://localhost/";

/// Carries requests to the API: over a network, or by a function call where the API is in the same process.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// The answer to a request, read whole.
    ///
    /// # Errors
    /// [`Error::Unreachable`], [`Error::NoAnswer`] and [`Error::Foreign`].
    async fn carry(&self, request: Request) -> Result<TransportResponse, Error>;
}

/// A request on its way to the API.
#[derive(Debug)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Where it goes.
    pub url: Url,
    /// The headers, the token's among them.
    pub headers: HeaderMap,
    /// The body; empty without one.
    pub body: Vec<u8>,
}

/// An answer that has come.
#[derive(Debug)]
pub struct TransportResponse {
    /// Its status.
    pub status: StatusCode,
    /// Its body.
    pub body: Vec<u8>,
}

/// A client of one Gaffer; cloning it is cheap.
#[derive(Clone)]
pub struct Client {
    carrier: Arc<dyn Transport>,
    base: Url,
    authorization: HeaderValue,
    through: Through,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("base", &self.base.as_str())
            .finish_non_exhaustive()
    }
}

/// A call on its way.
type ResponseFuture<'a> =
    Pin<Box<dyn Future<Output = Result<(StatusCode, Vec<u8>), Error>> + Send + 'a>>;

/// One call without its token.
pub(crate) struct Call {
    method: Method,
    path: Vec<String>,
    query: Vec<(&'static str, String)>,
    body: Option<Vec<u8>>,
    key: Option<String>,
}

impl Call {
    /// A call of the resource at a path of plain segments.
    pub(crate) fn new<S: AsRef<str>>(method: Method, path: &[S]) -> Self {
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
    pub(crate) fn body(mut self, body: &impl Serialize) -> Self {
        // Requests are plain fields with text keys, which always serialize; an empty body would be refused by name.
        self.body = Some(serde_json::to_vec(body).unwrap_or_default());
        self
    }

    /// The same call with one more query parameter.
    pub(crate) fn with(mut self, name: &'static str, value: String) -> Self {
        self.query.push((name, value));
        self
    }

    /// The same call under a name, so that repeating it does nothing twice.
    pub(crate) fn key(mut self, key: Option<&str>) -> Self {
        self.key = key.map(str::to_owned);
        self
    }
}

/// The path of a job. Its name is one segment, whatever it contains, so that it cannot form another path.
pub(super) fn job_path(name: &str, rest: &[&str]) -> Result<Vec<String>, InvalidId> {
    let mut path = vec!["jobs".to_owned(), name.parse::<JobName>()?.to_string()];
    path.extend(rest.iter().map(|segment| (*segment).to_owned()));
    Ok(path)
}

impl Client {
    /// A client of the HTTP API at an address.
    ///
    /// # Errors
    /// [`Error::Base`], [`Error::GoogleKey`], [`Error::Token`], [`Error::NoTlsProvider`] unless the process has
    /// installed one, and [`Error::Http`].
    pub fn new(base: Url, token: SecretString) -> Result<Self, Error> {
        check(&base)?;
        let authorization = authorization(&token)?;
        let carrier = Arc::new(Network::to(base.clone())?);
        Ok(Self {
            carrier,
            base,
            authorization,
            through: Through::default(),
        })
    }

    /// A client of the API in this process, for a caller that showed this token.
    ///
    /// # Errors
    /// [`Error::GoogleKey`] and [`Error::Token`].
    pub fn within(transport: Arc<dyn Transport>, token: &SecretString) -> Result<Self, Error> {
        let why = "it is no address";
        let base = WITHIN.parse().map_err(|_| Error::Base {
            base: WITHIN.to_owned(),
            why,
        })?;
        Ok(Self {
            carrier: transport,
            base,
            authorization: authorization(token)?,
            through: Through::default(),
        })
    }

    /// The same client, whose orders name this surface.
    #[must_use]
    pub fn through(self, through: Through) -> Self {
        Self { through, ..self }
    }

    /// Makes a call that ends in 200 or 201.
    pub(crate) async fn done<T: DeserializeOwned>(&self, call: Call) -> Result<T, Error> {
        let (status, body) = self.send(call).await?;
        self.read(status, &body)
    }

    /// Makes a call that may end in 202.
    pub(crate) async fn answer<T: DeserializeOwned>(&self, call: Call) -> Result<Answer<T>, Error> {
        let (status, body) = self.send(call).await?;
        if status == StatusCode::ACCEPTED {
            return Ok(Answer::Later(Box::new(self.read(status, &body)?)));
        }
        Ok(Answer::Done(self.read(status, &body)?))
    }

    /// Makes a call. It is compiled once and not into each of the methods, which are many.
    fn send(&self, call: Call) -> ResponseFuture<'_> {
        Box::pin(self.sent(call))
    }

    async fn sent(&self, call: Call) -> Result<(StatusCode, Vec<u8>), Error> {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.authorization.clone());
        headers.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
        let through = HeaderValue::from_static(self.through.word());
        headers.insert(HeaderName::from_static(THROUGH), through);
        if let Some(key) = &call.key {
            let name = HeaderName::from_static(IDEMPOTENCY_KEY);
            let fits = Some(key).filter(|key| key.len() <= IDEMPOTENCY_KEY_BYTES_MAX);
            let value = fits.and_then(|key| HeaderValue::from_str(key).ok());
            headers.insert(name, value.ok_or(Error::Key)?);
        }
        if call.body.is_some() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        let request = Request {
            url: self.url(&call.path, &call.query),
            method: call.method,
            headers,
            body: call.body.unwrap_or_default(),
        };
        let TransportResponse { status, body } = self.carrier.carry(request).await?;
        if status.is_success() {
            return Ok((status, body));
        }
        match serde_json::from_slice::<Problem>(&body) {
            Ok(problem) => Err(Error::Problem(Box::new(problem))),
            Err(_) => Err(self.foreign(status, "the refusal is not a problem document")),
        }
    }

    fn read<T: DeserializeOwned>(&self, status: StatusCode, body: &[u8]) -> Result<T, Error> {
        serde_json::from_slice(body).map_err(|error| self.foreign(status, &error.to_string()))
    }

    fn foreign(&self, status: StatusCode, why: &str) -> Error {
        Error::foreign(&self.base, status, why)
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
