//! Lists deliveries, the newest first, with the jobs that belong to none among them.

use std::fmt;
use std::str::FromStr;

use domain::delivery::{Delivery, Phase};
use domain::ids::{DeliveryId, JobId, RepoName};
use domain::job::{Job, WaitParty};
use jiff::Timestamp;

use super::shown::DeliveryShown;
use crate::backend::{Backend, Error};
use crate::counts::UNFINISHED_JOBS;
use crate::keys;
use crate::ports::{PageToken, Record};
use crate::store::decode;
use crate::waits::Waits;

/// Records read at once while listing.
const LIST_PAGE: usize = 100;

/// Maximum number of deliveries or jobs that one list reads of each lane.
const LIST_LOOK_MAX: usize = 2_000;

/// How a cursor begins: another form gets another number.
const FORM: &str = "d1";

/// The last delivery of a page. Older ones come after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveriesCursor {
    created_at: Timestamp,
    id: String,
}

/// A text is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not a cursor of ours: leave it out to begin anew")]
pub struct InvalidDeliveriesCursor;

/// Some deliveries, the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryList {
    /// The deliveries.
    pub deliveries: Vec<DeliveryShown>,
    /// Where there may be older ones; `None` when there are none.
    pub next: Option<DeliveriesCursor>,
}

/// Which deliveries are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeliveryQuery {
    /// Only those in this phase.
    pub phase: Option<Phase>,
    /// Only those of this repository.
    pub repo: Option<RepoName>,
    /// Only those that wait for this party.
    pub needs: Option<WaitParty>,
    /// Only those that are not over: some party is waited for.
    pub open: bool,
}

impl DeliveryQuery {
    fn matches(&self, shown: &DeliveryShown) -> bool {
        let delivery = &shown.delivery;
        self.phase.is_none_or(|phase| delivery.phase == phase)
            && self.repo.as_ref().is_none_or(|repo| delivery.repo == *repo)
            && self.needs.is_none_or(|who| shown.waits_for.who == who)
            && !(self.open && shown.waits_for.who == WaitParty::Nobody)
    }
}

impl DeliveriesCursor {
    /// After a place in a list.
    fn at(place: &str) -> Option<Self> {
        // Behind the id of a job may stand what makes a cache read it again.
        let mut parts = place.split(':');
        let (stamp, id) = (parts.next()?, parts.next()?);
        Some(Self {
            created_at: Timestamp::from_nanosecond(stamp.parse().ok()?).ok()?,
            id: id.to_owned(),
        })
    }
}

impl fmt::Display for DeliveriesCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FORM}.{}.{}", self.created_at.as_nanosecond(), self.id)
    }
}

impl FromStr for DeliveriesCursor {
    type Err = InvalidDeliveriesCursor;

    fn from_str(text: &str) -> Result<Self, InvalidDeliveriesCursor> {
        let mut parts = text.split('.');
        let (form, at, id) = (parts.next(), parts.next(), parts.next());
        let at = at.and_then(|at| at.parse().ok());
        let created_at = at.and_then(|at| Timestamp::from_nanosecond(at).ok());
        let id = id.filter(|id| id.parse::<DeliveryId>().is_ok());
        match (created_at, id) {
            (Some(created_at), Some(id)) if form == Some(FORM) && parts.next().is_none() => {
                Ok(Self {
                    created_at,
                    id: id.to_owned(),
                })
            }
            _ => Err(InvalidDeliveriesCursor),
        }
    }
}

/// The place of a record in its list: by age, then by id.
type Position = (String, ListedId);

/// What a list names.
enum ListedId {
    Delivery(DeliveryId),
    Job(JobId),
}

/// What is stored under the places of a list.
#[derive(Clone, Copy)]
enum Holds {
    DeliveryIds,
    JobIds,
    Deliveries,
    Jobs,
}

impl Holds {
    /// What a record names; nothing where it is shown by its delivery.
    fn entry(self, record: &Record) -> Result<Option<ListedId>, Error> {
        Ok(match self {
            Self::DeliveryIds => Some(ListedId::Delivery(decode(record)?.value)),
            Self::JobIds => Some(ListedId::Job(decode(record)?.value)),
            Self::Deliveries => Some(ListedId::Delivery(decode::<Delivery>(record)?.value.id)),
            Self::Jobs => {
                let job = decode::<Job>(record)?.value;
                job.delivery.is_none().then_some(ListedId::Job(job.id))
            }
        })
    }
}

/// Reads one list, a page at a time.
struct Lane {
    list: String,
    holds: Holds,
    token: Option<PageToken>,
    is_over: bool,
    read: usize,
    waiting: std::collections::VecDeque<Position>,
}

impl Lane {
    fn new(list: String, holds: Holds, token: Option<PageToken>) -> Self {
        Self {
            list,
            holds,
            token,
            is_over: false,
            read: 0,
            waiting: std::collections::VecDeque::new(),
        }
    }

    /// Whether as much was read of it as one list may, and more is left: nothing older may be taken of another lane.
    fn is_cut(&self) -> bool {
        self.waiting.is_empty() && !self.is_over
    }

    /// Reads on unless something waits to be taken.
    async fn fill(&mut self, backend: &Backend) -> Result<(), Error> {
        while self.waiting.is_empty() && !self.is_over && self.read < LIST_LOOK_MAX {
            let records = backend.store.records();
            let token = self.token.take();
            let page = records.list(&self.list, true, token, LIST_PAGE).await?;
            for record in &page.records {
                let sort = record.list.as_ref().map(|at| at.sort.clone());
                if let Some(entry) = self.holds.entry(record)? {
                    self.waiting.push_back((sort.unwrap_or_default(), entry));
                }
            }
            self.read += self.waiting.len();
            self.is_over = page.next.is_none();
            self.token = page.next;
        }
        Ok(())
    }
}

