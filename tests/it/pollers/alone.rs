//! A poller that ticks alone: what it remembers, and what it puts right.

use domain::job::{Ending, How, Phase};
use domain::session::{SessionState, SessionView};
use engine::poller::PROGRESS_KEPT;

use super::*;

/// A store that counts how often jobs are read.
#[derive(Default)]
struct Counting {
    records: MemoryRecords,
    jobs: AtomicUsize,
    /// What was read by itself.
    gets: Mutex<Vec<Key>>,
}

impl Counting {
    fn note(&self, jobs: usize) {
        self.jobs.fetch_add(jobs, Ordering::Relaxed);
    }

    fn take(&self) -> usize {
        self.jobs.swap(0, Ordering::Relaxed)
    }

    /// How often a record was read by itself since the last call.
    fn take_gets(&self, of: &Key) -> usize {
        let gets = std::mem::take(&mut *self.gets.lock().expect("nobody panics"));
        gets.iter().filter(|key| *key == of).count()
    }
}

#[async_trait]
impl Records for Counting {
    async fn get(&self, key: &Key) -> Result<Option<Record>, RecordsError> {
        self.note(usize::from(key.pk.starts_with("JOB#")));
        self.gets.lock().expect("nobody panics").push(key.clone());
        self.records.get(key).await
    }

    async fn query(
        &self,
        pk: &str,
        prefix: &str,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        self.records.query(pk, prefix, after, limit).await
    }

    async fn list(
        &self,
        name: &str,
        newest: bool,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        let page = self.records.list(name, newest, after, limit).await?;
        self.note(page.records.len());
        Ok(page)
    }

    async fn members(&self, name: &str, limit: usize) -> Result<Vec<Key>, RecordsError> {
        self.records.members(name, limit).await
    }

    async fn due(&self, at: Timestamp, limit: usize) -> Result<Vec<DueRow>, RecordsError> {
        self.records.due(at, limit).await
    }

    async fn next_due(&self) -> Result<Option<Timestamp>, RecordsError> {
        self.records.next_due().await
    }

    async fn commit(&self, items: Vec<Write>) -> Result<(), CommitError> {
        self.records.commit(items).await
    }
}

/// Saves a job as somebody else would, and where it is looked at.
async fn put(desk: &Desk, job: &Job, due: Option<Timestamp>) {
    let found = desk.store.job(&job.id).await.expect("a store");
    let mut unit = desk.unit();
    let place = Place {
        due,
        list: keys::listed(keys::jobs_of("watched", &job.account), job.id.as_str()),
        forget: None,
    };
    let version = found.map(|found| found.version);
    unit.put(keys::job(&job.id), job, version, place);
    desk.commit(unit).await.expect("a job");
}

async fn stored(desk: &Desk, at: usize) -> Versioned<Job> {
    let id = JobId::of(ulid::Ulid(at as u128));
    let found = desk.store.job(&id).await.expect("a store");
    found.expect("a job")
}

#[tokio::test]
async fn a_row_that_stands_too_early_is_put_right_and_calls_nobody() {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let desk = watching(&clock, (0, 1)).await;
    let account = "default".parse().expect("a name");
    let found = desk.store.account(&account).await.expect("a store");
    let mut unit = desk.unit();
    unit.delete(keys::account(&account), &found.expect("an account"));
    desk.commit(unit).await.expect("nobody polls");
    let job = stored(&desk, 0).await.value;
    let deadline = job::deadline(&job, &Timing::default()).expect("a deadline");
    put(&desk, &job, Some(BEGIN)).await;

    let poller = Poller::new(desk.clone(), Arc::new(Reader::default()));
    assert_eq!(poller.tick().await.expect("a tick").passed_on, 0);
    assert_eq!(stored(&desk, 0).await.due, Some(deadline));
    clock.set(deadline);
    assert_eq!(poller.tick().await.expect("a tick").passed_on, 1);
}

