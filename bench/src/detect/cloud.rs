//! The same lives watched by the functions over a real table and real queues, with every call counted; time is
//! virtual, and so are the delays of the queues.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, Result};
use async_trait::async_trait;
use aws::{Counters, SqsQueue, Table};
use domain::account::Pace;
use domain::event::Occurrence;
use domain::ids::{AccountName, JobId};
use engine::backend::Backend;
use engine::dispatcher::{BATCH, VISIBILITY};
use engine::machine::SystemClock;
use engine::ports::{Clock, Delivery, Queue, QueueError, Receipt};
use engine::usage::Used;
use engine::work::Work;
use jiff::{SignedDuration, Timestamp};
use lambda_runtime::{Context, LambdaEvent};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tests::clock::FakeClock;
use tests::memory::MemoryQueue;
use tests::world::{CountingIds, batch_event};

use super::charged::Charges;
use super::jules::MemoryJules;
use super::life::Life;
use super::town::{attend, hand_over, only_jules, settle_in};
use super::witness::Witness;

/// What a session weighs in a list: one without a patch.
const BYTES_PER_SESSION: u64 = 2 * 1024;

/// What an answer of Jules takes, in milliseconds: it comes from memory here.
const JULES_MS: u64 = 100;

/// Memory of the functions as they are deployed, in megabytes.
const POLLER_MB: u64 = 128;
const DISPATCHER_MB: u64 = 256;

const SECONDS_OF_AN_HOUR: f64 = 3_600.0;

/// How long an invocation may take, in milliseconds.
const LIMIT_MS: i64 = 90_000;

/// Requests with which Lambda takes a batch out of a queue: it receives and it deletes.
const REQUESTS_OF_A_BATCH: u64 = 2;

/// What watching took.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Spent {
    /// What the adapters counted, and the invocations.
    pub(crate) used: Used,
    /// What the table charged of it, by what that was for.
    pub(crate) table: BTreeMap<String, Used>,
    /// Receives and deletes of the functions' triggers.
    pub(crate) trigger_requests: u64,
    /// Calls of the schedule.
    pub(crate) scheduled: u64,
    /// What calling jobs off took.
    pub(crate) after: Used,
    /// Hours of jobs that were watched.
    pub(crate) job_hours: f64,
    /// Jobs that were watched until they were attended to.
    pub(crate) lives: u32,
    /// Hours that were played.
    pub(crate) hours: f64,
}

/// A queue whose delays go by virtual time: each message is sent to a real one too, which is never read.
struct Doubled {
    real: SqsQueue,
    memory: MemoryQueue,
}

#[async_trait]
impl Queue for Doubled {
    async fn send(&self, body: &str, delay: SignedDuration) -> Result<(), QueueError> {
        self.real.send(body, delay).await?;
        self.memory.send(body, delay).await
    }

    async fn receive(
        &self,
        limit: usize,
        visibility: SignedDuration,
    ) -> Result<Vec<Delivery>, QueueError> {
        self.memory.receive(limit, visibility).await
    }

    async fn acknowledge(&self, receipt: &Receipt) -> Result<(), QueueError> {
        self.memory.acknowledge(receipt).await
    }

    async fn release(&self, receipt: &Receipt, delay: SignedDuration) -> Result<(), QueueError> {
        self.memory.release(receipt, delay).await
    }

    async fn depth(&self) -> Result<(u64, u64), QueueError> {
        self.memory.depth().await
    }
}

/// The functions and their world.
pub(crate) struct CloudTown {
    clock: Arc<FakeClock>,
    account: AccountName,
    began: Timestamp,
    records: Arc<Witness<Table>>,
    work: Arc<Doubled>,
    ticks: Arc<Doubled>,
    /// The backend for orders and cancellations, whose calls are not part of watching.
    people: Backend,
    poller: poller::Function,
    dispatcher: dispatcher::Function,
    jules: Arc<MemoryJules>,
    coming: VecDeque<(usize, Life)>,
    /// When each was attended to, since the beginning.
    attended: Vec<SignedDuration>,
    delays: BTreeMap<JobId, f64>,
    scheduled: Option<Timestamp>,
    spent: Spent,
}

