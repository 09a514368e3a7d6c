//! Which sessions are read when not all can be, and several pollers at once.

mod alone;
mod calls;
mod duplicates;
mod job_cache;
mod rows;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use domain::account::{Account, ListWeight, Pace};
use domain::cadence::READS_MAX;
use domain::ids::{JobId, SessionId};
use domain::job::{self, Job, NewJob};
use domain::policy::Timing;
use domain::priority::INTERVALS_MAX;
use engine::backend::{Backend, IndexEntry};
use engine::keys;
use engine::machine::RandomIds;
use engine::poller::{CLAIM, OtherPollers, Poller};
use engine::ports::{
    Clock, CommitError, DueRow, Key, Page, PageToken, Record, Records, RecordsError, Write,
};
use engine::store::Versioned;
use jiff::{SignedDuration, Timestamp};
use local::Database;
use tests::clock::FakeClock;
use tests::contract::pollers;
use tests::memory::{MemoryQueue, MemoryRecords};
use tests::reader::{Reader, working};

/// When the polls begin.
const BEGIN: Timestamp = Timestamp::constant(1_772_355_660, 0);

#[tokio::test]
async fn no_account_is_polled_twice_in_an_interval() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = || {
        let database = Database::open(&folder.path().join("gaffer.db")).expect("a database");
        Arc::new(local::Store::new(&database))
    };
    pollers::no_account_is_polled_twice_in_an_interval(store(), store()).await;
}

/// Claims the account like a poll that begins and never ends.
async fn claim(backend: &Backend) -> Timestamp {
    let account = account(backend).await;
    let until = backend.now() + CLAIM;
    let mut unit = backend.unit();
    let name = account.value.name.clone();
    unit.save_due(&name, until, &account.value, Some(account.version));
    backend.commit(unit).await.expect("a claim");
    until
}

async fn account(backend: &Backend) -> Versioned<Account> {
    let name = "default".parse().expect("a name");
    let found = backend.store.account(&name).await.expect("a store");
    found.expect("an account")
}

#[tokio::test]
async fn a_poll_whose_process_died_is_told_and_ends_at_the_next_start() {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let backend = watching(&clock, (0, 1)).await;
    let poller = Poller::new(backend.clone(), Arc::new(Reader::default()));
    let until = claim(&backend).await;
    let told = async || {
        let status = backend.status().await.expect("a status");
        let why = backend.why(&JobId::from_ulid(ulid::Ulid(0))).await;
        let planned = why.expect("an answer").then.into_iter();
        let again: Vec<_> = planned
            .filter(|planned| planned.sentence.starts_with("Jules is asked again"))
            .map(|planned| planned.at)
            .collect();
        (status.accounts[0].held_until, again)
    };
    assert_eq!(poller.tick().await.expect("a tick").polled, 0);
    assert_eq!(told().await, (Some(until), vec![Some(until)]));

    backend.end_claims().await.expect("a store");
    assert_eq!(told().await, (None, vec![]));
    assert_eq!(poller.tick().await.expect("a tick").polled, 1);
    // What is due later without a claim stays so.
    let polled = account(&backend).await;
    backend.end_claims().await.expect("a store");
    assert_eq!(account(&backend).await, polled);
}

/// An account with so many jobs that matter and so many that do not, whose sessions are read one by one.
async fn watching(clock: &Arc<FakeClock>, jobs: (usize, usize)) -> Backend {
    watching_in(Arc::new(MemoryRecords::default()), clock, jobs).await
}

async fn watching_in(
    records: Arc<dyn Records>,
    clock: &Arc<FakeClock>,
    jobs: (usize, usize),
) -> Backend {
    let backend = backend_over(records, clock, Arc::new(MemoryQueue::new(clock.clone())));
    settle_in(&backend, jobs).await;
    backend
}

fn backend_over(
    records: Arc<dyn Records>,
    clock: &Arc<FakeClock>,
    queue: Arc<MemoryQueue>,
) -> Backend {
    let installation = "tests".parse().expect("an id");
    let ids = Arc::new(RandomIds);
    Backend::new(records, queue, clock.clone(), ids, installation)
}

async fn settle_in(backend: &Backend, (high, low): (usize, usize)) {
    let account = Account {
        list: ListWeight {
            bytes_per_session: Some(u64::MAX),
            sessions: 1,
        },
        ..Account::new("default".parse().expect("a name"), BEGIN)
    };
    let mut unit = backend.unit();
    let place = IndexEntry {
        due: Some(BEGIN),
        list: keys::listed(keys::ACCOUNTS, "default"),
        forget: None,
    };
    unit.put(keys::account(&account.name), &account, None, place);
    backend.commit(unit).await.expect("an account");
    for at in 0..high + low {
        watch(backend, at, if at < low { 0 } else { 9 }).await;
    }
}

