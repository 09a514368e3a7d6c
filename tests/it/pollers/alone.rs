//! A poller that ticks alone: its cache, and the rows that it moves.

use domain::job::JobPhase;

use super::rows::Rows;
use super::*;

/// Saves a job like another process, with a due time.
async fn put(backend: &Backend, job: &Job, due: Option<Timestamp>) {
    let found = backend.store.job(&job.id).await.expect("a store");
    let mut unit = backend.unit();
    let place = IndexEntry {
        due,
        list: keys::listed(keys::jobs_of("watched", &job.account), job.id.as_str()),
        forget: None,
    };
    let version = found.map(|found| found.version);
    unit.put(keys::job(&job.id), job, version, place);
    backend.commit(unit).await.expect("a job");
}

async fn stored(backend: &Backend, at: usize) -> Versioned<Job> {
    let id = JobId::from_ulid(ulid::Ulid(at as u128));
    let found = backend.store.job(&id).await.expect("a store");
    found.expect("a job")
}

#[tokio::test]
async fn a_row_that_stands_too_early_is_put_right_and_calls_nobody() {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let backend = watching(&clock, (0, 1)).await;
    let account = "default".parse().expect("a name");
    let found = backend.store.account(&account).await.expect("a store");
    let mut unit = backend.unit();
    unit.delete(keys::account(&account), &found.expect("an account"));
    backend.commit(unit).await.expect("nobody polls");
    let job = stored(&backend, 0).await.value;
    let looked_at = job::looked_at(&job, &Timing::default()).expect("a time");
    put(&backend, &job, Some(BEGIN)).await;

    let poller = Poller::new(backend.clone(), Arc::new(Reader::default()));
    assert_eq!(poller.tick().await.expect("a tick").passed_on, 0);
    assert_eq!(stored(&backend, 0).await.due, Some(looked_at));
    clock.set(looked_at);
    assert_eq!(poller.tick().await.expect("a tick").passed_on, 1);
}

#[tokio::test]
async fn whoever_ticks_alone_remembers_jobs_and_writes_over_nobody() {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let records = Arc::new(Rows::default());
    let backend = watching_in(records.clone(), &clock, (0, 6)).await;
    let poller = Poller::new(backend.clone(), Arc::new(Reader::default()));
    let tick = async || {
        let tick = poller
            .tick_until(Timestamp::MAX, OtherPollers::Excluded)
            .await;
        assert_eq!(tick.expect("a tick").polled, 1);
        records.take()
    };
    let silent = job::deadline(&stored(&backend, 3).await.value, &Timing::default());
    let silent = silent.expect("a deadline");
    clock.set(silent - SignedDuration::from_secs(20));
    records.take();
    assert_eq!(tick().await, 6);
    clock.advance(SignedDuration::from_secs(10));
    assert_eq!(tick().await, 0);

    // Another process changes one, and the silence of all is announced in the next poll: of that one by the poll
    // after it.
    let other = Job {
        title: "Another".to_owned(),
        ..stored(&backend, 3).await.value
    };
    put(&backend, &other, None).await;
    let mut told = Vec::new();
    for _ in 0..2 {
        clock.advance(SignedDuration::from_secs(10));
        tick().await;
        let mut now = 0;
        for at in 0..6 {
            let events = backend
                .store
                .events(&stored(&backend, at).await.value.id)
                .await;
            now += events.expect("events").len();
        }
        told.push(now);
    }
    assert_eq!(told, [5, 6]);
    let title = stored(&backend, 3).await.value.title;
    assert_eq!(title, "Another");

    // The cache is read again before long, whatever changed.
    clock.advance(SignedDuration::from_mins(10));
    assert!(tick().await >= 6);
}

