//! A Jules in memory: sessions that live their lives on the simulation's clock, listed newest first, every call counted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use domain::failure::{Failure, FailureClass};
use domain::ids::{AccountName, RepoName, SessionId};
use domain::marker::Marker;
use domain::session::{Activity, ActivityKind, Originator, SessionState, SessionView};
use engine::ports::{
    Artifacts, Clock, NewSession, SessionPage, SessionsRead, SessionsWrite, SourceView,
};
use jiff::{SignedDuration, Timestamp};

use super::life::{Life, Wants};

/// The repository of all jobs.
pub(super) const REPO: &str = "acme/shop";

/// Sessions of other people that were there before and never end: every list has them at its end.
const STRANGERS: u64 = 30;

/// Ids begin here: Jules's are long numbers.
const FIRST_ID: u64 = 14_550_388_554_331_000_000;

/// How long a session waits for a machine, and how long it then plans.
const QUEUED_FOR: SignedDuration = SignedDuration::from_secs(20);
const PLANS_UNTIL: SignedDuration = SignedDuration::from_secs(60);

/// How often a working session reports progress.
const TELLS_EVERY: SignedDuration = SignedDuration::from_secs(120);

/// How much earlier than asked a log is answered from, as the real adapter does.
const OVERLAP: SignedDuration = SignedDuration::from_secs(1);

/// Calls by what they were for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Calls {
    /// List pages while something was watched.
    pub(crate) lists: u64,
    /// Lists of one session while nothing was: the key is proved to work.
    pub(crate) idle: u64,
    /// Single sessions.
    pub(crate) gets: u64,
    /// Logs of sessions that did not want anything yet.
    pub(crate) quiet_logs: u64,
    /// Logs of sessions that did.
    pub(crate) word_logs: u64,
    /// How often an answer was waited for; those that are waited for at the same time count as one.
    pub(crate) waits: u64,
}

/// The service.
pub(super) struct MemoryJules {
    clock: Arc<dyn Clock>,
    lives: Vec<Life>,
    bytes_per_session: u64,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// By number; archived sessions are removed, since nothing reads them.
    sessions: BTreeMap<u64, Session>,
    calls: Calls,
    /// Questions that are not answered yet.
    open: u64,
}

#[derive(Clone)]
struct Session {
    number: u64,
    title: String,
    created_at: Timestamp,
    /// None for a stranger's, which does nothing.
    life: Option<Life>,
}

impl MemoryJules {
    /// A service whose n-th created session lives the n-th life.
    pub(super) fn new(clock: Arc<dyn Clock>, lives: &[Life], bytes_per_session: u64) -> Self {
        let created_at = clock.now() - SignedDuration::from_hours(24);
        let stranger = |number| Session {
            number,
            title: "Somebody else's".to_owned(),
            created_at,
            life: None,
        };
        let sessions = (0..STRANGERS)
            .map(|number| (number, stranger(number)))
            .collect();
        Self {
            clock,
            lives: lives.to_vec(),
            bytes_per_session,
            inner: Mutex::new(Inner {
                sessions,
                calls: Calls::default(),
                open: 0,
            }),
        }
    }

    /// All calls so far.
    pub(super) fn calls(&self) -> Calls {
        self.inner().calls
    }

    /// When a session began to want something.
    pub(super) fn wanted_at(&self, id: &SessionId) -> Option<Timestamp> {
        let found = self.inner().sessions.get(&number(id)?)?.clone();
        Some(found.created_at + found.life?.decides_after)
    }

    /// An answer takes its time, in which others may be asked for.
    async fn wait(&self) {
        {
            let mut inner = self.inner();
            inner.calls.waits += u64::from(inner.open == 0);
            inner.open += 1;
        }
        tokio::task::yield_now().await;
        self.inner().open -= 1;
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn found(&self, id: &SessionId) -> Result<Session, Failure> {
        let session = number(id).and_then(|number| self.inner().sessions.get(&number).cloned());
        session.ok_or_else(|| Failure::new(FailureClass::NotFound, "no such session"))
    }
}

fn number(id: &SessionId) -> Option<u64> {
    id.as_str().parse::<u64>().ok()?.checked_sub(FIRST_ID)
}

fn garbled<E: std::fmt::Display>(error: E) -> Failure {
    Failure::new(FailureClass::Garbled, error.to_string())
}

impl Session {
    /// Its state, and since when.
    fn state(&self, now: Timestamp) -> (SessionState, Timestamp) {
        let Some(life) = self.life else {
            return (SessionState::Paused, self.created_at);
        };
        let age = now.duration_since(self.created_at);
        if age >= life.decides_after {
            let state = match life.wants {
                Wants::Answer => SessionState::AwaitingUserFeedback,
                Wants::Review => SessionState::Completed,
                Wants::Care => SessionState::Failed,
            };
            (state, self.created_at + life.decides_after)
        } else if age >= PLANS_UNTIL {
            (SessionState::InProgress, self.created_at + PLANS_UNTIL)
        } else if age >= QUEUED_FOR {
            (SessionState::Planning, self.created_at + QUEUED_FOR)
        } else {
            (SessionState::Queued, self.created_at)
        }
    }

    fn view(&self, now: Timestamp) -> Result<SessionView, Failure> {
        let (state, since) = self.state(now);
        let repo: RepoName = REPO.parse().map_err(garbled)?;
        let pull = format!("{repo}#{}", self.number + 1)
            .parse()
            .map_err(garbled)?;
        Ok(SessionView {
            id: (FIRST_ID + self.number)
                .to_string()
                .parse()
                .map_err(garbled)?,
            title: self.title.clone(),
            url: None,
            created_at: Some(self.created_at),
            updated_at: Some(since),
            branch: Some("main".parse().map_err(garbled)?),
            pulls: if state == SessionState::Completed {
                vec![pull]
            } else {
                Vec::new()
            },
            repo: self.life.map(|_| repo),
            archived: false,
            state,
        })
    }

