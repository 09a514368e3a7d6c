//! The functions, called as Lambda calls them: by a schedule, and with batches of messages.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use engine::dispatcher::{BATCH, VISIBILITY};
use engine::ports::{Delivery, Queue};
use jiff::Timestamp;
use lambda_runtime::{Context, Error, LambdaEvent};
use local::LocalQueue;
use serde_json::{Value, json};

use super::fate::Fate;

/// What an invocation may take, in milliseconds of the machine's time.
const LIMIT_MS: u128 = 90_000;

/// A poller and a dispatcher that share one memory, and so live and die together.
pub(super) struct Crew {
    pub(super) poller: poller::Function,
    pub(super) dispatcher: dispatcher::Function,
    /// The queue as Lambda itself reads it for the function.
    pub(super) queue: Arc<dyn Queue>,
    pub(super) fate: Fate,
}

/// The functions, of each as many as there are crews.
pub(super) struct Functions {
    crews: Vec<Crew>,
    /// Messages of the queue of ticks wait by the world's clock, which is not that of SQS.
    ticks: LocalQueue,
    scheduled: Mutex<Option<Timestamp>>,
    /// Whether invocations may fail: their messages come again.
    may_fail: bool,
}

impl Functions {
    pub(super) fn new(crews: Vec<Crew>, ticks: LocalQueue, may_fail: bool) -> Self {
        Self {
            crews,
            ticks,
            scheduled: Mutex::default(),
            may_fail,
        }
    }

    /// The fates of all crews.
    pub(super) fn fates(&self) -> impl Iterator<Item = &Fate> {
        self.crews.iter().map(|crew| &crew.fate)
    }

    /// Calls the pollers if their schedule or a message says so, all at the same time.
    pub(super) async fn poll(&self, now: Timestamp) -> Result<(), Error> {
        if self.is_scheduled(now) {
            let event = json!({ "source": "aws.scheduler", "detail-type": "Scheduled Event" });
            let calls = self.crews.iter().map(|crew| self.tick(crew, event.clone()));
            all(calls).await?;
        }
        let batch = self.ticks.receive(BATCH, VISIBILITY).await?;
        let crews = self.crews.iter().cycle();
        let calls = batch.iter().zip(crews).map(|(delivery, crew)| async move {
            // Lambda deletes a batch that was answered, and shows it again otherwise.
            self.tick(crew, batch_event(std::slice::from_ref(delivery)))
                .await?;
            Ok(self.ticks.acknowledge(&delivery.receipt).await?)
        });
        all(calls).await
    }

    async fn tick(&self, crew: &Crew, event: Value) -> Result<(), Error> {
        let event = LambdaEvent::new(event, context());
        self.forgiven(crew.poller.handle(event).await, crew)
    }

    /// Has every dispatcher called with one batch of the queue, at the same time; returns how many messages there were.
    pub(super) async fn dispatch(&self) -> Result<usize, Error> {
        let calls = self.crews.iter().map(|crew| async move {
            let handled = dispatch(crew, self.may_fail).await;
            let count = *handled.as_ref().unwrap_or(&0);
            self.forgiven(handled.map(drop), crew).map(|()| count)
        });
        let counts = futures::future::join_all(calls).await;
        counts.into_iter().sum()
    }

    /// Whether an invocation may have failed: its process is dead, or AWS has a fault.
    fn forgiven(&self, outcome: Result<(), Error>, crew: &Crew) -> Result<(), Error> {
        match outcome {
            Err(_) if self.may_fail || crew.fate.is_dead() => Ok(()),
            outcome => outcome,
        }
    }

    /// When the poller is called next.
    pub(super) async fn next_call(&self) -> Timestamp {
        let message = self.ticks.next_visible().await.expect("a readable queue");
        let scheduled = self.last_scheduled();
        let scheduled = scheduled.map_or(Timestamp::MIN, |at| at + domain::tick::SCHEDULE_EVERY);
        message.map_or(scheduled, |at| at.min(scheduled))
    }

    /// Once in each minute of the world.
    fn is_scheduled(&self, now: Timestamp) -> bool {
        let mut last = self.last_scheduled();
        let due = last.is_none_or(|last| now.duration_since(last) >= domain::tick::SCHEDULE_EVERY);
        if due {
            *last = Some(now);
        }
        due
    }

    fn last_scheduled(&self) -> MutexGuard<'_, Option<Timestamp>> {
        self.scheduled
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// All of them at the same time.
async fn all(
    calls: impl Iterator<Item = impl Future<Output = Result<(), Error>>>,
) -> Result<(), Error> {
    let outcomes = futures::future::join_all(calls).await;
    outcomes.into_iter().collect()
}

/// One invocation of a dispatcher, with a batch of its queue. Where calls may fail, the function may have failed to
/// release a message.
async fn dispatch(crew: &Crew, may_fail: bool) -> Result<usize, Error> {
    let batch = crew.queue.receive(BATCH, VISIBILITY).await?;
    if batch.is_empty() {
        return Ok(0);
    }
    let event = serde_json::from_value(batch_event(&batch))?;
    let event = LambdaEvent::new(event, context());
    let answer = crew.dispatcher.handle(event).await;
    let left = answer.batch_item_failures;
    for (number, delivery) in batch.iter().enumerate() {
        let id = number.to_string();
        if crew.fate.is_dead() {
            // It got no answer, so it stays hidden for its visibility timeout.
            crew.queue.release(&delivery.receipt, VISIBILITY).await?;
        } else if left.iter().all(|failed| failed.item_identifier != id) {
            crew.queue.acknowledge(&delivery.receipt).await?;
        } else if may_fail {
            crew.queue.release(&delivery.receipt, VISIBILITY).await?;
        }
    }
    Ok(batch.len())
}

/// What Lambda hands over for a batch of messages.
pub fn batch_event(batch: &[Delivery]) -> Value {
    let record = |(number, delivery): (usize, &Delivery)| {
        json!({
            "messageId": number.to_string(),
            "receiptHandle": delivery.receipt.0,
            "body": delivery.body,
            "attributes": {
                "SentTimestamp": delivery.sent_at.as_millisecond().to_string(),
                "ApproximateReceiveCount": delivery.receives.to_string(),
            },
            "eventSource": "aws:sqs",
        })
    };
    let records: Vec<Value> = batch.iter().enumerate().map(record).collect();
    json!({ "Records": records })
}

#[expect(
    clippy::disallowed_methods,
    reason = "Lambda's own limit counts by the machine's clock"
)]
fn context() -> Context {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.expect("a machine of our time").as_millis();
    let mut context = Context::default();
    context.deadline = u64::try_from(now + LIMIT_MS).expect("a machine of our time");
    context
}
