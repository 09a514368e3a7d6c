//! Reads Jules: sessions, activities, outputs and sources.

mod activities;
mod artifacts;

use async_trait::async_trait;
use domain::failure::Failure;
use domain::ids::{AccountName, ActivityId, RepoName, SessionId};
use domain::marker::Marker;
use domain::session::{Activity, SessionView};
use engine::ports::{Artifacts, SessionPage, SessionsRead, SourceView};
use jiff::Timestamp;

pub use activities::ACTIVITY_PAGES_MAX;
pub use artifacts::PATCH_BYTES_MAX;

use crate::client::{Call, Client, Extra, Listing, garbled};
use crate::wire::{self, Page};

/// How many pages of sessions [`SessionsRead::find`] reads before it gives up: 5,000 sessions.
pub const LIST_PAGES_MAX: usize = 500;

/// How many pages of sources are read: 10,000 repositories.
pub const SOURCE_PAGES_MAX: usize = 100;

/// How many sessions a page is asked for while looking for one: whole patches come along, seen to weigh 0.8 MB each.
const FIND_PAGE_SIZE: u32 = 10;

/// Asks for what lists hide otherwise.
const ARCHIVED: &str = "archived = true";

/// The largest page the service answers.
const PAGE_SIZE_MAX: u32 = 100;

/// Reads Jules; holding one cannot change anything there.
#[derive(Debug, Clone)]
pub struct Reader {
    client: Client,
}

impl Reader {
    /// A reader over a client.
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    /// One repository as Jules knows it.
    ///
    /// # Errors
    /// `NotFound` when Jules has no access to it, or sometimes when too much is asked at once.
    pub async fn source(
        &self,
        account: &AccountName,
        repo: &RepoName,
    ) -> Result<SourceView, Failure> {
        let doing = format!("reading the source `{repo}`");
        let path = ["sources", "github", repo.owner(), repo.name()];
        let body = self.body(account, doing.clone(), &path).await?;
        wire::source(&body).ok_or_else(|| garbled(&doing, "it does not name a repository"))
    }

    /// One activity.
    ///
    /// # Errors
    /// Those of any reading call.
    pub async fn activity(
        &self,
        account: &AccountName,
        session: &SessionId,
        activity: &ActivityId,
    ) -> Result<Activity, Failure> {
        let doing = format!("reading the activity {activity} of session {session}");
        let path = [
            "sessions",
            session.as_str(),
            "activities",
            activity.as_str(),
        ];
        let body = self.body(account, doing.clone(), &path).await?;
        wire::activity(&body, Timestamp::UNIX_EPOCH).ok_or_else(|| garbled(&doing, "it has no id"))
    }

    /// The body of one resource, as text.
    async fn body(
        &self,
        account: &AccountName,
        doing: String,
        path: &[&str],
    ) -> Result<String, Failure> {
        let path = path.iter().map(|segment| (*segment).to_owned()).collect();
        let call = Call::get(doing, path);
        let body = self.client.call(account, &call).await?;
        String::from_utf8(body).map_err(|_| garbled(&call.doing, "it is not UTF-8"))
    }

    fn sessions(&self, doing: String, page_size: u32) -> Listing {
        Listing {
            doing,
            path: vec!["sessions".to_owned()],
            page_size,
            pages_max: LIST_PAGES_MAX,
            extra: self.client.wants_mask().then_some(Extra::Mask),
        }
    }

    /// The sessions of a listing that carry a marker.
    async fn marked(
        &self,
        account: &AccountName,
        marker: &Marker,
        since: Timestamp,
        listing: Listing,
    ) -> Result<Vec<SessionView>, Failure> {
        let doing = listing.doing.clone();
        let mark = marker.to_string();
        let mut found: Vec<SessionView> = Vec::new();
        let read = |page: &Page<'_>| {
            let mut lost = 0;
            let mut hides_ours = false;
            let sessions = page.items(wire::session, |raw| {
                lost += 1;
                hides_ours |= raw.contains(&mark);
            });
            tell_lost(&doing, lost);
            if hides_ours {
                return Err(garbled(
                    &doing,
                    "a session with this marker has no readable id",
                ));
            }
            for session in sessions {
                let is_new = !found.iter().any(|known| known.id == session.id);
                if is_new && is_ours(&session, marker, since) {
                    found.push(session);
                }
            }
            Ok(())
        };
        self.client.pages(account, listing, read).await?;
        Ok(found)
    }
}

