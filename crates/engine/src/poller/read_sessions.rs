//! A poll's reads of single sessions.

use std::sync::Arc;

use domain::account::Account;
use domain::cadence;
use domain::failure::{Failure, FailureClass};
use domain::job::{Observation, Snapshot, Watch};
use domain::policy::Source;
use domain::session::{Activity, SessionView};
use futures::future::join_all;
use jiff::Timestamp;

use super::Poller;
use super::poll_data::PollData;
use super::turn::Watched;
use crate::backend::Error;

/// How many sessions are read concurrently: a poll mostly waits for Jules, and Lambda charges for that. More would
/// have Jules throttle the account.
pub(super) const READ_AT_ONCE: usize = 4;

/// A read session.
pub(super) struct SessionReading {
    pub(super) sight: Observation,
    /// When its log was read last.
    pub(super) read_at: Option<Timestamp>,
}

/// How one session is read.
struct SessionQuery<'a> {
    account: &'a Account,
    watched: Watched<'a>,
    rules: Arc<Source>,
    /// The session from a list; `None` where it must be read.
    view: Option<SessionView>,
}

impl Poller {
    /// Reads some sessions concurrently, and returns each result or error.
    pub(super) async fn read_sessions(
        &self,
        account: &Account,
        some: &[Watched<'_>],
        gathered: &mut PollData,
    ) -> Result<Vec<Result<SessionReading, Failure>>, Error> {
        let mut asking = Vec::with_capacity(some.len());
        for watched in some {
            let (found, watch) = *watched;
            let rules = self.rules_in_poll(&found.value, gathered).await?;
            asking.push(self.ask(SessionQuery {
                account,
                watched: *watched,
                rules,
                view: gathered.views.get(&watch.session).cloned(),
            }));
        }
        let answers = join_all(asking).await;
        gathered.asked += answers.iter().map(|(asked, _)| asked).sum::<u64>();
        Ok(answers.into_iter().map(|(_, seen)| seen).collect())
    }

    /// Reads one session; answers with how many requests.
    async fn ask(&self, question: SessionQuery<'_>) -> (u64, Result<SessionReading, Failure>) {
        let (mut asked, name) = (0, &question.account.name);
        let (_, watch) = question.watched;
        let view = match question.view.clone() {
            Some(view) => Ok(view),
            None => {
                asked += 1;
                self.sessions.get(name, &watch.session).await
            }
        };
        let seen = match view {
            Err(failure) if failure.class == FailureClass::NotFound => Ok(SessionReading {
                sight: Observation::NotFound,
                read_at: None,
            }),
            Err(failure) => Err(failure),
            Ok(view) => self.ask_log(&question, view, &mut asked).await,
        };
        (asked, seen)
    }

    /// Reads the log of a session that was seen, if it is time for that.
    async fn ask_log(
        &self,
        question: &SessionQuery<'_>,
        view: SessionView,
        asked: &mut u64,
    ) -> Result<SessionReading, Failure> {
        let (now, (_, watch)) = (self.backend.now(), question.watched);
        let last_read = question.account.activity_reads.get(&watch.session).copied();
        let wanted =
            cadence::wants_activities(watch, &view, last_read, now, &question.rules.timing);
        let activities = if wanted {
            *asked += 1;
            self.activities(question.account, watch).await?
        } else {
            None
        };
        let read_at = activities.as_ref().map_or(last_read, |_| Some(now));
        let sight = Observation::Seen(Box::new(Snapshot { view, activities }));
        Ok(SessionReading { sight, read_at })
    }

    /// A log that is not visible yet is no log; other failures end the poll.
    async fn activities(
        &self,
        account: &Account,
        watch: &Watch,
    ) -> Result<Option<Vec<Activity>>, Failure> {
        let through = watch.log.through;
        let log = self
            .sessions
            .activities(&account.name, &watch.session, through);
        match log.await {
            Ok(activities) => Ok(Some(activities)),
            Err(failure) if failure.class == FailureClass::NotFound => Ok(None),
            Err(failure) => Err(failure),
        }
    }
}
