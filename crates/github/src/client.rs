//! The client that reader and writer share: one call at a time, bounded, conditional where it can be, never repeated
//! but for a credential that was replaced meanwhile.

mod address;
mod auth;
mod call;
mod dates;
mod look;
mod memory;
mod pages;
mod rates;
mod refusal;
mod transport;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::ports::{Clock, Secrets};
use octocrab::Octocrab;
use tokio::sync::Mutex;
use url::Url;

pub(crate) use address::{Base, branch_path, segment};
pub(crate) use auth::jwt;
pub(crate) use call::{Answer, Call};
pub(crate) use pages::{Listing, Page};
pub use rates::Rate;
pub(crate) use refusal::{SECONDARY_WAIT, failure, refused};
pub(crate) use transport::{Lost, Received, Request, deadline, exchange};

use auth::Held;
use memory::Memory;
use rates::Rates;

/// Where github.com's API is.
pub(crate) const GITHUB: &str = "https://api.github.com";

/// Why a client could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address of the API cannot be used.
    #[error(
        "the GitHub address at `{0}` cannot be used; give http or https, a host and perhaps a path, and nothing else"
    )]
    Address(String),
    /// The HTTP client could not be made, for example because the machine has no root certificates.
    #[error(
        "the GitHub client could not be made: {0}; check that the machine has root certificates"
    )]
    Transport(String),
}

/// Where GitHub is and as whom we go there. The secret itself comes from the [`Secrets`] port.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address of the REST API, with its base path if it has one.
    pub base: Url,
    /// The App's id, when the secret is an App's private key; none when it is a token.
    pub app_id: Option<u64>,
}

impl Settings {
    /// Settings for an address given as text, github.com's API without one.
    pub fn new(base: Option<&str>, app_id: Option<u64>) -> Result<Self, Error> {
        let base = base.unwrap_or(GITHUB);
        let base = base
            .parse()
            .map_err(|_| Error::Address("an address that is no URL".to_owned()))?;
        Ok(Self { base, app_id })
    }
}

/// What the client has done since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Requests that GitHub answered, or may have.
    pub requests: u64,
    /// How many of them were answered "not modified", which costs none of the budget.
    pub not_modified: u64,
}

/// A client of one GitHub with one credential. Clones share everything.
#[derive(Debug, Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    octocrab: Octocrab,
    base: Base,
    app_id: Option<u64>,
    secrets: Arc<dyn Secrets>,
    clock: Arc<dyn Clock>,
    held: Mutex<Held>,
    memory: Memory,
    rates: Rates,
    dates: dates::Dates,
    requests: AtomicU64,
    not_modified: AtomicU64,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inner")
            .field("base", &self.base)
            .field("app_id", &self.app_id)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Makes a client. Must be called within a tokio runtime, since octocrab starts a task.
    pub fn new(
        settings: &Settings,
        secrets: Arc<dyn Secrets>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        let base = Base::new(&settings.base)?;
        // Octocrab gets the origin only: it joins a base path wrongly when a request's path begins like it. Addresses
        // are complete when they are handed over, and so are their credentials.
        let octocrab = Octocrab::builder()
            .base_uri(base.origin())
            .and_then(|builder| builder.build());
        let octocrab = octocrab.map_err(|error| Error::Transport(error.to_string()))?;
        Ok(Self(Arc::new(Inner {
            octocrab,
            base,
            app_id: settings.app_id,
            secrets,
            clock,
            held: Mutex::default(),
            memory: Memory::default(),
            rates: Rates::default(),
            dates: dates::Dates::default(),
            requests: AtomicU64::new(0),
            not_modified: AtomicU64::new(0),
        })))
    }

    /// What it has done so far.
    pub fn usage(&self) -> Usage {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Usage {
            requests: read(&self.0.requests),
            not_modified: read(&self.0.not_modified),
        }
    }

    /// The budgets as GitHub last told them, by resource (`core`, `graphql` and so on).
    pub fn rates(&self) -> BTreeMap<String, Rate> {
        self.0.rates.all()
    }

    /// The App's id, if we are one.
    pub(crate) fn app_id(&self) -> Option<u64> {
        self.0.app_id
    }

    /// Where the API is.
    pub(crate) fn base(&self) -> &Base {
        &self.0.base
    }

    fn secrets(&self) -> &dyn Secrets {
        self.0.secrets.as_ref()
    }

    fn clock(&self) -> &dyn Clock {
        self.0.clock.as_ref()
    }

    fn held(&self) -> &Mutex<Held> {
        &self.0.held
    }
}