impl Backend {
    /// The newest deliveries first that are asked for, after a cursor. A job that belongs to no delivery is shown as
    /// one.
    ///
    /// # Errors
    /// With [`Error::NoSuch`] if there are none and the repository that is asked about is no source.
    pub async fn list_deliveries(
        &self,
        asked: &DeliveryQuery,
        after: Option<&DeliveriesCursor>,
        limit: usize,
    ) -> Result<DeliveryList, Error> {
        let found = self.deliveries_after(asked, after, limit).await?;
        if let Some(repo) = &asked.repo {
            let is_nothing = after.is_none() && found.deliveries.is_empty() && found.next.is_none();
            self.must_be_known(repo, is_nothing).await?;
        }
        Ok(found)
    }

    async fn deliveries_after(
        &self,
        asked: &DeliveryQuery,
        after: Option<&DeliveriesCursor>,
        limit: usize,
    ) -> Result<DeliveryList, Error> {
        let mut lanes = self.lanes(asked, after).await?;
        let mut waits = Waits::new(self);
        let mut deliveries: Vec<DeliveryShown> = Vec::new();
        let mut last = after.cloned();
        loop {
            for lane in &mut lanes {
                lane.fill(self).await?;
            }
            if lanes.iter().any(Lane::is_cut) {
                break;
            }
            let Some((sort, entry)) = newest(&mut lanes) else {
                break;
            };
            let shown = match &entry {
                ListedId::Delivery(id) => self.shown_stored(id, &mut waits).await?,
                ListedId::Job(id) => self.shown_job(id, &mut waits).await?,
            };
            let wanted = shown.filter(|shown| asked.matches(shown));
            if wanted.is_some() && deliveries.len() == limit {
                return Ok(DeliveryList {
                    deliveries,
                    next: last,
                });
            }
            // What is not shown is passed as well: the next page begins after it.
            last = DeliveriesCursor::at(&sort).or(last);
            deliveries.extend(wanted);
        }
        let is_whole = lanes.iter().all(|lane| lane.is_over);
        let next = if is_whole { None } else { last };
        Ok(DeliveryList { deliveries, next })
    }

    /// The lists of deliveries and of jobs, all after the same place.
    async fn lanes(
        &self,
        asked: &DeliveryQuery,
        after: Option<&DeliveriesCursor>,
    ) -> Result<Vec<Lane>, Error> {
        let place = after.map(|at| format!("{}:{}", keys::stamp(at.created_at), at.id));
        // The key of a row that need not exist: only its place counts.
        let id = after.and_then(|at| at.id.parse::<DeliveryId>().ok());
        let key = id.as_ref().map(keys::delivery_listed);
        let lane = |list: String, holds| {
            let token = place.as_ref().zip(key.as_ref());
            let token = token.map(|(place, key)| PageToken::after(place, key));
            Lane::new(list, holds, token)
        };
        if !asks_for_open(asked) {
            let stored = lane(keys::DELIVERIES.to_owned(), Holds::DeliveryIds);
            return Ok(vec![stored, lane(keys::JOBS.to_owned(), Holds::JobIds)]);
        }
        let mut lanes = vec![lane(keys::OPEN_DELIVERIES.to_owned(), Holds::Deliveries)];
        for account in self.store.accounts().await? {
            let unfinished =
                |which: &&str| lane(keys::jobs_of(which, &account.value.name), Holds::Jobs);
            lanes.extend(UNFINISHED_JOBS.iter().map(unfinished));
        }
        Ok(lanes)
    }
}

/// The newest that no lane has given yet.
fn newest(lanes: &mut [Lane]) -> Option<Position> {
    let place = |lane: &Lane| lane.waiting.front().map(|(sort, _)| sort.clone());
    let lanes = lanes.iter_mut().filter(|lane| !lane.waiting.is_empty());
    lanes.max_by_key(|lane| place(lane))?.waiting.pop_front()
}

/// Whether only what is not over can be asked for: no party acts on anything else.
fn asks_for_open(asked: &DeliveryQuery) -> bool {
    asked.open
        || match asked.needs {
            Some(
                WaitParty::Person
                | WaitParty::Agent
                | WaitParty::Jules
                | WaitParty::GitHub
                | WaitParty::Gaffer,
            ) => true,
            Some(WaitParty::Nobody) | None => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_else_is() {
        let cursor = DeliveriesCursor {
            created_at: "2026-03-01T12:00:00.000000001Z".parse().unwrap(),
            id: "0123456789ab".to_owned(),
        };
        let text = cursor.to_string();
        let id = "0123456789ab".parse().unwrap();
        let place = keys::delivery_position(cursor.created_at, &id);
        assert_eq!(DeliveriesCursor::at(&place), Some(cursor.clone()));
        let watched = format!("{place}:2:00001772366400000000000");
        assert_eq!(DeliveriesCursor::at(&watched), Some(cursor.clone()));
        assert_eq!(text.parse(), Ok(cursor));
        let wrong = [
            String::new(),
            "d1".to_owned(),
            "d1.1.x".to_owned(),
            text.replace("d1", "d2"),
            format!("{text}."),
        ];
        for text in wrong {
            let read = text.parse::<DeliveriesCursor>();
            assert_eq!(read, Err(InvalidDeliveriesCursor), "{text}");
        }
    }
}
