//! A Jules that only answers reads, and remembers them: what pollers are watched by.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use domain::failure::{Failure, FailureClass};
use domain::ids::{AccountName, SessionId};
use domain::marker::Marker;
use domain::session::{Activity, ActivityKind, Originator, SessionState, SessionView};
use engine::ports::{Artifacts, SessionPage, SessionsRead, SourceView};
use jiff::{SignedDuration, Timestamp};

use crate::clock::FakeClock;

/// Answers every read with a session that works, as long as it answers.
#[derive(Debug, Default)]
pub struct Reader {
    lists: Mutex<Vec<AccountName>>,
    /// What lists show.
    listed: Vec<SessionView>,
    reads: Mutex<Vec<SessionId>>,
    answers: Option<usize>,
    answered: AtomicUsize,
    /// What time passes with each read of a single session.
    slow: Option<(Arc<FakeClock>, SignedDuration)>,
    /// What every session has done last.
    worked: Mutex<Option<Timestamp>>,
    logs: AtomicUsize,
    /// Reads of single sessions that are not answered yet, and the most that were at a time.
    open: AtomicUsize,
    most: AtomicUsize,
}

impl Reader {
    /// One that answers a given number of reads of single sessions after each [`Reader::take_reads`], and throttles the others.
    pub fn throttling_after(answers: usize) -> Self {
        Self {
            answers: Some(answers),
            ..Self::default()
        }
    }

    /// One whose lists show these.
    pub fn listing(listed: Vec<SessionView>) -> Self {
        Self {
            listed,
            ..Self::default()
        }
    }

    /// One whose reads of single sessions take a given time.
    pub fn taking(clock: Arc<FakeClock>, time: SignedDuration) -> Self {
        Self {
            slow: Some((clock, time)),
            ..Self::default()
        }
    }

    /// Every session made progress then.
    pub fn works(&self, at: Timestamp) {
        *self.worked.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }

    /// How many logs were read.
    pub fn logs(&self) -> usize {
        self.logs.load(Ordering::Relaxed)
    }

    /// The most reads of single sessions that were waited for at a time.
    pub fn most_at_once(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    /// An answer takes its time, in which others may be asked for.
    async fn wait(&self) {
        let open = self.open.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(open, Ordering::Relaxed);
        tokio::task::yield_now().await;
        self.open.fetch_sub(1, Ordering::Relaxed);
    }

    fn worked(&self) -> Option<Timestamp> {
        *self.worked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The accounts that were listed since the last call, once for each listing.
    pub fn take_lists(&self) -> Vec<AccountName> {
        std::mem::take(&mut *self.lists.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The sessions that were read since the last call, in order.
    pub fn take_reads(&self) -> Vec<SessionId> {
        self.answered.store(0, Ordering::Relaxed);
        std::mem::take(&mut *self.reads.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A session that works.
pub fn working(session: &SessionId) -> SessionView {
    SessionView {
        id: session.clone(),
        title: String::new(),
        state: SessionState::InProgress,
        url: None,
        created_at: None,
        updated_at: None,
        repo: "acme/shop".parse().ok(),
        branch: None,
        pulls: Vec::new(),
        archived: false,
    }
}

#[async_trait]
impl SessionsRead for Reader {
    async fn list(
        &self,
        account: &AccountName,
        _page_size: u32,
        _token: Option<&str>,
    ) -> Result<SessionPage, Failure> {
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        lists.push(account.clone());
        Ok(SessionPage {
            sessions: self.listed.clone(),
            next: None,
            bytes: 0,
        })
    }

    async fn get(
        &self,
        _account: &AccountName,
        session: &SessionId,
    ) -> Result<SessionView, Failure> {
        self.wait().await;
        let before = self.answered.fetch_add(1, Ordering::Relaxed);
        if self.answers.is_some_and(|answers| before >= answers) {
            return Err(Failure::new(FailureClass::Throttled, "too many requests"));
        }
        if let Some((clock, time)) = &self.slow {
            clock.advance(*time);
        }
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        reads.push(session.clone());
        Ok(SessionView {
            updated_at: self.worked(),
            ..working(session)
        })
    }

    async fn activities(
        &self,
        _account: &AccountName,
        _session: &SessionId,
        after: Option<Timestamp>,
    ) -> Result<Vec<Activity>, Failure> {
        self.logs.fetch_add(1, Ordering::Relaxed);
        let fresh = self.worked().filter(|at| Some(*at) > after);
        let activity = |at: Timestamp| Activity {
            id: at.as_second().to_string().parse().expect("an id"),
            at,
            originator: Originator::Agent,
            kind: ActivityKind::Progressed {
                title: "Went on".to_owned(),
                description: String::new(),
            },
        };
        Ok(fresh.map(activity).into_iter().collect())
    }

    async fn find(
        &self,
        _account: &AccountName,
        _marker: &Marker,
        _since: Timestamp,
    ) -> Result<Vec<SessionView>, Failure> {
        Ok(Vec::new())
    }

    async fn artifacts(
        &self,
        _account: &AccountName,
        _session: &SessionId,
    ) -> Result<Artifacts, Failure> {
        Ok(Artifacts::default())
    }

    async fn sources(&self, _account: &AccountName) -> Result<Vec<SourceView>, Failure> {
        Ok(Vec::new())
    }
}
