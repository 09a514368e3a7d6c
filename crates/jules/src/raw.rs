//! Calls to Jules as they are, for `gaffer probe`: nothing is interpreted, so that what is unknown can be seen.

use std::collections::BTreeMap;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Method, redirect, retry};
use rustls::crypto::CryptoProvider;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;
use url::Url;

use crate::client::{BODY_BYTES_MAX, KEY_HEADER};
use crate::error::Error;
use crate::settings::{self, Settings};

/// A key of the right shape that belongs to no account, to see how a wrong one is refused.
pub const WRONG_KEY: &str = "AIzaSyGafferProbeWrongKey0000000000000000";

/// The headers that are kept of an answer: the others say nothing about what is asked here.
const KEPT_HEADERS: [&str; 3] = ["content-type", "date", "retry-after"];

/// Where the service describes itself, beside the versions.
const DISCOVERY: [&str; 2] = ["$discovery", "rest"];

/// One call.
#[derive(Debug, Clone, PartialEq)]
pub struct RawCall {
    /// `GET`, `POST` or `DELETE`.
    pub method: Method,
    /// The path below `/v1alpha`; `None` for the description of the service.
    pub path: Option<String>,
    /// The query, not encoded.
    pub query: Vec<(String, String)>,
    /// What is sent along.
    pub body: Option<Value>,
    /// Whether a wrong key is shown instead of the account's.
    pub wrong_key: bool,
}

/// What came back.
#[derive(Debug, Clone, PartialEq)]
pub struct RawAnswer {
    /// The HTTP status.
    pub status: u16,
    /// `content-type`, `date` and `retry-after`, where they were sent.
    pub headers: BTreeMap<String, String>,
    /// The body as text; bytes that are no UTF-8 are replaced.
    pub body: String,
}

/// Says anything to Jules, reads and writes alike; only `gaffer probe` holds one.
#[derive(Clone)]
pub struct Raw {
    http: reqwest::Client,
    base: Url,
    key: SecretString,
}

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Raw")
            .field("base", &self.base.as_str())
            .finish_non_exhaustive()
    }
}

impl Raw {
    /// One for an account's key.
    ///
    /// # Errors
    /// [`Error::NoTlsProvider`], [`Error::Base`] and [`Error::Http`].
    pub fn new(settings: &Settings, key: SecretString) -> Result<Self, Error> {
        settings::check(&settings.base)?;
        if CryptoProvider::get_default().is_none() {
            return Err(Error::NoTlsProvider);
        }
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("gaffer/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .timeout(settings.call_timeout.unsigned_abs());
        if settings::is_here(&settings.base) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(Error::Http)?;
        Ok(Self {
            http,
            base: settings.base.clone(),
            key,
        })
    }

    /// Makes one call, once.
    ///
    /// # Errors
    /// In words, when no answer came or it was longer than [`BODY_BYTES_MAX`].
    pub async fn call(&self, call: &RawCall) -> Result<RawAnswer, String> {
        let key = if call.wrong_key {
            WRONG_KEY
        } else {
            self.key.expose_secret()
        };
        let mut header = HeaderValue::from_str(key)
            .map_err(|_| "the key holds characters that no key has".to_owned())?;
        header.set_sensitive(true);
        let mut request = self
            .http
            .request(call.method.clone(), self.url(call))
            .header(KEY_HEADER, header)
            .header(ACCEPT, "application/json");
        if let Some(body) = &call.body {
            request = request
                .header(CONTENT_TYPE, "application/json")
                .body(body.to_string());
        }
        let answered = request.send().await;
        let mut response = answered.map_err(|error| error.without_url().to_string())?;
        let status = response.status().as_u16();
        let headers = kept(response.headers());
        let mut body = Vec::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| error.without_url().to_string())?
        {
            body.extend_from_slice(&chunk);
            if body.len() > BODY_BYTES_MAX {
                return Err(format!("the answer has more than {BODY_BYTES_MAX} bytes"));
            }
        }
        Ok(RawAnswer {
            status,
            headers,
            body: String::from_utf8_lossy(&body).into_owned(),
        })
    }

    fn url(&self, call: &RawCall) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty();
            match &call.path {
                Some(path) => segments.extend(path.split('/')),
                None => segments.pop().extend(DISCOVERY),
            };
        }
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        url
    }
}

fn kept(headers: &HeaderMap) -> BTreeMap<String, String> {
    let of = |name: &&str| {
        Some((
            (*name).to_owned(),
            headers.get(*name)?.to_str().ok()?.to_owned(),
        ))
    };
    KEPT_HEADERS.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(base: &str) -> Raw {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (settings, _) = Settings::at(base).unwrap();
        Raw::new(&settings, SecretString::from("hunter2")).unwrap()
    }

    fn call(path: Option<&str>, query: &[(&str, &str)]) -> RawCall {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        RawCall {
            method: Method::GET,
            path: path.map(str::to_owned),
            query: query.iter().map(pair).collect(),
            body: None,
            wrong_key: false,
        }
    }

    #[test]
    fn a_colon_stays_and_the_description_is_beside_the_version() {
        let raw = raw("http://127.0.0.1:9/jules/v1alpha");
        assert_eq!(
            raw.url(&call(Some("sessions/1:archive"), &[])).as_str(),
            "http://127.0.0.1:9/jules/v1alpha/sessions/1:archive"
        );
        assert_eq!(
            raw.url(&call(None, &[("version", "v1alpha")])).as_str(),
            "http://127.0.0.1:9/jules/$discovery/rest?version=v1alpha"
        );
        assert!(!format!("{raw:?}").contains("hunter2"));
    }
}
