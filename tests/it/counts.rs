//! How many there are: exact at any number, read by no job, and read once for all who ask at once.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use domain::account::{Account, ListWeight};
use domain::event::{Event, Occurrence};
use domain::ids::{EventId, JobId};
use domain::job::{self, Job};
use domain::policy::Timing;
use domain::status::Status;
use engine::backend::{Backend, IndexEntry};
use engine::jobs::{JobRef, Order, job_list};
use engine::keys;
use engine::machine::RandomIds;
use engine::ports::{
    Clock, CommitError, DueRow, Key, Member, Page, PageToken, Record, Records, RecordsError, Write,
};
use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use local::Database;
use tests::clock::FakeClock;
use tests::memory::{MemoryQueue, MemoryRecords};
use tests::reader::working;
use tests::world::source;

/// More than any list shows, and more than was ever counted one by one.
const MANY: usize = 1_100;

/// A store that notes what is read.
struct Noting {
    records: Arc<dyn Records>,
    /// Records of jobs that were read, by themselves or with a list.
    jobs: AtomicUsize,
    /// Events that were read.
    events: AtomicUsize,
    /// The value of a counter.
    counts: AtomicUsize,
    /// Pages of lists that were asked for.
    pages: AtomicUsize,
    /// Pages of lists after which the store is down.
    down_after: AtomicUsize,
}

impl Noting {
    fn over(records: Arc<dyn Records>) -> Arc<Self> {
        Arc::new(Self {
            records,
            jobs: AtomicUsize::new(0),
            events: AtomicUsize::new(0),
            counts: AtomicUsize::new(0),
            pages: AtomicUsize::new(0),
            down_after: AtomicUsize::new(usize::MAX),
        })
    }

    /// Answers so many more pages of lists.
    fn be_down_after(&self, pages: usize) {
        self.pages.store(0, Ordering::Relaxed);
        self.down_after.store(pages, Ordering::Relaxed);
    }

    fn note<'a>(&self, found: impl IntoIterator<Item = &'a Record>) {
        for record in found {
            let is_job = record.key.pk.starts_with("JOB#") && record.key.sk == keys::META;
            self.jobs.fetch_add(usize::from(is_job), Ordering::Relaxed);
            let is_event = record.key.sk.starts_with(keys::EVENT);
            self.events
                .fetch_add(usize::from(is_event), Ordering::Relaxed);
        }
    }

    /// Jobs, events and counts that were read since the last call.
    fn take(&self) -> (usize, usize, usize) {
        let take = |of: &AtomicUsize| of.swap(0, Ordering::Relaxed);
        (take(&self.jobs), take(&self.events), take(&self.counts))
    }
}

#[async_trait]
impl Records for Noting {
    async fn get(&self, key: &Key) -> Result<Option<Record>, RecordsError> {
        let found = self.records.get(key).await?;
        self.note(&found);
        Ok(found)
    }

    async fn query(
        &self,
        pk: &str,
        prefix: &str,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        let page = self.records.query(pk, prefix, after, limit).await?;
        self.note(&page.records);
        Ok(page)
    }

