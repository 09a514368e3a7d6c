//! A whole engine on virtual time: jobs come, the real poller and dispatcher do what is due, and each detected
//! decision is attended to.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use domain::account::{Account, Pace};
use domain::event::Occurrence;
use domain::governor::Limits;
use domain::ids::{AccountName, JobId};
use domain::policy::{PlanApproval, Policy, Source, Terms};
use engine::backend::Backend;
use engine::dispatcher::{BATCH, Dispatcher, Readers, VISIBILITY, Writers};
use engine::jobs::{JobRef, Order};
use engine::keys;
use engine::poller::Poller;
use engine::ports::{Clock, Queue, Records};
use engine::work::Work;
use jiff::{SignedDuration, Timestamp};
use tests::clock::FakeClock;
use tests::memory::MemoryQueue;
use tests::world::CountingIds;

use super::absent::Absent;
use super::jules::{Calls, MemoryJules, REPO};
use super::life::{Life, Wants};
use super::witness::Witness;

/// How long a job that is over is kept: longer than anything still asks for it.
const KEPT: SignedDuration = SignedDuration::from_mins(30);

/// So many rounds at one moment mean that something goes in a circle.
const ROUNDS_MAX: u32 = 1_000;

/// What differs between simulations.
pub(crate) struct Weather {
    /// What a session weighs in a list.
    pub(crate) bytes_per_session: u64,
}

/// The engine and its world.
pub(crate) struct Town {
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) poller: Poller,
    began: Timestamp,
    records: Arc<Witness>,
    queue: Arc<MemoryQueue>,
    backend: Backend,
    dispatcher: Dispatcher,
    jules: Arc<MemoryJules>,
    coming: VecDeque<(usize, Life)>,
    over: VecDeque<(Timestamp, JobId)>,
    delays: BTreeMap<JobId, f64>,
    jobs: usize,
}

impl Town {
    /// A town to which these lives will come.
    pub(crate) async fn new(lives: &[Life], weather: &Weather) -> Result<Self> {
        let clock = Arc::new(FakeClock::default());
        let told: Arc<dyn Clock> = Arc::<FakeClock>::clone(&clock);
        let records = Arc::new(Witness::default());
        let queue = Arc::new(MemoryQueue::new(Arc::clone(&told)));
        let jules = Arc::new(MemoryJules::new(
            Arc::clone(&told),
            lives,
            weather.bytes_per_session,
        ));
        let backend = Backend::new(
            Arc::<Witness>::clone(&records),
            Arc::<MemoryQueue>::clone(&queue),
            told,
            Arc::new(CountingIds::default()),
            "bench".parse()?,
        );
        let (readers, writers) = only_jules(&jules);
        let town = Self {
            began: clock.now(),
            poller: Poller::new(backend.clone(), Arc::<MemoryJules>::clone(&jules)),
            dispatcher: Dispatcher::new(backend.clone(), readers, writers),
            coming: lives.iter().copied().enumerate().collect(),
            jobs: lives.len(),
            over: VecDeque::new(),
            delays: BTreeMap::new(),
            clock,
            records,
            queue,
            backend,
            jules,
        };
        settle_in(&town.backend, Pace::default()).await?;
        Ok(town)
    }

    /// Plays until every decision was attended to; returns how many seconds each went unseen.
    pub(crate) async fn play(&mut self) -> Result<Vec<f64>> {
        let mut rounds = 0;
        while self.delays.len() < self.jobs {
            let before = self.clock.now();
            self.step().await?;
            rounds = if self.clock.now() == before {
                rounds + 1
            } else {
                0
            };
            ensure!(
                rounds < ROUNDS_MAX,
                "the simulation goes in a circle at {before}"
            );
        }
        Ok(std::mem::take(&mut self.delays).into_values().collect())
    }

    /// Plays until a moment, whatever is left then.
    pub(crate) async fn play_until(&mut self, until: SignedDuration) -> Result<()> {
        while self.clock.now().duration_since(self.began) < until {
            self.step().await?;
        }
        Ok(())
    }

    /// All calls so far.
    pub(crate) fn calls(&self) -> Calls {
        self.jules.calls()
    }

    /// Moves to the next moment at which anything is due, and does it.
    async fn step(&mut self) -> Result<()> {
        let comes = self.coming.front().map(|(_, life)| self.began + life.comes);
        let next = [
            comes,
            self.records.next_due().await?,
            self.queue.next_visible(),
        ];
        let next = next
            .into_iter()
            .flatten()
            .min()
            .context("nothing is due, ever")?;
        if next > self.clock.now() {
            self.clock.set(next);
        }
        let now = self.clock.now();
        if let Some((place, _)) = self
            .coming
            .pop_front_if(|(_, life)| self.began + life.comes <= now)
        {
            hand_over(&self.backend, place).await?;
        }
        self.poller.tick().await?;
        self.drain().await?;
        for event in self.records.news() {
            let stuck = matches!(event.what, Occurrence::Stuck { .. });
            if let (Some(job), false) = (event.job, stuck) {
                self.attend(job, event.observed_at).await?;
            }
        }
        self.drain().await?;
        self.forget();
        Ok(())
    }