impl CloudTown {
    /// Functions to which these lives will come, polling at this pace.
    pub(crate) async fn new(lives: &[Life], tick: SignedDuration) -> Result<Self> {
        let clock = Arc::new(FakeClock::default());
        let told: Arc<dyn Clock> = Arc::<FakeClock>::clone(&clock);
        let counters = Counters::without_transactions();
        let charges = Charges::default();
        let (table, queue) = tests::cloud::watched(counters.clone(), charges.clone()).await;
        let (_, tick_queue) = tests::cloud::metered(counters.clone()).await;
        let doubled = |real| {
            Arc::new(Doubled {
                real,
                memory: MemoryQueue::new(Arc::clone(&told)),
            })
        };
        let (work, ticks) = (doubled(queue), doubled(tick_queue));
        let records = Arc::new(Witness::new(table, counters, charges));
        let jules = Arc::new(MemoryJules::new(
            Arc::clone(&told),
            lives,
            BYTES_PER_SESSION,
        ));
        let backend = Backend::new(
            Arc::<Witness<Table>>::clone(&records),
            Arc::<Doubled>::clone(&work),
            Arc::clone(&told),
            Arc::new(CountingIds::default()),
            "bench".parse()?,
        );
        let pace = Pace {
            tick,
            ..Pace::default()
        };
        settle_in(&backend, pace).await?;
        records.charged();
        let (readers, writers) = only_jules(&jules);
        Ok(Self {
            began: clock.now(),
            account: "default".parse()?,
            poller: poller::Function::new(
                backend.clone(),
                Arc::<MemoryJules>::clone(&jules),
                Arc::<Doubled>::clone(&ticks),
            ),
            dispatcher: dispatcher::Function::new(backend.clone(), readers, writers),
            people: backend,
            coming: lives.iter().copied().enumerate().collect(),
            attended: Vec::new(),
            delays: BTreeMap::new(),
            scheduled: None,
            spent: Spent::default(),
            clock,
            records,
            work,
            ticks,
            jules,
        })
    }

    /// Plays until the last has come, so that as many are watched at the end as in the middle; returns how many
    /// seconds each decision went unseen, and the usage.
    ///
    /// Those who are there from the beginning came before it: counting begins once all of them are watched.
    pub(crate) async fn play(mut self) -> Result<(Vec<f64>, Spent)> {
        let lives: Vec<Life> = self.coming.iter().map(|(_, life)| *life).collect();
        while self.people.store.watched(&self.account).await?.len() < self.early(&lives) {
            self.step().await?;
        }
        let counted_from = self.clock.now().duration_since(self.began);
        self.records.charged();
        self.spent = Spent::default();
        self.attended.clear();
        while !self.coming.is_empty() {
            self.step().await?;
        }
        let now = self.clock.now().duration_since(self.began);
        let since = lives.iter().map(|life| now - life.comes.max(counted_from));
        let since: f64 = since.map(|watched| watched.as_secs_f64()).sum();
        let mut spent = self.spent();
        spent.hours = (now - counted_from).as_secs_f64() / SECONDS_OF_AN_HOUR;
        // Those who were attended to were no longer watched.
        spent.job_hours = since / SECONDS_OF_AN_HOUR - self.unwatched(now);
        spent.lives = u32::try_from(self.attended.len()).unwrap_or(u32::MAX);
        Ok((self.delays.into_values().collect(), spent))
    }

    /// How many are there from the beginning, and were not attended to yet.
    fn early(&self, lives: &[Life]) -> usize {
        let all = lives.iter().filter(|life| life.comes.is_zero()).count();
        all.saturating_sub(self.delays.len())
    }

    /// Hours since jobs were attended to.
    fn unwatched(&self, now: SignedDuration) -> f64 {
        let each = self.attended.iter().map(|at| (now - *at).as_secs_f64());
        each.sum::<f64>() / SECONDS_OF_AN_HOUR
    }

    /// Plays for so long, whatever comes; answers what it took.
    pub(crate) async fn play_for(mut self, long: SignedDuration) -> Result<Spent> {
        while self.clock.now().duration_since(self.began) < long {
            self.step().await?;
        }
        Ok(self.spent())
    }

    fn spent(&self) -> Spent {
        let played = self.clock.now().duration_since(self.began);
        Spent {
            hours: played.as_secs_f64() / SECONDS_OF_AN_HOUR,
            ..self.spent.clone()
        }
    }