#[tokio::test]
async fn whoever_ticks_alone_remembers_jobs_and_writes_over_nobody() {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let records = Arc::new(Counting::default());
    let desk = watching_in(records.clone(), &clock, (0, 6)).await;
    let poller = Poller::new(desk.clone(), Arc::new(Reader::default()));
    let tick = async || {
        let tick = poller.tick_until(Timestamp::MAX, Others::None).await;
        assert_eq!(tick.expect("a tick").polled, 1);
        records.take()
    };
    let silent = job::deadline(&stored(&desk, 3).await.value, &Timing::default());
    let silent = silent.expect("a deadline");
    clock.set(silent - SignedDuration::from_secs(20));
    records.take();
    assert_eq!(tick().await, 6);
    clock.advance(SignedDuration::from_secs(10));
    assert_eq!(tick().await, 0);

    // Somebody else changes one, and the silence of all is told in the next poll: of that one by the poll after it.
    let other = Job {
        title: "Another".to_owned(),
        ..stored(&desk, 3).await.value
    };
    put(&desk, &other, None).await;
    let mut told = Vec::new();
    for _ in 0..2 {
        clock.advance(SignedDuration::from_secs(10));
        tick().await;
        let mut now = 0;
        for at in 0..6 {
            let events = desk.store.events(&stored(&desk, at).await.value.id).await;
            now += events.expect("events").len();
        }
        told.push(now);
    }
    assert_eq!(told, [5, 6]);
    let title = stored(&desk, 3).await.value.title;
    assert_eq!(title, "Another");

    // What is remembered is read again before long, whoever has changed it.
    clock.advance(SignedDuration::from_mins(3));
    assert!(tick().await >= 6);
}

/// What is stored of the only session's progress, and how often its row has been written.
async fn progress(desk: &Desk) -> (Timestamp, u64) {
    let found = stored(desk, 0).await;
    let Phase::Watching(watch) = found.value.phase else {
        panic!("it is watched");
    };
    (watch.progress_at, found.version)
}

/// A poller that ticks alone, ten seconds apart.
struct Alone {
    clock: Arc<FakeClock>,
    desk: Desk,
    reader: Arc<Reader>,
    poller: Poller,
}

impl Alone {
    async fn over(sessions: usize) -> Self {
        let clock = Arc::new(FakeClock::at(BEGIN));
        let desk = watching(&clock, (0, sessions)).await;
        let reader = Arc::new(Reader::default());
        let poller = Poller::new(desk.clone(), reader.clone());
        Self {
            clock,
            desk,
            reader,
            poller,
        }
    }

    async fn tick(&self) {
        self.clock.advance(SignedDuration::from_secs(10));
        let tick = self.poller.tick_until(Timestamp::MAX, Others::None).await;
        tick.expect("a tick");
    }

    /// Ticks until then, and that is the last tick.
    async fn until(&self, end: Timestamp) {
        while self.clock.now() < end {
            self.tick().await;
        }
    }

    /// The session does something now, and ticks go on until its log was read.
    async fn works(&self) -> Timestamp {
        let (at, before) = (self.clock.now(), self.reader.logs());
        self.reader.works(at);
        while self.reader.logs() == before {
            self.tick().await;
        }
        at
    }

    async fn events(&self) -> usize {
        let job = stored(&self.desk, 0).await.value.id;
        self.desk.store.events(&job).await.expect("events").len()
    }
}

#[tokio::test]
async fn progress_is_remembered_and_written_after_a_while() {
    let alone = Alone::over(1).await;
    let before = progress(&alone.desk).await;
    let seen = alone.works().await;
    let written = alone.clock.now() + PROGRESS_KEPT;
    alone.until(written - SignedDuration::from_secs(10)).await;
    assert_eq!(progress(&alone.desk).await, before);
    // Nothing more came, and whoever looks has to see what did.
    alone.tick().await;
    assert_eq!(progress(&alone.desk).await, (seen, before.1 + 1));
}

#[tokio::test]
async fn whoever_starts_anew_finds_progress_again_and_counts_silence_from_it() {
    let mut alone = Alone::over(1).await;
    alone.works().await;
    let before = progress(&alone.desk).await;
    alone.until(BEGIN + SignedDuration::from_mins(4)).await;
    let last = alone.works().await;
    assert_eq!(progress(&alone.desk).await.1, before.1, "it is remembered");
    alone.poller = Poller::new(alone.desk.clone(), alone.reader.clone());
    let silent = last + Timing::default().stuck_after;
    alone.until(silent - SignedDuration::from_secs(10)).await;
    assert_eq!(alone.events().await, 0);
    alone.tick().await;
    alone.tick().await;
    assert_eq!(alone.events().await, 1);
    assert_eq!(progress(&alone.desk).await.0, last);
}