async fn watch(backend: &Backend, at: usize, priority: u8) {
    let new = new_job(backend, (at, priority));
    let job = job::adopt(new, &working(&session(at)), BEGIN).expect("a job");
    let job = job.aggregate;
    let mut unit = backend.unit();
    let place = IndexEntry {
        due: None,
        list: keys::listed(keys::jobs_of("watched", &job.account), job.id.as_str()),
        forget: None,
    };
    unit.put(keys::job(&job.id), &job, None, place);
    backend.commit(unit).await.expect("a job");
}

fn new_job(backend: &Backend, (at, priority): (usize, u8)) -> NewJob {
    NewJob {
        id: JobId::from_ulid(ulid::Ulid(at as u128)),
        installation: backend.installation.clone(),
        account: "default".parse().expect("a name"),
        repo: "acme/shop".parse().expect("a repository"),
        branch: "main".parse().expect("a branch"),
        title: None,
        prompt: "Tidy".to_owned(),
        agent: None,
        resume: None,
        priority: priority.try_into().expect("a priority"),
        terms: domain::policy::Terms::default(),
        part: None,
        delivery: None,
    }
}

fn session(at: usize) -> SessionId {
    (1_000_000 + at).to_string().parse().expect("a session")
}

/// Polls as often as a session may be skipped, and returns which were read each time.
async fn three_polls(reader: Reader, jobs: (usize, usize)) -> Vec<Vec<SessionId>> {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let reader = Arc::new(reader);
    let backend = watching(&clock, jobs).await;
    let poller = Poller::new(backend, reader.clone());
    let mut polls = Vec::new();
    for _ in 0..INTERVALS_MAX {
        assert_eq!(poller.tick().await.expect("a tick").polled, 1);
        polls.push(reader.take_reads());
        // Longer than a throttled account waits, and too soon for a sweep.
        clock.advance(SignedDuration::from_secs(130));
    }
    polls
}

#[tokio::test]
async fn a_poll_that_runs_out_of_time_keeps_what_it_read_and_goes_on_the_next_time() {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let second = SignedDuration::from_secs(1);
    let reader = Arc::new(Reader::taking(clock.clone(), second));
    let backend = watching(&clock, (30, 30)).await;
    let poller = Poller::new(backend, reader.clone());
    let mut polls = Vec::new();
    // One more than there is room for among those whose turn it is.
    for _ in 0..=INTERVALS_MAX {
        let until = clock.now() + second * 24;
        assert_eq!(
            poller
                .tick_until(until, OtherPollers::Maybe)
                .await
                .expect("a tick")
                .polled,
            1
        );
        polls.push(reader.take_reads());
        clock.advance(SignedDuration::from_secs(130));
    }
    assert!(polls.iter().all(|reads| reads.len() == 24), "{polls:?}");
    assert_eq!(all(&polls).len(), 60);
}

/// How often each of so many polls listed sessions, with so much time between them.
async fn lists(polls: u32, apart: SignedDuration) -> Vec<usize> {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let reader = Arc::new(Reader::default());
    let poller = Poller::new(watching(&clock, (1, 0)).await, reader.clone());
    let mut lists = Vec::new();
    for _ in 0..polls {
        assert_eq!(poller.tick().await.expect("a tick").polled, 1);
        lists.push(reader.take_lists().len());
        clock.advance(apart);
    }
    lists
}

#[tokio::test]
async fn a_poll_looks_wider_when_none_has_for_a_while_however_rare_polls_are() {
    let rare = lists(5, SignedDuration::from_mins(61)).await;
    assert_eq!(rare, [0, 1, 1, 1, 1]);
    let often = lists(200, SignedDuration::from_secs(10)).await;
    assert_eq!(often.iter().sum::<usize>(), 2);
}

fn all(polls: &[Vec<SessionId>]) -> BTreeSet<&SessionId> {
    polls.iter().flatten().collect()
}

#[tokio::test]
async fn a_poll_reads_the_highest_first_and_all_within_three() {
    let polls = three_polls(Reader::default(), (READS_MAX, 10)).await;
    let high: BTreeSet<SessionId> = (10..READS_MAX + 10).map(session).collect();
    let first: BTreeSet<SessionId> = polls[0].iter().cloned().collect();
    assert_eq!(polls[0].len(), READS_MAX);
    assert_eq!(first, high);
    assert_eq!(all(&polls).len(), READS_MAX + 10);
    assert!(polls.iter().all(|reads| reads.len() <= READS_MAX));
}

#[tokio::test]
async fn some_sessions_are_read_at_once() {
    let clock = Arc::new(FakeClock::at(BEGIN));
    let reader = Arc::new(Reader::default());
    let poller = Poller::new(watching(&clock, (0, 10)).await, reader.clone());
    assert_eq!(poller.tick().await.expect("a tick").polled, 1);
    assert_eq!((reader.take_reads().len(), reader.most_at_once()), (10, 4));
}

#[tokio::test]
async fn where_jules_stops_answering_the_others_go_on_the_next_time() {
    let polls = three_polls(Reader::throttling_after(30), (60, 10)).await;
    assert!(polls.iter().all(|reads| reads.len() == 30));
    assert!(polls[0].iter().all(|read| *read >= session(10)));
    assert_eq!(all(&polls).len(), 70);
}