fn looking_for(marker: &Marker, account: &AccountName) -> String {
    format!("looking for the session {marker} of account `{account}`")
}

/// Logs items without an id; they are omitted because nothing could be asked about them.
fn tell_lost(doing: &str, lost: usize) {
    if lost > 0 {
        tracing::warn!(
            items.unreadable = lost,
            "{doing}: left out items that cannot be read"
        );
    }
}

#[async_trait]
impl SessionsRead for Reader {
    async fn list(
        &self,
        account: &AccountName,
        page_size: u32,
        token: Option<&str>,
    ) -> Result<SessionPage, Failure> {
        let doing = format!("listing the sessions of account `{account}`");
        let mut listing = self.sessions(doing, page_size.clamp(1, PAGE_SIZE_MAX));
        let body = self.client.page(account, &mut listing, token).await?;
        let page = Page::read(&body).map_err(|why| garbled(&listing.doing, &why))?;
        let mut lost = 0;
        let sessions = page.items(wire::session, |_| lost += 1);
        tell_lost(&listing.doing, lost);
        if token.is_some() && page.next.as_deref() == token {
            return Err(garbled(&listing.doing, "a page token came twice"));
        }
        let bytes = u64::try_from(body.len()).unwrap_or(u64::MAX);
        Ok(SessionPage {
            sessions,
            next: page.next,
            bytes,
        })
    }

    async fn get(
        &self,
        account: &AccountName,
        session: &SessionId,
    ) -> Result<SessionView, Failure> {
        let doing = format!("reading the session {session}");
        let path = ["sessions", session.as_str()];
        let body = self.body(account, doing.clone(), &path).await?;
        wire::session(&body).ok_or_else(|| garbled(&doing, "it has no id"))
    }

    async fn activities(
        &self,
        account: &AccountName,
        session: &SessionId,
        after: Option<Timestamp>,
    ) -> Result<Vec<Activity>, Failure> {
        activities::all(&self.client, account, session, after).await
    }

    async fn find(
        &self,
        account: &AccountName,
        marker: &Marker,
        since: Timestamp,
    ) -> Result<Vec<SessionView>, Failure> {
        let live = self.sessions(looking_for(marker, account), FIND_PAGE_SIZE);
        let found = self.marked(account, marker, since, live).await?;
        if !found.is_empty() {
            return Ok(found);
        }
        // Lists hide what was archived, which may have happened since.
        let mut archived = self.sessions(looking_for(marker, account), FIND_PAGE_SIZE);
        archived.extra = Some(Extra::Filter(ARCHIVED.to_owned()));
        self.marked(account, marker, since, archived).await
    }

    async fn artifacts(
        &self,
        account: &AccountName,
        session: &SessionId,
    ) -> Result<Artifacts, Failure> {
        let doing = format!("reading the outputs of session {session}");
        let body = self
            .body(account, doing, &["sessions", session.as_str()])
            .await?;
        artifacts::artifacts_of_session(&self.client, account, session, &body).await
    }

    async fn sources(&self, account: &AccountName) -> Result<Vec<SourceView>, Failure> {
        let doing = format!("listing the repositories of account `{account}`");
        let listing = Listing {
            doing: doing.clone(),
            path: vec!["sources".to_owned()],
            page_size: PAGE_SIZE_MAX,
            pages_max: SOURCE_PAGES_MAX,
            extra: None,
        };
        let mut all: Vec<SourceView> = Vec::new();
        let read = |page: &Page<'_>| {
            let mut lost = 0;
            for source in page.items(wire::source, |_| lost += 1) {
                if !all.iter().any(|known| known.repo == source.repo) {
                    all.push(source);
                }
            }
            tell_lost(&doing, lost);
            Ok(())
        };
        self.client.pages(account, listing, read).await?;
        Ok(all)
    }
}

/// Whether a session carries exactly this marker and is not older than asked; one without a time is not ruled out.
fn is_ours(session: &SessionView, marker: &Marker, since: Timestamp) -> bool {
    let carries = Marker::find(&session.title).as_ref() == Some(marker);
    carries && session.created_at.is_none_or(|at| at >= since)
}
