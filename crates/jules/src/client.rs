//! One call at a time: address, key, limits, and the failure it ends in.

mod dates;
mod listing;
mod masking;
mod refusal;
mod wait;

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use domain::failure::{Failure, FailureClass};
use domain::ids::AccountName;
use engine::ports::{Clock, Secrets};
use jiff::{SignedDuration, Timestamp};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Response, redirect, retry};
use rustls::crypto::CryptoProvider;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use url::Url;

use crate::error::Error;
use crate::keys::{Keys, is_within};
use crate::settings::{self, Settings};

pub(crate) use listing::{Extra, Listing};
pub(crate) use refusal::{Cause, Refusal, garbled};

/// How many bytes of a refusal are read; Google's are below 1 KiB.
const ERROR_BYTES_MAX: usize = 8 * 1024;

/// Time limit of connecting: the service is reachable quickly or not at all.
const CONNECT_TIMEOUT: SignedDuration = SignedDuration::from_secs(10);

/// How long the service's refusal of an optional parameter is believed before it is tried again.
const REFUSED_FOR: SignedDuration = SignedDuration::from_hours(1);

/// The header of the key; never a query parameter, since addresses end up in logs.
pub(crate) const KEY_HEADER: &str = "x-goog-api-key";

/// The connection to Jules that [`Reader`](crate::Reader) and [`Writer`](crate::Writer) share; cloning it is cheap.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    /// Made at the first call: reading the machine's root certificates takes longer than a function may take to begin.
    http: OnceLock<reqwest::Client>,
    settings: Settings,
    keys: Keys,
    clock: Arc<dyn Clock>,
    filter: RefusedParameters,
    mask: RefusedParameters,
    dates: dates::Dates,
}

/// When the service last refused an optional parameter.
#[derive(Default)]
struct RefusedParameters(Mutex<Option<Timestamp>>);

impl RefusedParameters {
    fn stands(&self, now: Timestamp) -> bool {
        let at = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        at.is_some_and(|at| is_within(at, now, REFUSED_FOR))
    }

    fn note(&self, now: Timestamp) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
    }
}

/// One call, without its key.
pub(crate) struct Call {
    /// Its purpose, as a phrase such as `reading the session 123`.
    pub(crate) doing: String,
    method: Method,
    path: Vec<String>,
    query: Vec<(&'static str, String)>,
    body: Option<Vec<u8>>,
}

impl Call {
    /// A GET of the resource at a path of plain segments.
    pub(crate) fn get(doing: String, path: Vec<String>) -> Self {
        Self {
            doing,
            method: Method::GET,
            path,
            query: Vec::new(),
            body: None,
        }
    }

    pub(crate) fn delete(doing: String, path: Vec<String>) -> Self {
        Self {
            method: Method::DELETE,
            ..Self::get(doing, path)
        }
    }

    /// A POST of a JSON body.
    pub(crate) fn post(
        doing: String,
        path: Vec<String>,
        body: &impl Serialize,
    ) -> Result<Self, Failure> {
        let body = serde_json::to_vec(body)
            .map_err(|error| Failure::new(FailureClass::Invalid, format!("{doing}: {error}")))?;
        Ok(Self {
            method: Method::POST,
            body: Some(body),
            ..Self::get(doing, path)
        })
    }

    /// The same call with one more query parameter.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }
}

impl Client {
    /// A client that takes each account's key from the secrets and its time from the clock.
    ///
    /// # Errors
    /// [`Error::NoTlsProvider`] unless the process has installed one, and [`Error::Base`].
    pub fn new(
        settings: Settings,
        secrets: Arc<dyn Secrets>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        settings::check(&settings.base)?;
        if CryptoProvider::get_default().is_none() {
            return Err(Error::NoTlsProvider);
        }
        Ok(Self(Arc::new(Inner {
            http: OnceLock::new(),
            settings,
            keys: Keys::new(secrets, clock.clone()),
            clock,
            filter: RefusedParameters::default(),
            mask: RefusedParameters::default(),
            dates: dates::Dates::default(),
        })))
    }

    /// Whether session lists should be asked for with a field mask.
    pub(crate) fn wants_mask(&self) -> bool {
        self.0.settings.field_mask
    }

    /// How far Jules's clock was ahead of ours at its last answer.
    pub(crate) fn ahead(&self) -> Option<SignedDuration> {
        self.0.dates.ahead()
    }

