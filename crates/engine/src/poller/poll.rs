//! One poll of one account: look at all its watched sessions, decide about each, save what changed.

use std::collections::{BTreeMap, BTreeSet};

use domain::account::{self, Account, ListWeight, Poll};
use domain::cadence::{self, LIST_PAGE_SIZE, Look};
use domain::failure::{Failure, FailureClass};
use domain::ids::{AccountName, SessionId};
use domain::job::{self, Job, Phase, Sight, Snapshot, Watch};
use domain::marker::Marker;
use domain::policy::{Policy, Timing};
use domain::session::{SessionState, SessionView};
use jiff::Timestamp;

use super::Poller;
use crate::desk::{DECIDE_AGAIN_MAX, Error, Place};
use crate::keys;
use crate::save::Route;
use crate::store::Versioned;

/// List pages read in one poll; sessions that are not on them are read one by one.
const PAGES_MAX: u32 = 20;

/// What a poll has gathered.
#[derive(Default)]
struct Gathered {
    weight: ListWeight,
    reads: BTreeMap<SessionId, Timestamp>,
    views: BTreeMap<SessionId, SessionView>,
}

impl Poller {
    /// Polls an account and saves how that went: one write to the account's row, and one for each job that changed.
    pub(super) async fn poll(&self, name: &AccountName) -> Result<(), Error> {
        let Some(found) = self.desk.store.account(name).await? else {
            return Ok(());
        };
        let jobs = self.desk.store.watched(name).await?;
        let outcome = match self.look_at_all(&found.value, &jobs).await {
            Ok(gathered) => Poll::Answered {
                active: jobs.iter().any(is_active),
                list: gathered.weight,
                reads: gathered.reads,
            },
            Err(LookError::Outside(failure)) => Poll::Failed(failure),
            Err(LookError::Inside(error)) => return Err(error),
        };
        self.save_poll(name, &outcome).await
    }

    async fn save_poll(&self, name: &AccountName, outcome: &Poll) -> Result<(), Error> {
        for _ in 0..DECIDE_AGAIN_MAX {
            let Some(found) = self.desk.store.account(name).await? else {
                return Ok(());
            };
            let step = account::polled(&found.value, outcome, self.desk.now());
            let mut unit = self.desk.unit();
            let place = Place {
                due: step.due,
                list: keys::listed(keys::ACCOUNTS, name.as_str()),
            };
            unit.put(
                keys::account(name),
                &step.aggregate,
                Some(found.version),
                place,
            );
            if !step.events.is_empty() {
                let agent = self.desk.awake(step.aggregate.agent.clone()).await?;
                self.desk
                    .save_account_events(&mut unit, &step.events, &Route { agent, repo: None })
                    .await?;
            }
            match self.desk.commit(unit).await {
                Err(error) if error.is_conflict() => {}
                outcome => return outcome,
            }
        }
        Ok(())
    }

    async fn look_at_all(
        &self,
        account: &Account,
        jobs: &[Versioned<Job>],
    ) -> Result<Gathered, LookError> {
        let mut gathered = Gathered {
            weight: account.list.clone(),
            ..Gathered::default()
        };
        let wanted: BTreeSet<SessionId> = jobs
            .iter()
            .filter_map(|job| job.value.session().cloned())
            .collect();
        if cadence::look(&account.list, wanted.len() as u64) == Look::List {
            self.list(&account.name, &wanted, &mut gathered).await?;
        }
        self.put_twins_away(&gathered).await?;
        for found in jobs {
            if let Phase::Watching(watch) = &found.value.phase {
                self.look_at(account, found, watch, &mut gathered).await?;
            }
        }
        if wanted.is_empty() {
            // Nothing to watch: the key is still proved to work, with the smallest question there is.
            self.sessions.list(&account.name, 1, None).await?;
        }
        Ok(gathered)
    }

    /// Lists pages until every wanted session was seen.
    async fn list(
        &self,
        account: &AccountName,
        wanted: &BTreeSet<SessionId>,
        gathered: &mut Gathered,
    ) -> Result<(), Failure> {
        let (mut token, mut bytes, mut sessions) = (None, 0, 0);
        for _ in 0..PAGES_MAX {
            let page = self
                .sessions
                .list(account, LIST_PAGE_SIZE, token.as_deref())
                .await?;
            bytes += page.bytes;
            sessions += page.sessions.len() as u64;
            gathered.views.extend(
                page.sessions
                    .into_iter()
                    .map(|view| (view.id.clone(), view)),
            );
            token = page.next;
            if token.is_none() || wanted.iter().all(|id| gathered.views.contains_key(id)) {
                break;
            }
        }
        gathered.weight = ListWeight {
            bytes_per_session: (sessions > 0).then(|| bytes / sessions),
            sessions,
        };
        Ok(())
    }