#[tokio::test]
async fn whoever_was_spoken_to_is_read_with_the_next_tick() {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let records = Arc::new(Rows::default());
    let backend = watching_in(records.clone(), &clock, (0, 6)).await;
    let poller = Poller::new(backend.clone(), Arc::new(Reader::default()));
    let tick = async || {
        clock.advance(SignedDuration::from_secs(10));
        let tick = poller
            .tick_until(Timestamp::MAX, OtherPollers::Excluded)
            .await;
        assert_eq!(tick.expect("a tick").polled, 1);
        records.take()
    };
    tick().await;
    assert_eq!(tick().await, 0);
    // Recording a message moves the job in the list of watched jobs.
    let found = stored(&backend, 3).await;
    let mut unit = backend.unit();
    let place = IndexEntry {
        due: found.due,
        list: keys::listed(keys::jobs_of("watched", &found.value.account), "elsewhere"),
        forget: None,
    };
    let key = keys::job(&found.value.id);
    unit.put(key, &found.value, Some(found.version), place);
    backend.commit(unit).await.expect("a job");
    records.take();
    assert_eq!(tick().await, 1);
    assert_eq!(tick().await, 0);
}

/// What is stored of the only session's progress, and how often its row has been written.
async fn progress(backend: &Backend) -> (Timestamp, u64) {
    let found = stored(backend, 0).await;
    let JobPhase::Watching(watch) = found.value.phase else {
        panic!("it is watched");
    };
    (watch.progress_at, found.version)
}

/// A poller that ticks alone, ten seconds apart.
struct Alone {
    clock: Arc<FakeClock>,
    backend: Backend,
    reader: Arc<Reader>,
    poller: Poller,
}

impl Alone {
    async fn over(sessions: usize) -> Self {
        let clock = Arc::new(FakeClock::at(BEGIN));
        let backend = watching(&clock, (0, sessions)).await;
        let reader = Arc::new(Reader::default());
        let poller = Poller::new(backend.clone(), reader.clone());
        Self {
            clock,
            backend,
            reader,
            poller,
        }
    }

    async fn tick(&self) {
        self.ticks(1, OtherPollers::Excluded).await;
    }

    /// Ticks so often, alone or not.
    async fn ticks(&self, times: usize, others: OtherPollers) {
        for _ in 0..times {
            self.clock.advance(SignedDuration::from_secs(10));
            let tick = self.poller.tick_until(Timestamp::MAX, others).await;
            tick.expect("a tick");
        }
    }

    /// How often the rows of the account and of all jobs have been written.
    async fn written(&self) -> (u64, u64) {
        let account = account(&self.backend).await;
        let watched = self.backend.store.watched(&account.value.name).await;
        let versions = watched.expect("a store").into_iter().map(|job| job.version);
        (account.version, versions.sum())
    }

    /// Ticks until then, and that is the last tick.
    async fn until(&self, end: Timestamp) {
        while self.clock.now() < end {
            self.tick().await;
        }
    }

    /// The session makes progress now, and ticks go on until its log was read.
    async fn works(&self) -> Timestamp {
        let (at, before) = (self.clock.now(), self.reader.logs());
        self.reader.works(at);
        while self.reader.logs() == before {
            self.tick().await;
        }
        at
    }

    async fn events(&self) -> usize {
        let job = stored(&self.backend, 0).await.value.id;
        self.backend.store.events(&job).await.expect("events").len()
    }
}

#[tokio::test]
async fn a_poll_writes_its_account_and_only_the_jobs_of_which_it_saw_something_new() {
    for (others, writes) in [(OtherPollers::Excluded, 1), (OtherPollers::Maybe, 2)] {
        let alone = Alone::over(20).await;
        // The first poll reads all logs.
        alone.ticks(1, others).await;
        let (account, jobs) = alone.written().await;
        alone.ticks(20, others).await;
        assert_eq!(
            alone.written().await,
            (account + 20 * writes, jobs),
            "{others:?}"
        );
        // Every log is read once more, and shows that its session went on.
        let at = alone.clock.now();
        alone.reader.works(at);
        alone.ticks(40, others).await;
        assert_eq!(
            alone.written().await,
            (account + 60 * writes, jobs + 20),
            "{others:?}"
        );
        assert_eq!(progress(&alone.backend).await.0, at);
    }
}