    /// What its log says after a time: a line every now and then while it works, and at last what it wants.
    fn log(&self, after: Option<Timestamp>, now: Timestamp) -> Result<Vec<Activity>, Failure> {
        let Some(life) = self.life else {
            return Ok(Vec::new());
        };
        let ends = self.created_at + life.decides_after;
        let from = after.map_or(self.created_at, |after| after - OVERLAP);
        let mut log = Vec::new();
        let mut at = self.created_at + PLANS_UNTIL;
        while at < ends && at <= now {
            let kind = ActivityKind::Progressed {
                title: "Working".to_owned(),
                description: String::new(),
            };
            log.push(self.activity(log.len(), at, kind)?);
            at += TELLS_EVERY;
        }
        if ends <= now {
            let kind = match life.wants {
                Wants::Answer => ActivityKind::AgentMessaged {
                    text: "Which database?".to_owned(),
                },
                Wants::Review => ActivityKind::Completed,
                Wants::Care => ActivityKind::Failed {
                    reason: "Unable to install dependencies".to_owned(),
                },
            };
            log.push(self.activity(log.len(), ends, kind)?);
        }
        log.retain(|activity| activity.at >= from);
        Ok(log)
    }

    fn activity(&self, nth: usize, at: Timestamp, kind: ActivityKind) -> Result<Activity, Failure> {
        Ok(Activity {
            id: format!("{:016x}{nth:016x}", self.number)
                .parse()
                .map_err(garbled)?,
            at,
            originator: Originator::Agent,
            kind,
        })
    }
}

#[async_trait]
impl SessionsRead for MemoryJules {
    async fn list(
        &self,
        _: &AccountName,
        page_size: u32,
        token: Option<&str>,
    ) -> Result<SessionPage, Failure> {
        self.wait().await;
        let now = self.clock.now();
        let before = token.map(str::parse).transpose().map_err(garbled)?;
        let mut inner = self.inner();
        if page_size > 1 {
            inner.calls.lists += 1;
        } else {
            inner.calls.idle += 1;
        }
        let older = inner.sessions.range(..before.unwrap_or(u64::MAX)).rev();
        let page: Vec<&Session> = older.take(page_size as usize).map(|(_, it)| it).collect();
        let last = page.last().map(|session| session.number);
        Ok(SessionPage {
            sessions: page
                .iter()
                .map(|it| it.view(now))
                .collect::<Result<_, _>>()?,
            // Number 0 is the oldest.
            next: last.filter(|last| *last > 0).map(|last| last.to_string()),
            bytes: page.len() as u64 * self.bytes_per_session,
        })
    }

    async fn get(&self, _: &AccountName, session: &SessionId) -> Result<SessionView, Failure> {
        self.wait().await;
        self.inner().calls.gets += 1;
        self.found(session)?.view(self.clock.now())
    }

    async fn activities(
        &self,
        _: &AccountName,
        session: &SessionId,
        after: Option<Timestamp>,
    ) -> Result<Vec<Activity>, Failure> {
        self.wait().await;
        let now = self.clock.now();
        let wants = self.wanted_at(session).is_some_and(|at| at <= now);
        {
            let calls = &mut self.inner().calls;
            *(if wants {
                &mut calls.word_logs
            } else {
                &mut calls.quiet_logs
            }) += 1;
        }
        self.found(session)?.log(after, now)
    }

    async fn find(
        &self,
        _: &AccountName,
        marker: &Marker,
        since: Timestamp,
    ) -> Result<Vec<SessionView>, Failure> {
        let now = self.clock.now();
        let inner = self.inner();
        let young = inner.sessions.values().filter(|it| it.created_at >= since);
        let ours = young.filter(|it| Marker::find(&it.title).as_ref() == Some(marker));
        ours.map(|it| it.view(now)).collect()
    }

    async fn artifacts(&self, _: &AccountName, session: &SessionId) -> Result<Artifacts, Failure> {
        self.found(session).map(|_| Artifacts::default())
    }

    async fn sources(&self, _: &AccountName) -> Result<Vec<SourceView>, Failure> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl SessionsWrite for MemoryJules {
    async fn create(&self, _: &AccountName, session: &NewSession) -> Result<SessionView, Failure> {
        self.wait().await;
        let now = self.clock.now();
        // The prompt says whose life it is.
        let place: usize = session.prompt.parse().map_err(garbled)?;
        let life = self.lives.get(place).copied();
        let number = STRANGERS + place as u64;
        let created = Session {
            number,
            title: session.title.clone(),
            created_at: now,
            life: Some(life.ok_or_else(|| garbled("there is no such life"))?),
        };
        self.inner().sessions.insert(number, created.clone());
        created.view(now)
    }

    async fn send(&self, _: &AccountName, session: &SessionId, _: &str) -> Result<(), Failure> {
        self.found(session).map(drop)
    }

    async fn approve(&self, _: &AccountName, session: &SessionId) -> Result<(), Failure> {
        self.found(session).map(drop)
    }

    async fn archive(&self, _: &AccountName, session: &SessionId) -> Result<(), Failure> {
        if let Some(number) = number(session) {
            self.inner().sessions.remove(&number);
        }
        Ok(())
    }

    async fn unarchive(&self, _: &AccountName, session: &SessionId) -> Result<(), Failure> {
        self.found(session).map(drop)
    }

    async fn delete(&self, account: &AccountName, session: &SessionId) -> Result<(), Failure> {
        self.archive(account, session).await
    }
}
