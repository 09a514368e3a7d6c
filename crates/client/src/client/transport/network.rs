//! The transport to a remote API: over HTTP, with limits.

use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Response, redirect, retry};
use rustls::crypto::CryptoProvider;
use url::{Host, Url};

use super::{Request, Transport, TransportResponse};
use crate::error::Error;

/// Time limit of a call: the API itself waits up to ten seconds for an effect, and the store may be busy.
pub const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Time limit of connecting: the API is nearby or not there at all.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How many bytes of an answer are read: a full list of 200 jobs, each with a long plan.
const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// A network transport to the API.
pub(super) struct Network {
    http: reqwest::Client,
    base: Url,
}

impl Network {
    /// The transport to the API at an address.
    pub(super) fn to(base: Url) -> Result<Self, Error> {
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
        Ok(Self { http, base })
    }

    async fn body(&self, response: &mut Response) -> Result<Vec<u8>, Error> {
        let mut body = Vec::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| self.unanswered(error))?
        {
            if body.len() + chunk.len() > BODY_BYTES_MAX {
                let why = "the answer is far too long";
                return Err(Error::foreign(&self.base, response.status(), why));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    fn unanswered(&self, error: reqwest::Error) -> Error {
        let base = self.base.to_string();
        // The address may hold a mistyped id; the base says enough.
        let source = error.without_url();
        if source.is_connect() {
            Error::Unreachable { base, source }
        } else {
            Error::NoAnswer { base, source }
        }
    }
}

#[async_trait]
impl Transport for Network {
    async fn carry(&self, request: Request) -> Result<TransportResponse, Error> {
        let mut call = self.http.request(request.method, request.url);
        call = call.headers(request.headers);
        if !request.body.is_empty() {
            call = call.body(request.body);
        }
        let sent = call.send().await;
        let mut response = sent.map_err(|error| self.unanswered(error))?;
        let body = self.body(&mut response).await?;
        let status = response.status();
        Ok(TransportResponse { status, body })
    }
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
