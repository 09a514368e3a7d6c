//! The client that reader and writer share: one call at a time, bounded, conditional where possible, never retried except for a replaced
//! credential.

mod address;
mod admission;
mod app;
mod auth;
mod broker;
mod call;
mod connection;
mod credential;
mod dates;
mod etag_cache;
mod here;
mod inspect;
mod log;
mod pages;
mod proof;
mod query;
mod refusal;
mod transport;
mod viewer;
mod writing;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};

use domain::effect::CALL_TIMEOUT;
use domain::github_access::{GitHubBudget, GitHubUsage};
use domain::ids::{RepoId, RepoName};
use engine::ports::{Clock, Secrets, Share};
use jiff::SignedDuration;
use tokio::sync::Mutex;
use tokio::time::Instant;
use url::Url;

pub(crate) use address::{Base, branch_path, encoded, segment};
pub(crate) use call::{Answer, Call, next_page};
pub(crate) use connection::Connection;
pub(crate) use pages::{PAGE_SIZE, Page};
pub(crate) use proof::proof;
pub(crate) use refusal::{SECONDARY_WAIT, answered, failure, is_missing_permission, refused};
pub(crate) use transport::{Media, Request, deadline, exchange};

use admission::AdmissionCache;
use broker::Broker;
use credential::CachedCredential;
use etag_cache::{EtagCache, UnprotectedBranches};

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
}

/// GitHub's address and our identity there. The secret itself comes from the [`Secrets`] port.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address of the REST API, with its base path if it has one.
    pub base: Url,
    /// The App's id, when the secret is an App's private key; `None` when it is a token.
    pub app_id: Option<u64>,
    /// How long one call may take. Stay at or below [`CALL_TIMEOUT`]: effects are held as long as that.
    pub call_timeout: SignedDuration,
    /// How far writes are apart, and a sixtieth of the window in which GitHub's points are counted.
    pub between_writes: SignedDuration,
}

/// GitHub asks for a second between writes, which also keeps them below 80 a minute.
pub const BETWEEN_WRITES: SignedDuration = SignedDuration::from_secs(1);

impl Settings {
    /// Settings for an address, by default github.com's API.
    pub fn new(base: Option<&str>, app_id: Option<u64>) -> Result<Self, Error> {
        let base = base.unwrap_or(GITHUB);
        let base = base
            .parse()
            .map_err(|_| Error::Address("an address that is no URL".to_owned()))?;
        Ok(Self {
            base,
            app_id,
            call_timeout: CALL_TIMEOUT,
            between_writes: BETWEEN_WRITES,
        })
    }
}

/// Cache limit: more repositories than any installation has.
const IDENTITIES_MAX: usize = 1_000;

/// A client of one GitHub with one credential. Clones share everything but the manner in which they ask.
#[derive(Debug, Clone)]
pub struct Client(Arc<Inner>, RequestOptions);

/// How a client asks.
#[derive(Debug, Clone, Copy)]
struct RequestOptions {
    /// Whether it may read on a merge's share.
    share: Share,
    /// Whether it refuses credentials that cannot do the work.
    admits: bool,
    /// The form that answers are wanted in.
    media: Media,
}

struct Inner {
    connection: Connection,
    base: Base,
    app_id: Option<u64>,
    call_timeout: SignedDuration,
    secrets: Arc<dyn Secrets>,
    clock: Arc<dyn Clock>,
    held: Mutex<CachedCredential>,
    verdicts: Mutex<AdmissionCache>,
    memory: EtagCache,
    unprotected: UnprotectedBranches,
    dates: dates::Dates,
    broker: Broker,
    /// The last read number of each repository.
    identities: std::sync::Mutex<HashMap<RepoName, RepoId>>,
    /// The account of each credential, by its fingerprint.
    viewers: std::sync::Mutex<HashMap<String, u64>>,
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
    /// Makes a client.
    pub fn new(
        settings: &Settings,
        secrets: Arc<dyn Secrets>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        let base = Base::new(&settings.base)?;
        let inner = Inner {
            connection: Connection::to(&base),
            base,
            app_id: settings.app_id,
            call_timeout: settings.call_timeout,
            secrets,
            clock,
            held: Mutex::default(),
            verdicts: Mutex::default(),
            memory: EtagCache::default(),
            unprotected: UnprotectedBranches::default(),
            dates: dates::Dates::default(),
            broker: Broker::new(settings.between_writes),
            identities: std::sync::Mutex::default(),
            viewers: std::sync::Mutex::default(),
            requests: AtomicU64::new(0),
            not_modified: AtomicU64::new(0),
        };
        let manner = RequestOptions {
            share: Share::Common,
            admits: true,
            media: Media::Json,
        };
        Ok(Self(Arc::new(inner), manner))
    }

    /// The same client for readings that may use the share that is kept for merges.
    pub(crate) fn with_share(&self, share: Share) -> Self {
        Self(Arc::clone(&self.0), RequestOptions { share, ..self.1 })
    }

    /// The same client for answers in another form.
    pub(crate) fn with_media(&self, media: Media) -> Self {
        Self(Arc::clone(&self.0), RequestOptions { media, ..self.1 })
    }

    /// The same client for finding out what a credential can do: none is refused beforehand.
    pub(crate) fn with_any_credential(&self) -> Self {
        let manner = RequestOptions {
            admits: false,
            ..self.1
        };
        Self(Arc::clone(&self.0), manner)
    }

    /// When a call that starts now must be over.
    fn deadline(&self) -> Instant {
        transport::deadline(self.0.call_timeout)
    }

    /// Its usage so far.
    pub fn usage(&self) -> GitHubUsage {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        GitHubUsage {
            requests: read(&self.0.requests),
            not_modified: read(&self.0.not_modified),
        }
    }

    /// The budgets as GitHub last reported them.
    pub fn budgets(&self) -> Vec<GitHubBudget> {
        self.0.broker.all()
    }

    /// Caches which repository was read under a name.
    pub(crate) fn note_identity(&self, repo: &RepoName, id: RepoId) {
        let mut known = self
            .0
            .identities
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if known.len() >= IDENTITIES_MAX {
            known.clear();
        }
        known.insert(repo.clone(), id);
    }

    /// Which repository was last read under a name.
    pub(crate) fn identity(&self, repo: &RepoName) -> Option<RepoId> {
        self.0
            .identities
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(repo)
            .copied()
    }

    /// The App's id, if we are one.
    pub(crate) fn app_id(&self) -> Option<u64> {
        self.0.app_id
    }

    /// Where the API is.
    pub(crate) fn base(&self) -> &Base {
        &self.0.base
    }

    /// Branches that were seen without classic protection. Only a reason to ask differently.
    pub(crate) fn unprotected(&self) -> &UnprotectedBranches {
        &self.0.unprotected
    }

    fn secrets(&self) -> &dyn Secrets {
        self.0.secrets.as_ref()
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.0.clock.as_ref()
    }

    fn held(&self) -> &Mutex<CachedCredential> {
        &self.0.held
    }

    fn verdicts(&self) -> &Mutex<AdmissionCache> {
        &self.0.verdicts
    }

    fn memory(&self) -> &EtagCache {
        &self.0.memory
    }

    fn broker(&self) -> &Broker {
        &self.0.broker
    }

    fn connection(&self) -> &Connection {
        &self.0.connection
    }

    fn share(&self) -> Share {
        self.1.share
    }

    fn media(&self) -> Media {
        self.1.media
    }

    fn admits(&self) -> bool {
        self.1.admits
    }
}
