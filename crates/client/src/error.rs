//! Why a call of the API failed.

use domain::ids::InvalidId;
use reqwest::StatusCode;
use url::Url;

use crate::wire::{IDEMPOTENCY_KEY_BYTES_MAX, Problem};

/// Why a client cannot be built, or a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The base is not an address that calls can be made to.
    #[error("`{base}` cannot be the address of Gaffer: {why}")]
    Base {
        /// The given address, without any user name, password or query.
        base: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The token is shaped like one of Google's keys, which are sent to Google alone.
    #[error(
        "the token is shaped like a Google key and was not sent anywhere; GAFFER_TOKEN is Gaffer's own token, JULES_API_KEY is Google's key"
    )]
    GoogleKey,
    /// The token is empty or cannot be sent in a header.
    #[error(
        "the token is empty or holds characters that a header cannot carry; check GAFFER_TOKEN"
    )]
    Token,
    /// No crypto provider is installed, without which the HTTP client cannot be built.
    #[error(
        "no TLS provider is installed; install rustls's ring provider at the start of the process"
    )]
    NoTlsProvider,
    /// The HTTP client could not be built, for example because the machine has no root certificates.
    #[error("building the HTTP client for Gaffer; see whether the machine has root certificates")]
    Http(#[source] reqwest::Error),
    /// An idempotency key that no header carries; nothing was sent.
    #[error(
        "an idempotency key is a text of at most {IDEMPOTENCY_KEY_BYTES_MAX} visible ASCII characters"
    )]
    Key,
    /// The given job or session id is invalid; nothing was sent.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// Nothing listens there, so certainly nothing happened.
    #[error("nobody answers at {base}; start it with `gaffer up`, or check GAFFER_URL")]
    Unreachable {
        /// Where.
        base: String,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// The answer never came whole, so an order may have been taken.
    #[error(
        "no whole answer came from {base}; if it was an order, it may have been taken: look before repeating it"
    )]
    NoAnswer {
        /// From where.
        base: String,
        /// Why.
        #[source]
        source: reqwest::Error,
    },
    /// Gaffer refuses.
    #[error("{0}")]
    Problem(Box<Problem>),
    /// Another service answers there.
    #[error(
        "what answers at {base} does not speak as Gaffer does (status {status}): {why}; check GAFFER_URL"
    )]
    Foreign {
        /// Where.
        base: String,
        /// The HTTP status.
        status: u16,
        /// What is strange.
        why: String,
    },
}

impl Error {
    /// What answers is not Gaffer.
    pub(crate) fn foreign(base: &Url, status: StatusCode, why: &str) -> Self {
        Self::Foreign {
            base: base.to_string(),
            status: status.as_u16(),
            why: why.to_owned(),
        }
    }
}