#[tokio::test]
async fn progress_that_is_given_up_is_read_again_at_once() {
    let alone = Alone::over(1).await;
    let seen = alone.works().await;
    let other = Job {
        title: "Another".to_owned(),
        ..stored(&alone.desk, 0).await.value
    };
    put(&alone.desk, &other, None).await;
    let (logs, changed) = (alone.reader.logs(), progress(&alone.desk).await);
    // It is remembered as it was for so long.
    alone
        .until(alone.clock.now() + SignedDuration::from_mins(3))
        .await;
    assert_eq!(alone.reader.logs(), logs + 1);
    assert_eq!(progress(&alone.desk).await, changed);
    alone.until(alone.clock.now() + PROGRESS_KEPT).await;
    assert_eq!(progress(&alone.desk).await, (seen, changed.1 + 1));
}

#[tokio::test]
async fn whoever_comes_back_is_read() {
    let alone = Alone::over(2).await;
    alone.tick().await;
    let job = stored(&alone.desk, 0).await.value;
    let list = |name, job: &Job| keys::listed(keys::jobs_of(name, &job.account), job.id.as_str());
    for (name, session) in [("queued", session(0)), ("watched", session(7))] {
        let found = stored(&alone.desk, 0).await;
        let again = job::adopt(new_job(&alone.desk, (0, 0)), &working(&session), BEGIN);
        let mut unit = alone.desk.unit();
        let place = Place {
            list: list(name, &job),
            ..Place::default()
        };
        let again = again.expect("a job").aggregate;
        unit.put(keys::job(&job.id), &again, Some(found.version), place);
        alone.desk.commit(unit).await.expect("a job");
        alone.reader.take_reads();
        alone.tick().await;
    }
    assert_eq!(alone.reader.take_reads(), [session(7), session(1)]);
}

#[tokio::test]
async fn a_row_whose_silence_was_broken_is_put_right_with_the_progress() {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let desk = watching(&clock, (0, 1)).await;
    let (job, silent) = (stored(&desk, 0).await.value, Timing::default().stuck_after);
    put(&desk, &job, job::deadline(&job, &Timing::default())).await;
    let reader = Arc::new(Reader::default());
    let poller = Poller::new(desk.clone(), reader.clone());
    let ends = progress(&desk).await.0 + silent;
    clock.set(ends - SignedDuration::from_secs(20));
    let last = clock.now() - SignedDuration::from_secs(5);
    reader.works(last);
    let mut passed_on = 0;
    for _ in 0..3 {
        let tick = poller.tick_until(Timestamp::MAX, Others::None).await;
        passed_on += tick.expect("a tick").passed_on;
        clock.advance(SignedDuration::from_secs(10));
    }
    assert_eq!(passed_on, 0, "nobody is called");
    assert_eq!(progress(&desk).await.0, last);
    assert_eq!(stored(&desk, 0).await.due, Some(last + silent));
}

#[tokio::test]
async fn a_session_that_ended_and_stays_listed_does_not_have_its_job_read_with_every_poll() {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let records = Arc::new(Counting::default());
    let desk = watching_in(records.clone(), &clock, (0, 6)).await;
    let account = "default".parse().expect("a name");
    let found = desk.store.account(&account).await.expect("a store");
    let mut found = found.expect("an account");
    found.value.list = ListWeight::default();
    let ended = Job {
        id: JobId::of(ulid::Ulid(7)),
        phase: Phase::Ended(Ending {
            at: BEGIN,
            session: Some(session(7)),
            pull: None,
            how: How::Completed,
        }),
        ..stored(&desk, 0).await.value
    };
    let mut unit = desk.unit();
    let place = Place::due(Some(BEGIN));
    unit.put(
        keys::account(&account),
        &found.value,
        Some(found.version),
        place,
    );
    unit.put(keys::job(&ended.id), &ended, None, Place::default());
    desk.commit(unit).await.expect("what is there");
    let stays = SessionView {
        title: ended.marker().to_string(),
        state: SessionState::Completed,
        ..working(&session(7))
    };
    let listed = (0..6).map(|at| working(&session(at)));
    let reader = Arc::new(Reader::listing(listed.chain([stays]).collect()));
    let poller = Poller::new(desk, reader.clone());
    let (key, mut read) = (keys::job(&ended.id), Vec::new());
    for wait in [10, 10, 30 * 60, 10] {
        let tick = poller.tick_until(Timestamp::MAX, Others::None).await;
        assert_eq!(tick.expect("a tick").polled, 1);
        assert_eq!(reader.take_lists().len(), 1);
        read.push(records.take_gets(&key));
        clock.advance(SignedDuration::from_secs(wait));
    }
    // It is not believed for ever.
    assert_eq!(read, [1, 0, 0, 1]);
}