    async fn step(&mut self) -> Result<()> {
        let comes = self.coming.front().map(|(_, life)| self.began + life.comes);
        let scheduled = self
            .scheduled
            .map_or(self.began, |last| last + domain::tick::SCHEDULE_EVERY);
        let next = [
            comes,
            Some(scheduled),
            self.ticks.memory.next_visible(),
            self.work.memory.next_visible(),
        ];
        let next = next.into_iter().flatten().min();
        self.clock
            .set(next.unwrap_or(scheduled).max(self.clock.now()));
        let now = self.clock.now();
        if let Some((place, _)) = self
            .coming
            .pop_front_if(|(_, life)| self.began + life.comes <= now)
        {
            hand_over(&self.people, place).await?;
        }
        if now >= scheduled {
            self.scheduled = Some(now);
            self.spent.scheduled += 1;
            let event = json!({ "source": "aws.scheduler" });
            self.poll(event).await?;
        }
        for delivery in self.ticks.receive(BATCH, VISIBILITY).await? {
            self.spent.trigger_requests += REQUESTS_OF_A_BATCH;
            let event = batch_event(std::slice::from_ref(&delivery));
            self.poll(event).await?;
            self.ticks.acknowledge(&delivery.receipt).await?;
        }
        self.drain().await?;
        self.attend().await
    }

    async fn attend(&mut self) -> Result<()> {
        for event in self.records.news() {
            let stuck = matches!(event.what, Occurrence::Stuck { .. });
            let (Some(job), false) = (event.job, stuck) else {
                continue;
            };
            if self.delays.contains_key(&job) {
                continue;
            }
            let at = event.observed_at.duration_since(self.began);
            self.attended.push(at);
            self.charge();
            let delay = attend(&self.people, &self.jules, &job, event.observed_at).await?;
            self.delays.insert(job, delay);
            self.call_off().await?;
        }
        Ok(())
    }

    /// Attending to a job is no part of watching it: here the job is cancelled, and its session archived. Its usage
    /// is counted separately.
    async fn call_off(&mut self) -> Result<()> {
        let watching = std::mem::take(&mut self.spent);
        self.drain().await?;
        self.charge();
        let after = std::mem::replace(&mut self.spent, watching);
        self.spent.after += after.used;
        self.spent.after.queue_requests += after.trigger_requests;
        Ok(())
    }

    async fn poll(&mut self, event: Value) -> Result<()> {
        let waits = self.jules.calls().waits;
        let began = Instant::now();
        let handled = self.poller.handle(LambdaEvent::new(event, context())).await;
        handled.map_err(|error| anyhow::anyhow!("polling: {error}"))?;
        self.note(began, waits, POLLER_MB);
        Ok(())
    }

    /// Hands over all messages in batches. Those about pull requests and wakes are taken out unanswered, after they were paid for.
    async fn drain(&mut self) -> Result<()> {
        loop {
            let mut batch = self.work.receive(BATCH, VISIBILITY).await?;
            if batch.is_empty() {
                return Ok(());
            }
            self.spent.trigger_requests += REQUESTS_OF_A_BATCH;
            for absent in batch.extract_if(.., |it| !is_played(it)) {
                self.work.acknowledge(&absent.receipt).await?;
            }
            let event = serde_json::from_value(batch_event(&batch)).context("making a batch")?;
            let (waits, began) = (self.jules.calls().waits, Instant::now());
            let answer = self
                .dispatcher
                .handle(LambdaEvent::new(event, context()))
                .await;
            self.note(began, waits, DISPATCHER_MB);
            for (number, delivery) in batch.iter().enumerate() {
                let left = &answer.batch_item_failures;
                let id = number.to_string();
                if left.iter().all(|failed| failed.item_identifier != id) {
                    self.work.acknowledge(&delivery.receipt).await?;
                }
            }
        }
    }

    /// Notes what the table and the queues have charged since the last time.
    fn charge(&mut self) {
        for (what, used) in self.records.charged() {
            self.spent.used += used;
            *self.spent.table.entry(what).or_default() += used;
        }
    }

    /// One more invocation: the time of the machine, and that in which Jules is waited for.
    fn note(&mut self, began: Instant, waits_before: u64, memory_mb: u64) {
        let waits = self.jules.calls().waits - waits_before;
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.charge();
        self.spent.used += Used {
            invocations: 1,
            mb_ms: (took + 1 + waits * JULES_MS) * memory_mb,
            ..Used::default()
        };
    }
}

/// Whether this simulation has what a message is about.
fn is_played(delivery: &Delivery) -> bool {
    matches!(
        Work::from_body(&delivery.body),
        Some(
            Work::Job { .. }
                | Work::Adopt { .. }
                | Work::Artifacts { .. }
                | Work::Messages { .. }
                | Work::Look { .. }
                | Work::Watch { .. }
                | Work::Slots { .. }
                | Work::Redelivery { .. }
        )
    )
}

fn context() -> Context {
    let mut context = Context::default();
    let ends = SystemClock.now().as_millisecond() + LIMIT_MS;
    context.deadline = u64::try_from(ends).unwrap_or(u64::MAX);
    context
}