    /// Makes a call and returns the body of its success.
    ///
    /// A refused key is read again, and the call is repeated only if the key has been replaced: the refusal was
    /// certain.
    pub(crate) async fn call(
        &self,
        account: &AccountName,
        call: &Call,
    ) -> Result<Vec<u8>, Refusal> {
        let key = self.0.keys.key(account).await?;
        let answer = self.once(call, &key).await;
        match answer {
            Err(refusal) if refusal.failure.class == FailureClass::Unauthorized => {
                match self.0.keys.instead_of(account, &key).await {
                    Some(other) => self.once(call, &other).await,
                    None => Err(refusal),
                }
            }
            Ok(_) | Err(_) => answer,
        }
    }

    async fn once(&self, call: &Call, key: &SecretString) -> Result<Vec<u8>, Refusal> {
        let now = self.0.clock.now();
        let hidden = key.expose_secret();
        let mut response = self
            .request(call, hidden)?
            .send()
            .await
            .map_err(|error| refusal::unanswered(&call.doing, &error, hidden))?;
        self.0.dates.note(response.headers(), self.0.clock.now());
        let status = response.status();
        let whole = status.is_success();
        // Only the beginning of a refusal is ever shown.
        let limit = if whole {
            self.0.settings.body_bytes_max
        } else {
            ERROR_BYTES_MAX
        };
        let read = read_capped(&mut response, limit).await;
        tracing::debug!(http.method = %call.method, http.status = status.as_u16(), http.bytes = read.body.len(), "{}", call.doing);
        if !whole {
            return Err(refusal::refused(
                &call.doing,
                &response,
                &read.body,
                hidden,
                now,
            ));
        }
        match read.end {
            End::Whole => Ok(read.body),
            End::Cut => Err(Refusal::too_large(&call.doing, limit)),
            End::Lost(error) => Err(refusal::unanswered(&call.doing, &error, hidden)),
        }
    }

    fn request(&self, call: &Call, key: &str) -> Result<reqwest::RequestBuilder, Refusal> {
        let mut header = HeaderValue::from_str(key.trim())
            .ok()
            .filter(|header| !header.is_empty())
            .ok_or_else(|| Refusal::unusable_key(&call.doing))?;
        header.set_sensitive(true);
        let mut request = self
            .http()
            .map_err(|error| refusal::unanswered(&call.doing, &error, key))?
            .request(call.method.clone(), self.url(call))
            .header(KEY_HEADER, header)
            .header(ACCEPT, "application/json");
        if let Some(body) = &call.body {
            request = request
                .header(CONTENT_TYPE, "application/json")
                .body(body.clone());
        }
        Ok(request)
    }

    /// The HTTP client, which cannot be made on a machine without root certificates.
    fn http(&self) -> Result<&reqwest::Client, reqwest::Error> {
        if let Some(http) = self.0.http.get() {
            return Ok(http);
        }
        let settings = &self.0.settings;
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("gaffer/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .connect_timeout(CONNECT_TIMEOUT.unsigned_abs())
            .timeout(settings.call_timeout.unsigned_abs());
        if settings::is_here(&settings.base) {
            // A proxy for the outside world cannot reach a service on this machine.
            builder = builder.no_proxy();
        }
        let made = builder.build()?;
        Ok(self.0.http.get_or_init(|| made))
    }

    /// The call's address. Segments are encoded one by one, and a colon stays a colon, which Jules insists on.
    fn url(&self, call: &Call) -> Url {
        let mut url = self.0.settings.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(&call.path);
        }
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        url
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("base", &self.0.settings.base.as_str())
            .finish_non_exhaustive()
    }
}

/// The part of a body that was read.
struct Read {
    body: Vec<u8>,
    end: End,
}

/// How reading a body ended.
enum End {
    Whole,
    Cut,
    Lost(reqwest::Error),
}

/// Reads at most `limit` bytes; the rest of a longer body stays unread.
async fn read_capped(response: &mut Response, limit: usize) -> Read {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                let room = limit.saturating_sub(body.len());
                body.extend(chunk.iter().take(room));
                if chunk.len() > room {
                    return Read {
                        body,
                        end: End::Cut,
                    };
                }
            }
            Ok(None) => {
                return Read {
                    body,
                    end: End::Whole,
                };
            }
            Err(error) => {
                return Read {
                    body,
                    end: End::Lost(error),
                };
            }
        }
    }
}