    async fn attend(&mut self, job: JobId, observed_at: Timestamp) -> Result<()> {
        if !self.delays.contains_key(&job) {
            let delay = attend(&self.backend, &self.jules, &job, observed_at).await?;
            self.delays.insert(job.clone(), delay);
            self.over.push_back((self.clock.now(), job));
        }
        Ok(())
    }

    /// Handles the messages about jobs. The others are left unanswered: they cost Jules nothing.
    async fn drain(&self) -> Result<()> {
        loop {
            let batch = self.queue.receive(BATCH, VISIBILITY).await?;
            if batch.is_empty() {
                return Ok(());
            }
            for delivery in batch {
                let work: Work = serde_json::from_str(&delivery.body)?;
                let is_of_jules = matches!(
                    work,
                    Work::Job { .. }
                        | Work::Adopt { .. }
                        | Work::Artifacts { .. }
                        | Work::Messages { .. }
                        | Work::Look { .. }
                        | Work::Watch { .. }
                        | Work::Slots { .. }
                );
                if is_of_jules {
                    self.dispatcher.handle(&work).await?;
                }
                self.queue.acknowledge(&delivery.receipt).await?;
            }
        }
    }

    /// What is long over leaves the memory; the real store keeps it.
    fn forget(&mut self) {
        let long_ago = self.clock.now() - KEPT;
        while let Some((_, job)) = self.over.pop_front_if(|(at, _)| *at < long_ago) {
            self.records.records.forget(&keys::job_pk(&job));
        }
    }
}

/// Readers and writers for Jules; nothing else is there.
pub(super) fn only_jules(jules: &Arc<MemoryJules>) -> (Readers, Writers) {
    let readers = Readers {
        sessions: Arc::<MemoryJules>::clone(jules),
        pulls: Arc::new(Absent),
        issues: Arc::new(Absent),
        git: Arc::new(Absent),
        hooks: Arc::new(Absent),
    };
    let writers = Writers {
        sessions: Arc::<MemoryJules>::clone(jules),
        pulls: Arc::new(Absent),
        issues: Arc::new(Absent),
        git: Arc::new(Absent),
        hooks: Arc::new(Absent),
        agents: Arc::new(Absent),
    };
    (readers, writers)
}

/// One account that no plan limits, polled at this pace, and the repository of all jobs.
pub(super) async fn settle_in(backend: &Backend, pace: Pace) -> Result<()> {
    let (now, name): (_, AccountName) = (backend.now(), "default".parse()?);
    let account = Account {
        // The simulation is about polling: no plan limits it.
        limits: Limits {
            concurrent: 1_000,
            per_day: 100_000,
        },
        pace,
        ..Account::new(name.clone(), now)
    };
    let source = Source {
        branch: Some("main".parse()?),
        policy: Policy {
            plan_approval: PlanApproval::Auto,
            ..Policy::default()
        },
        ..Source::new(REPO.parse()?, name.clone())
    };
    let mut unit = backend.unit();
    unit.save(&name, &account, None);
    unit.save(&source.repo, &source, None);
    Ok(backend.commit(unit).await?)
}

/// Orders the job that lives the life at a place.
pub(super) async fn hand_over(backend: &Backend, place: usize) -> Result<()> {
    let order = Order {
        repo: REPO.parse()?,
        branch: None,
        prompt: place.to_string(),
        title: None,
        agent: None,
        resume: None,
        priority: None,
        terms: Terms::default(),
    };
    backend.create_job(order).await?;
    Ok(())
}

/// The event was seen, and the job is over: what its session wanted is not part of this. Returns how many seconds it
/// went unseen.
pub(super) async fn attend(
    backend: &Backend,
    jules: &MemoryJules,
    job: &JobId,
    observed_at: Timestamp,
) -> Result<f64> {
    let found = backend.must_job(job).await?.value;
    let session = found
        .session()
        .cloned()
        .context("a job without a session wants something")?;
    let Some(wanted_at) = jules.wanted_at(&session) else {
        bail!("session {session} is gone");
    };
    if !found.is_ended() {
        let named = JobRef {
            job: job.clone(),
            session: None,
            by: None,
        };
        backend.cancel_job(&named, "the simulation").await?;
    }
    Ok(observed_at.duration_since(wanted_at).as_secs_f64())
}

/// Sessions that all come at once and want nothing for a day.
pub(crate) fn calm(count: u32) -> Vec<Life> {
    let life = |_| Life {
        comes: SignedDuration::ZERO,
        decides_after: SignedDuration::from_hours(24),
        wants: Wants::Review,
    };
    (0..count).map(life).collect()
}
