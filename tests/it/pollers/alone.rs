//! A poller that ticks alone: what it remembers, and what it puts right.

use domain::job::Phase;
use engine::poller::PROGRESS_KEPT;

use super::*;

/// A store that counts how often jobs are read.
#[derive(Default)]
struct Counting {
    records: MemoryRecords,
    jobs: AtomicUsize,
}

impl Counting {
    fn note(&self, jobs: usize) {
        self.jobs.fetch_add(jobs, Ordering::Relaxed);
    }

    fn take(&self) -> usize {
        self.jobs.swap(0, Ordering::Relaxed)
    }
}

#[async_trait]
impl Records for Counting {
    async fn get(&self, key: &Key) -> Result<Option<Record>, RecordsError> {
        self.note(usize::from(key.pk.starts_with("JOB#")));
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

#[tokio::test]
async fn progress_is_remembered_and_written_now_and_then() {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let desk = watching(&clock, (0, 1)).await;
    let reader = Arc::new(Reader::default());
    let alone = || Poller::new(desk.clone(), reader.clone());
    let tick = async |poller: &Poller| {
        clock.advance(SignedDuration::from_secs(10));
        let tick = poller.tick_until(Timestamp::MAX, Others::None).await;
        tick.expect("a tick");
    };
    let (poller, end) = (alone(), BEGIN + PROGRESS_KEPT);
    let (began, version) = progress(&desk).await;
    while clock.now() < end {
        reader.works(clock.now());
        tick(&poller).await;
    }
    assert_eq!(progress(&desk).await, (began, version));

    // It is written for whoever looks, also when nothing more comes.
    tick(&poller).await;
    let (seen, version) = progress(&desk).await;
    assert_eq!(seen, end - SignedDuration::from_secs(10));

    // Whoever starts anew finds it once more, and silence is counted from there.
    let last = clock.now();
    reader.works(last);
    tick(&poller).await;
    assert_eq!(progress(&desk).await, (seen, version));
    drop(poller);
    let poller = alone();
    let silent = Timing::default().stuck_after;
    while clock.now() < last + silent - SignedDuration::from_secs(10) {
        tick(&poller).await;
    }
    let events = async || {
        let events = desk.store.events(&stored(&desk, 0).await.value.id).await;
        events.expect("events").len()
    };
    assert_eq!(events().await, 0);
    tick(&poller).await;
    tick(&poller).await;
    assert_eq!(events().await, 1);
    assert_eq!(progress(&desk).await.0, last);
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
