//! The functions over one desk, called as Lambda calls them: by a schedule, and with batches of messages.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use engine::desk::Desk;
use engine::dispatcher::{BATCH, Eyes, Hands, VISIBILITY};
use engine::ports::{Clock, Delivery, Queue};
use jiff::Timestamp;
use lambda_runtime::{Context, Error, LambdaEvent};
use local::{Database, LocalQueue};
use serde_json::{Value, json};

/// What an invocation may take, in milliseconds of the machine's time.
const LIMIT_MS: u128 = 90_000;

/// The poller and the dispatcher as functions.
pub(super) struct Functions {
    poller: poller::Function,
    dispatcher: dispatcher::Function,
    /// Messages of the queue of ticks wait by the world's clock, which is not that of SQS.
    ticks: LocalQueue,
    scheduled: Mutex<Option<Timestamp>>,
}

impl Functions {
    pub(super) fn new(desk: &Desk, eyes: Eyes, hands: Hands, clock: Arc<dyn Clock>) -> Self {
        let database = Database::in_memory().expect("a database");
        let ticks = LocalQueue::new(&database, "ticks", clock);
        let queue = Arc::new(ticks.clone());
        Self {
            poller: poller::Function::new(desk.clone(), eyes.sessions.clone(), queue),
            dispatcher: dispatcher::Function::new(desk.clone(), eyes, hands),
            ticks,
            scheduled: Mutex::default(),
        }
    }

    /// Calls the poller if its schedule or a message says so.
    pub(super) async fn poll(&self, now: Timestamp) -> Result<(), Error> {
        if self.is_scheduled(now) {
            let event = json!({ "source": "aws.scheduler", "detail-type": "Scheduled Event" });
            self.poller
                .handle(LambdaEvent::new(event, context()))
                .await?;
        }
        let batch = self.ticks.receive(BATCH, VISIBILITY).await?;
        for delivery in &batch {
            // Lambda deletes a batch that was answered, and shows it again otherwise.
            let event = event_of(std::slice::from_ref(delivery));
            self.poller
                .handle(LambdaEvent::new(event, context()))
                .await?;
            self.ticks.acknowledge(&delivery.receipt).await?;
        }
        Ok(())
    }

    /// When the poller is called next.
    pub(super) async fn next_call(&self) -> Timestamp {
        let message = self.ticks.next_visible().await.expect("a readable queue");
        let scheduled = self.last_scheduled();
        let scheduled = scheduled.map_or(Timestamp::MIN, |at| at + domain::tick::SCHEDULE_EVERY);
        message.map_or(scheduled, |at| at.min(scheduled))
    }

    /// Calls the dispatcher with one batch of the queue; answers how many messages there were.
    pub(super) async fn dispatch(&self, queue: &dyn Queue) -> Result<usize, Error> {
        let batch = queue.receive(BATCH, VISIBILITY).await?;
        if batch.is_empty() {
            return Ok(0);
        }
        let event = serde_json::from_value(event_of(&batch))?;
        let answer = self
            .dispatcher
            .handle(LambdaEvent::new(event, context()))
            .await;
        let left = answer.batch_item_failures;
        for (number, delivery) in batch.iter().enumerate() {
            let id = number.to_string();
            if left.iter().all(|failed| failed.item_identifier != id) {
                queue.acknowledge(&delivery.receipt).await?;
            }
        }
        Ok(batch.len())
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

/// What Lambda hands over for a batch of messages.
fn event_of(batch: &[Delivery]) -> Value {
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
