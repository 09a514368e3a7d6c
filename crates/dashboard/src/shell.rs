//! What surrounds the content of every page: head, navigation, viewer and live updates.

use askama::Template;
use domain::web_page::WebPage;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::{Error, assets, text};

/// How much of a digest is an ETag, in bytes: pages of one address differ in it.
const ETAG_BYTES: usize = 16;

/// How much of a commit's id is shown.
const SHA_CHARS: usize = 10;

/// For whom and when a page is rendered.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Now.
    pub now: Timestamp,
    /// Who looks; none before the sign-in.
    pub viewer: Option<Viewer>,
    /// How the page follows what happens.
    pub live: Live,
}

/// Who looks at a page.
#[derive(Debug, Clone)]
pub struct Viewer {
    /// The name of the token.
    pub name: String,
    /// Whether the token allows orders.
    pub may_act: bool,
    /// What every form of this session carries.
    pub form_token: String,
}

/// How a page follows what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Live {
    /// Not at all.
    No,
    /// It is fetched again and again.
    Poll,
    /// An answer is held open until something changed.
    Hold,
}

/// A rendered page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The document.
    pub html: String,
    /// The digest of what it tells, in hex: the same while nothing changes but the age of things.
    pub etag: String,
}

/// The parts of the dashboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Board,
    Pipelines,
    Sources,
    Accounts,
    Workers,
    Wakes,
    /// A page that is no part of the navigation.
    Elsewhere,
}

impl Place {
    const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::Board, "Deliveries", "/dashboard"),
        (Self::Pipelines, "Pipelines", "/dashboard/pipelines"),
        (Self::Sources, "Sources", "/dashboard/sources"),
        (Self::Accounts, "Accounts", "/dashboard/accounts"),
        (Self::Workers, "Workers", "/dashboard/workers"),
        (Self::Wakes, "Wakes", "/dashboard/wakes"),
    ];
}

/// What the templates know of the frame.
pub(crate) struct Shell {
    frame: Frame,
    place: Place,
    /// None while the digest is computed, so that the age of things is no part of it.
    now: Option<Timestamp>,
    pub(crate) etag: String,
}

/// Renders a page: once without the age of things for its digest, and once for the viewer.
pub(crate) fn paged<T: Template>(
    frame: &Frame,
    place: Place,
    build: impl Fn(Shell) -> T,
) -> Result<Page, Error> {
    let shell = |now, etag| Shell {
        frame: frame.clone(),
        place,
        now,
        etag,
    };
    let ageless = build(shell(None, String::new())).render()?;
    let digest = Sha256::digest(&ageless);
    let named: Vec<u8> = digest.into_iter().take(ETAG_BYTES).collect();
    let etag = hex::encode(named);
    let html = build(shell(Some(frame.now), etag.clone())).render()?;
    Ok(Page { html, etag })
}

impl Shell {
    pub(crate) fn style(&self) -> String {
        assets::style().path()
    }

    pub(crate) fn icon(&self) -> String {
        assets::icon().path()
    }

    pub(crate) fn scripts(&self) -> [String; 2] {
        assets::scripts().map(assets::Asset::path)
    }

    /// How the page follows what happens, in a word for the script.
    pub(crate) fn live(&self) -> Option<&'static str> {
        match self.frame.live {
            Live::No => None,
            Live::Poll => Some("poll"),
            Live::Hold => Some("hold"),
        }
    }

    pub(crate) fn viewer(&self) -> Option<&Viewer> {
        self.frame.viewer.as_ref()
    }

    /// The navigation: name, path, and whether it is here.
    pub(crate) fn places(&self) -> [(&'static str, &'static str, bool); 6] {
        Place::ALL.map(|(place, name, path)| (name, path, place == self.place))
    }

    /// The age of a time.
    pub(crate) fn ago(&self, at: &Timestamp) -> String {
        self.now.map(|now| text::ago(*at, now)).unwrap_or_default()
    }

    /// A time for programs.
    pub(crate) fn stamp(&self, at: &Timestamp) -> String {
        text::stamp(*at)
    }

    /// A time for people.
    pub(crate) fn full(&self, at: &Timestamp) -> String {
        text::full(*at)
    }

    /// A duration in seconds, for people.
    pub(crate) fn long(&self, seconds: &u64) -> String {
        text::long(*seconds)
    }

    /// An amount of dollars.
    pub(crate) fn dollars(&self, amount: &f64) -> String {
        format!("{amount:.2}")
    }

    /// The beginning of a commit's id.
    pub(crate) fn short(&self, sha: &str) -> String {
        sha.chars().take(SHA_CHARS).collect()
    }

    /// An address, if it may be a link.
    pub(crate) fn page(&self, address: &str) -> Option<String> {
        WebPage::from_service(address).map(String::from)
    }

    /// The same for an address that may be missing.
    pub(crate) fn link(&self, address: &Option<String>) -> Option<String> {
        address.as_deref().and_then(|address| self.page(address))
    }
}