    /// A create whose answer was lost may have been repeated: a second session with a job's marker is put away.
    async fn put_twins_away(&self, gathered: &Gathered) -> Result<(), Error> {
        for view in gathered.views.values().filter(|view| !view.archived) {
            let Some(marker) = Marker::find(&view.title)
                .filter(|marker| marker.installation == self.desk.installation)
            else {
                continue;
            };
            let Some(found) = self.desk.store.job(&marker.job).await? else {
                continue;
            };
            let watched = found
                .value
                .session()
                .is_some_and(|session| *session != view.id);
            if !watched || found.value.attempt != marker.attempt {
                continue;
            }
            let (_, timing) = self.rules(&found.value).await?;
            let step = job::unwanted_twin(&found.value, &view.id, &timing);
            let mut unit = self.desk.unit();
            self.desk.save_job(&mut unit, Some(&found), &step).await?;
            self.desk.commit(unit).await?;
        }
        Ok(())
    }

    async fn look_at(
        &self,
        account: &Account,
        found: &Versioned<Job>,
        watch: &Watch,
        gathered: &mut Gathered,
    ) -> Result<(), LookError> {
        let now = self.desk.now();
        let (policy, timing) = self.rules(&found.value).await?;
        let view = match gathered.views.get(&watch.session) {
            Some(view) => Ok(view.clone()),
            None => self.sessions.get(&account.name, &watch.session).await,
        };
        let sight = match view {
            Err(failure) if failure.class == FailureClass::NotFound => Sight::NotFound,
            Err(failure) => return Err(failure.into()),
            Ok(view) => {
                let last_read = account.activity_reads.get(&watch.session).copied();
                let wanted = cadence::wants_activities(watch, &view, last_read, now, &timing);
                let activities = if wanted {
                    self.activities(account, watch).await?
                } else {
                    None
                };
                let read_at = if activities.is_some() {
                    Some(now)
                } else {
                    last_read
                };
                gathered
                    .reads
                    .extend(read_at.map(|at| (watch.session.clone(), at)));
                Sight::Seen(Box::new(Snapshot { view, activities }))
            }
        };
        self.decide(found, &sight, (&policy, &timing)).await?;
        Ok(())
    }

    /// A log that is not visible yet is no log; other failures end the poll.
    async fn activities(
        &self,
        account: &Account,
        watch: &Watch,
    ) -> Result<Option<Vec<domain::session::Activity>>, Failure> {
        match self
            .sessions
            .activities(&account.name, &watch.session, watch.talk.through)
            .await
        {
            Ok(activities) => Ok(Some(activities)),
            Err(failure) if failure.class == FailureClass::NotFound => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    async fn rules(&self, job: &Job) -> Result<(Policy, Timing), Error> {
        let source = self.desk.store.source(&job.repo).await?;
        Ok(source
            .map(|source| (source.value.policy, source.value.timing))
            .unwrap_or_default())
    }

    /// Decides and saves; whoever lost a race leaves it to the next poll.
    async fn decide(
        &self,
        found: &Versioned<Job>,
        sight: &Sight,
        (policy, timing): (&Policy, &Timing),
    ) -> Result<(), Error> {
        let step = job::observe(&found.value, sight, self.desk.now(), policy, timing);
        let mut unit = self.desk.unit();
        if !self.desk.save_job(&mut unit, Some(found), &step).await? {
            return Ok(());
        }
        match self.desk.commit(unit).await {
            Err(error) if error.is_conflict() => {
                tracing::debug!(job.id = %found.value.id, "somebody else changed the job meanwhile; the next poll decides");
                Ok(())
            }
            outcome => outcome,
        }
    }
}

/// Whether anything may still happen to a session by itself.
fn is_active(found: &Versioned<Job>) -> bool {
    match &found.value.phase {
        Phase::Watching(watch) => watch.state != SessionState::Completed || watch.pull.is_some(),
        Phase::Queued { .. } | Phase::Creating { .. } | Phase::Ended(_) => false,
    }
}

/// Why looking failed: Jules, or ourselves.
enum LookError {
    Outside(Failure),
    Inside(Error),
}

impl From<Failure> for LookError {
    fn from(failure: Failure) -> Self {
        Self::Outside(failure)
    }
}

impl From<Error> for LookError {
    fn from(error: Error) -> Self {
        match error {
            Error::Outside(failure) => Self::Outside(failure),
            Error::Records(_)
            | Error::Commit(_)
            | Error::Queue(_)
            | Error::NotNow(_)
            | Error::NoSuch { .. } => Self::Inside(error),
        }
    }
}