#[tokio::test]
async fn whoever_starts_anew_counts_silence_from_the_progress_that_was_written() {
    let mut alone = Alone::over(1).await;
    alone.until(BEGIN + SignedDuration::from_mins(4)).await;
    let last = alone.works().await;
    alone.poller = Poller::new(alone.backend.clone(), alone.reader.clone());
    let silent = last + Timing::default().stuck_after;
    alone.until(silent - SignedDuration::from_secs(10)).await;
    assert_eq!(alone.events().await, 0);
    alone.tick().await;
    alone.tick().await;
    assert_eq!(alone.events().await, 1);
    assert_eq!(progress(&alone.backend).await.0, last);
}

#[tokio::test]
async fn whoever_comes_back_is_read() {
    let alone = Alone::over(2).await;
    alone.tick().await;
    let job = stored(&alone.backend, 0).await.value;
    let list = |name, job: &Job| keys::listed(keys::jobs_of(name, &job.account), job.id.as_str());
    for (name, session) in [("queued", session(0)), ("watched", session(7))] {
        let found = stored(&alone.backend, 0).await;
        let again = job::adopt(new_job(&alone.backend, (0, 0)), &working(&session), BEGIN);
        let mut unit = alone.backend.unit();
        let place = IndexEntry {
            list: list(name, &job),
            ..IndexEntry::default()
        };
        let again = again.expect("a job").aggregate;
        unit.put(keys::job(&job.id), &again, Some(found.version), place);
        alone.backend.commit(unit).await.expect("a job");
        alone.reader.take_reads();
        alone.tick().await;
    }
    assert_eq!(alone.reader.take_reads(), [session(7), session(1)]);
}

#[tokio::test]
async fn a_row_whose_silence_was_broken_is_put_right_with_the_progress() {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let backend = watching(&clock, (0, 1)).await;
    let (job, silent) = (
        stored(&backend, 0).await.value,
        Timing::default().stuck_after,
    );
    put(&backend, &job, job::deadline(&job, &Timing::default())).await;
    let reader = Arc::new(Reader::default());
    let poller = Poller::new(backend.clone(), reader.clone());
    let ends = progress(&backend).await.0 + silent;
    clock.set(ends - SignedDuration::from_secs(20));
    let last = clock.now() - SignedDuration::from_secs(5);
    reader.works(last);
    let mut passed_on = 0;
    for _ in 0..3 {
        let tick = poller
            .tick_until(Timestamp::MAX, OtherPollers::Excluded)
            .await;
        passed_on += tick.expect("a tick").passed_on;
        clock.advance(SignedDuration::from_secs(10));
    }
    assert_eq!(passed_on, 0, "nobody is called");
    assert_eq!(progress(&backend).await.0, last);
    let row = stored(&backend, 0).await;
    assert!(row.due > Some(last + silent), "polls tell of the silence");
    assert_eq!(row.due, job::looked_at(&row.value, &Timing::default()));
}

/// A store in which another process is quicker, once, to change the only job: the poller is about to.
async fn with_a_rival(rows: &Rows, backend: &Backend) {
    let found = stored(backend, 0).await;
    let mut record = rows.get(&keys::job(&found.value.id)).await;
    let row = record.as_mut().expect("a store").as_mut().expect("a row");
    row.body = row.body.replace(&found.value.title, "Another");
    rows.first(row.clone());
}

#[tokio::test]
async fn what_a_log_told_is_read_again_where_somebody_else_was_quicker() {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let rows = Arc::new(Rows::default());
    let backend = watching_in(rows.clone(), &clock, (0, 1)).await;
    let reader = Arc::new(Reader::default());
    let poller = Poller::new(backend.clone(), reader.clone());
    let tick = async || {
        clock.advance(SignedDuration::from_secs(10));
        assert_eq!(poller.tick().await.expect("a tick").polled, 1);
    };
    tick().await;
    let (at, logs) = (clock.now(), reader.logs());
    reader.works(at);
    with_a_rival(&rows, &backend).await;
    while reader.logs() == logs {
        tick().await;
    }
    assert_eq!(stored(&backend, 0).await.value.title, "Another");
    assert_ne!(progress(&backend).await.0, at, "it was not saved");
    tick().await;
    assert_eq!((reader.logs(), progress(&backend).await.0), (logs + 2, at));
}