    async fn list(
        &self,
        name: &str,
        newest: bool,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<Page, RecordsError> {
        let asked = self.pages.fetch_add(1, Ordering::Relaxed);
        // Others may ask meanwhile.
        tokio::task::yield_now().await;
        if asked >= self.down_after.load(Ordering::Relaxed) {
            return Err(RecordsError::Unavailable {
                doing: "listing".to_owned(),
                message: "it is down".to_owned(),
            });
        }
        let page = self.records.list(name, newest, after, limit).await?;
        self.note(&page.records);
        Ok(page)
    }

    async fn members(&self, name: &str, limit: usize) -> Result<Vec<Member>, RecordsError> {
        self.records.members(name, limit).await
    }

    async fn count(&self, name: &str) -> Result<u64, RecordsError> {
        self.records.count(name).await
    }

    async fn words(&self, name: &str) -> Result<BTreeMap<String, u64>, RecordsError> {
        self.counts.fetch_add(1, Ordering::Relaxed);
        // Others ask meanwhile.
        tokio::task::yield_now().await;
        self.records.words(name).await
    }

    async fn glance(&self, keys: &[Key]) -> Result<Vec<Record>, RecordsError> {
        let found = self.records.glance(keys).await?;
        self.note(&found);
        Ok(found)
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

fn sqlite() -> Arc<Noting> {
    let database = Database::in_memory().expect("a database");
    Noting::over(Arc::new(local::Store::new(&database)))
}

/// A backend over a store with an account and a source.
async fn backend_over(records: Arc<dyn Records>, clock: &Arc<FakeClock>) -> Backend {
    let told: Arc<dyn Clock> = Arc::<FakeClock>::clone(clock);
    let queue = Arc::new(MemoryQueue::new(Arc::clone(&told)));
    let installation = "tests".parse().expect("an id");
    let backend = Backend::new(records, queue, told, Arc::new(RandomIds), installation);
    let source = source();
    let account = Account {
        list: ListWeight {
            bytes_per_session: None,
            sessions: 1,
        },
        ..Account::new(source.account.clone(), clock.now())
    };
    let listed = |name: &str, sort: String| IndexEntry {
        list: keys::listed(name, sort),
        ..IndexEntry::default()
    };
    let mut unit = backend.unit();
    let place = listed(keys::ACCOUNTS, account.name.to_string());
    unit.put(keys::account(&account.name), &account, None, place);
    let place = listed(keys::SOURCES, source.repo.key());
    unit.put(keys::source(&source.repo), &source, None, place);
    backend.commit(unit).await.expect("an account and a source");
    backend
}

async fn create(backend: &Backend) -> JobId {
    let order = Order {
        repo: source().repo,
        branch: None,
        prompt: "Tidy the shop.".to_owned(),
        title: None,
        agent: None,
        resume: None,
        priority: None,
        terms: domain::policy::Terms::default(),
    };
    backend.create_job(order).await.expect("a job").id
}

/// Changes a job like a decision: under its version, and into the list where it belongs.
async fn change(backend: &Backend, id: &JobId, edit: impl FnOnce(&Job) -> Job) {
    let found = backend
        .store
        .job(id)
        .await
        .expect("a store")
        .expect("a job");
    let job = edit(&found.value);
    let place = IndexEntry {
        list: job_list(&job),
        ..IndexEntry::default()
    };
    let mut unit = backend.unit();
    unit.put(keys::job(id), &job, Some(found.version), place);
    backend.commit(unit).await.expect("a change");
}

/// Has a session begun for a job.
async fn begin(backend: &Backend, id: &JobId, session: &str) {
    let now = backend.now();
    let view = working(&session.parse().expect("an id"));
    change(backend, id, |job| {
        let started = job::start(job, now).expect("a start").aggregate;
        job::created(&started, &view, now, &Timing::default()).aggregate
    })
    .await;
}

fn numbers(of: &BTreeMap<String, u64>) -> Vec<(&str, u64)> {
    of.iter()
        .map(|(word, many)| (word.as_str(), *many))
        .collect()
}

async fn status(backend: &Backend) -> Status {
    backend.status().await.expect("a status")
}

#[tokio::test]
async fn more_than_a_thousand_jobs_are_counted_and_none_is_read() {
    let clock = Arc::new(FakeClock::default());
    for records in [sqlite(), Noting::over(Arc::new(MemoryRecords::default()))] {
        let backend = backend_over(records.clone(), &clock).await;
        let mut jobs = Vec::new();
        for _ in 0..MANY {
            jobs.push(create(&backend).await);
        }
        assert_eq!(numbers(&status(&backend).await.jobs), [("queued", 1_100)]);
        for job in &jobs[50..] {
            let named = JobRef {
                job: job.clone(),
                session: None,
                by: None,
            };
            backend
                .cancel_job(&named, "somebody")
                .await
                .expect("an end");
        }
        for (at, job) in jobs[..3].iter().enumerate() {
            begin(&backend, job, &format!("{}", at + 1)).await;
        }
        let all = [("cancelled", 1_050), ("queued", 47), ("working", 3)];
        records.take();
        let told = status(&backend).await;
        assert_eq!(numbers(&told.jobs), all);
        assert_eq!(numbers(&told.waits_for), [("jules", 3)]);
        assert_eq!(told.accounts[0].slots.used, 3);
    }
}

#[tokio::test]
async fn on_sqlite_a_status_reads_no_job() {
    let (records, clock) = (sqlite(), Arc::new(FakeClock::default()));
    let backend = backend_over(records.clone(), &clock).await;
    for at in 0..30 {
        let job = create(&backend).await;
        begin(&backend, &job, &format!("{}", at + 1)).await;
    }
    records.take();
    assert_eq!(numbers(&status(&backend).await.jobs), [("working", 30)]);
    assert_eq!(records.take(), (0, 0, 3));
}

#[tokio::test]
async fn many_who_ask_at_once_cause_one_answer_of_a_second() {
    let (records, clock) = (sqlite(), Arc::new(FakeClock::default()));
    let backend = backend_over(records.clone(), &clock).await;
    create(&backend).await;
    let once = async || {
        records.take();
        let both = (0..100).map(|_| async {
            let status = backend.shared_status().await.expect("a status");
            let figures = backend.shared_figures().await.expect("figures");
            (status.jobs, figures.status.jobs)
        });
        let told = join_all(both).await;
        assert!(told.iter().all(|both| both.0 == both.1 && *both == told[0]));
        let (_, _, counts) = records.take();
        (told[0].0.clone(), counts)
    };
    // The lists of queued, of watched and of proposed jobs are counted, once each.
    let (jobs, counts) = once().await;
    assert_eq!((numbers(&jobs), counts), (vec![("queued", 1)], 3));
    create(&backend).await;
    clock.advance(SignedDuration::from_millis(999));
    let (jobs, counts) = once().await;
    assert_eq!((numbers(&jobs), counts), (vec![("queued", 1)], 0));
    clock.advance(SignedDuration::from_millis(1));
    let (jobs, counts) = once().await;
    assert_eq!((numbers(&jobs), counts), (vec![("queued", 2)], 3));
    // An answer of a time that has not come is none.
    clock.advance(SignedDuration::from_hours(-1));
    let (_, counts) = once().await;
    assert_eq!(counts, 3);
}

#[tokio::test]
async fn many_who_ask_while_the_store_is_down_cause_one_failure_of_a_second() {
    let (records, clock) = (sqlite(), Arc::new(FakeClock::default()));
    let backend = backend_over(records.clone(), &clock).await;
    records.be_down_after(0);
    let all = async || {
        let told = join_all((0..100).map(|_| backend.shared_status())).await;
        assert!(told.iter().all(Result::is_err));
        records.pages.load(Ordering::Relaxed)
    };
    assert_eq!(all().await, 1);
    clock.advance(SignedDuration::from_millis(999));
    assert_eq!(all().await, 1);
    clock.advance(SignedDuration::from_millis(1));
    assert_eq!(all().await, 2);
    records.be_down_after(usize::MAX);
    clock.advance(SignedDuration::from_secs(1));
    assert!(backend.shared_status().await.is_ok());
}

async fn put_events(backend: &Backend, job: &JobId, what: &Occurrence, many: usize) {
    for _ in 0..many {
        let id = EventId::from_name(&backend.ulid().to_string());
        let event = Event {
            job: Some(job.clone()),
            attempt: 1,
            ..Event::new(
                id.clone(),
                "default".parse().expect("a name"),
                backend.now(),
                what.clone(),
            )
        };
        let sort = format!("{}:{id}", keys::stamp(event.observed_at));
        let place = IndexEntry {
            list: keys::listed(keys::EVENTS, sort),
            ..IndexEntry::default()
        };
        let mut unit = backend.unit();
        unit.put(keys::event(job, &id), &event, None, place);
        backend.commit(unit).await.expect("an event");
    }
}

#[tokio::test]
async fn events_are_counted_to_the_last_and_read_once() {
    let (records, clock) = (sqlite(), Arc::new(FakeClock::default()));
    let backend = backend_over(records.clone(), &clock).await;
    let job = create(&backend).await;
    let question = Occurrence::Question { text: None };
    put_events(&backend, &job, &question, 600).await;
    let counted = async || {
        records.take();
        let counts = backend.event_counts().await.expect("counts");
        let (_, read, _) = records.take();
        (counts["question question"], read)
    };
    // They have just been seen: more may come to be among them.
    assert_eq!(counted().await, (600, 600));
    assert_eq!(counted().await, (600, 600));
    clock.advance(SignedDuration::from_mins(10));
    put_events(&backend, &job, &question, 7).await;
    assert_eq!(counted().await, (607, 607));
    assert_eq!(counted().await, (607, 7));
    // A clock that was ahead while they were counted, and is set right: those seen since are before that place.
    clock.advance(SignedDuration::from_hours(1));
    put_events(&backend, &job, &question, 100).await;
    clock.advance(SignedDuration::from_mins(10));
    assert_eq!(counted().await.0, 707);
    clock.advance(SignedDuration::from_mins(-65));
    put_events(&backend, &job, &question, 5).await;
    assert_eq!(counted().await.0, 712);
    clock.advance(SignedDuration::from_mins(90));
    assert_eq!(counted().await.0, 712);
}

#[tokio::test]
async fn a_count_that_broke_off_is_not_begun_anew() {
    let (records, clock) = (sqlite(), Arc::new(FakeClock::default()));
    let backend = backend_over(records.clone(), &clock).await;
    let job = create(&backend).await;
    let question = Occurrence::Question { text: None };
    put_events(&backend, &job, &question, 2_250).await;
    clock.advance(SignedDuration::from_mins(10));
    records.be_down_after(21);
    assert!(backend.event_counts().await.is_err());
    records.be_down_after(usize::MAX);
    records.take();
    let counts = backend.event_counts().await.expect("counts");
    assert_eq!(
        (counts["question question"], records.take().1),
        (2_250, 250)
    );
}
