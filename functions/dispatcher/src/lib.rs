//! The dispatcher as a function: a batch of wake-ups is decided and performed. It is the one hand that writes to Jules, GitHub and agents.

mod deliveries;
mod ports;

use std::collections::BTreeMap;
use std::sync::Arc;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use deliveries::Own;
use engine::backend::Backend;
use engine::dispatcher::{Dispatcher, MessageOutcome, Readers, TRY_AGAIN, Writers};
use engine::machine::SystemClock;
use engine::ports::{Clock, Delivery, Queue, Receipt};
use engine::usage::Recorder;
use engine::work::Work;
use futures::StreamExt;
use jiff::{SignedDuration, Timestamp};
use lambda::{FunctionEnvironment, Unit};
use lambda_runtime::{Error, LambdaEvent};
use tokio::sync::OnceCell;
use tracing::Instrument;

/// No message is begun any more when less than this is left: one may need several calls to GitHub, one after the other.
const KEPT: SignedDuration = SignedDuration::from_secs(45);

/// Number of messages handled concurrently: one slow call must not hold up the others.
const AT_ONCE: usize = 4;

/// The dispatcher.
pub struct Function {
    backend: Backend,
    own: Arc<Own>,
    dispatcher: Dispatcher,
    /// Records that webhook deliveries are watched since this process began. The first answer does not need it, so it
    /// waits for the first batch.
    listening: OnceCell<()>,
    /// The name of its figures; empty where they are not recorded.
    stack: String,
    recorder: Option<Recorder>,
}

/// The outcome of one message.
enum Fate {
    Handled,
    /// It comes again: it could not be handled, or there was no time to begin.
    Left {
        id: String,
    },
}

impl Function {
    /// The dispatcher over a backend.
    pub fn new(backend: Backend, readers: Readers, writers: Writers) -> Self {
        let own = Arc::new(Own::over(Arc::clone(&backend.queue)));
        let backend = backend.with_queue(Arc::<Own>::clone(&own));
        let dispatcher = Dispatcher::new(backend.clone(), readers, writers);
        Self {
            backend,
            own,
            dispatcher,
            listening: OnceCell::new(),
            stack: String::new(),
            recorder: None,
        }
    }

    /// The dispatcher that the environment describes, its connection to the table opened.
    pub async fn from_env() -> Result<Self, Error> {
        Self::from_environment(&FunctionEnvironment::from_env()?).await
    }

    /// The dispatcher of a place, its connection to the table opened.
    pub async fn from_environment(environment: &FunctionEnvironment) -> Result<Self, Error> {
        let backend = environment.backend().await?;
        let upstreams = backend.store.upstreams().await?.value;
        let (readers, writers) = ports::ports(environment, upstreams)?;
        let recorder = Some(environment.recorder("dispatcher"));
        Ok(Self {
            stack: environment.settings().stack.clone(),
            recorder,
            ..Self::new(backend, readers, writers)
        })
    }

    /// Handles one batch, and says which messages have to come again. Lambda deletes the others.
    pub async fn handle(&self, event: LambdaEvent<SqsEvent>) -> SqsBatchResponse {
        let (event, context) = event.into_parts();
        let began = self.backend.now();
        let until = lambda::until(&context, SystemClock.now(), began, KEPT);
        self.listen().await;
        self.own.begin();
        let (wakes, others): (Vec<_>, Vec<_>) = by_subject(event.records)
            .into_iter()
            .partition(|messages| messages.iter().any(is_about_wake));
        let others = async {
            let fates = self.all(others, until).await;
            Box::pin(self.go_on(until)).await;
            fates
        };
        // Wakes run beside the rest, so that a slow agent delays only wakes.
        let (mut fates, woken) = futures::join!(Box::pin(others), self.all(wakes, until));
        fates.extend(woken);
        Box::pin(self.go_on(until)).await;
        for body in self.own.end() {
            self.pass_on(&body, SignedDuration::ZERO).await;
        }
        let mut answer = SqsBatchResponse::default();
        let mut handled = 0;
        for fate in fates {
            match fate {
                Fate::Handled => handled += 1,
                Fate::Left { id } => answer.add_failure(id),
            }
        }
        self.figures(handled, answer.batch_item_failures.len(), began);
        if let Some(recorder) = &self.recorder {
            let took = self.backend.now().duration_since(began).as_millis();
            let (took_ms, memory_mb) = lambda::used(&context, took);
            recorder.invoked(&self.backend, took_ms, memory_mb).await;
        }
        answer
    }

    /// Has webhook deliveries watched. What fails is tried again with the next batch.
    async fn listen(&self) {
        let listening = self.listening.get_or_try_init(|| self.backend.listen());
        if let Err(error) = listening.await {
            tracing::warn!(%error, "webhook deliveries are looked at no sooner than they are due");
        }
    }

    /// Handles messages, some subjects at the same time.
    async fn all(&self, subjects: Vec<Vec<SqsMessage>>, until: Timestamp) -> Vec<Fate> {
        let handling = subjects
            .into_iter()
            .map(|messages| self.in_turn(messages, until));
        let fates: Vec<Vec<Fate>> = futures::stream::iter(handling)
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        fates.into_iter().flatten().collect()
    }

    /// Does what handling the batch has asked for, while there is time. Wakes come last, since an agent may be slow to answer.
    async fn go_on(&self, until: Timestamp) {
        let mut wakes: BTreeMap<String, Vec<String>> = BTreeMap::new();
        loop {
            let kept = self.own.take();
            if kept.is_empty() && wakes.is_empty() {
                break;
            }
            if kept.is_empty() {
                self.wake_all(std::mem::take(&mut wakes), until).await;
            }
            for body in kept {
                match Work::from_body(&body) {
                    Some(wake @ Work::Wake { .. }) => {
                        wakes.entry(wake.about()).or_default().push(body);
                    }
                    Some(_) | None => self.one_of_ours(&body, until).await,
                }
            }
        }
    }

    /// Delivers wakes, those of one agent one after the other.
    async fn wake_all(&self, wakes: BTreeMap<String, Vec<String>>, until: Timestamp) {
        let one_agent = async |bodies: Vec<String>| {
            for body in bodies {
                Box::pin(self.one_of_ours(&body, until)).await;
            }
        };
        let waking = wakes.into_values().map(one_agent);
        futures::stream::iter(waking)
            .buffer_unordered(AT_ONCE)
            .collect::<()>()
            .await;
    }

    async fn one_of_ours(&self, body: &str, until: Timestamp) {
        if self.backend.now() >= until {
            return self.pass_on(body, SignedDuration::ZERO).await;
        }
        let Some(work) = Work::from_body(body) else {
            return;
        };
        if let Err(error) = self.dispatcher.handle(&work).await {
            tracing::warn!(%error, ?work, "what follows could not be done at once; it comes again");
            self.pass_on(body, TRY_AGAIN).await;
        }
    }

    /// A message that is lost here is covered by the row that asks for the same.
    async fn pass_on(&self, body: &str, delay: SignedDuration) {
        if let Err(error) = self.own.send(body, delay).await {
            tracing::warn!(%error, "a message is sent when its row is due");
        }
    }

    async fn in_turn(&self, messages: Vec<SqsMessage>, until: Timestamp) -> Vec<Fate> {
        let mut fates = Vec::with_capacity(messages.len());
        for message in messages {
            let id = message.message_id.clone().unwrap_or_default();
            let trace = message.attributes.get(aws::TRACE_HEADER).cloned();
            let shown = trace.clone().unwrap_or_default();
            let span = tracing::info_span!("message", message.id = %id, trace = %shown);
            let attending = aws::within(trace, Box::pin(self.one(id, message, until)));
            fates.push(attending.instrument(span).await);
        }
        fates
    }

    async fn one(&self, id: String, message: SqsMessage, until: Timestamp) -> Fate {
        let Some(delivery) = delivery(message) else {
            tracing::error!("a message came without a body or a receipt, and was dropped");
            return Fate::Handled;
        };
        if self.backend.now() >= until {
            self.show_again(&delivery.receipt, SignedDuration::ZERO)
                .await;
            return Fate::Left { id };
        }
        match self.dispatcher.handle_message(&delivery).await {
            MessageOutcome::Done => Fate::Handled,
            MessageOutcome::Again => {
                self.show_again(&delivery.receipt, TRY_AGAIN).await;
                Fate::Left { id }
            }
        }
    }

    /// Without this a message that is left stays hidden for as long as a whole batch may take.
    async fn show_again(&self, receipt: &Receipt, delay: SignedDuration) {
        if let Err(error) = self.backend.queue.release(receipt, delay).await {
            tracing::warn!(%error, "a message comes again only when it stops being hidden");
        }
    }

    fn figures(&self, handled: u64, left: usize, began: Timestamp) {
        let now = self.backend.now();
        let took = now.duration_since(began).as_millis();
        let figures = [
            ("MessagesHandled", Unit::Count, handled),
            (
                "MessagesLeft",
                Unit::Count,
                u64::try_from(left).unwrap_or(0),
            ),
            (
                "BatchTook",
                Unit::Milliseconds,
                u64::try_from(took).unwrap_or(0),
            ),
            (
                "WebhooksAskedAgain",
                Unit::Count,
                self.dispatcher.take_redelivered(),
            ),
        ];
        lambda::emit(&self.stack, "dispatcher", now, &figures);
    }
}

/// Whether a message is about a wake.
fn is_about_wake(message: &SqsMessage) -> bool {
    let work = message.body.as_deref().and_then(Work::from_body);
    matches!(work, Some(Work::Wake { .. }))
}

/// Messages about the same thing together, in the order in which they came.
fn by_subject(messages: Vec<SqsMessage>) -> Vec<Vec<SqsMessage>> {
    let mut subjects: Vec<(Option<String>, Vec<SqsMessage>)> = Vec::new();
    for message in messages {
        let work = message.body.as_deref().and_then(Work::from_body);
        let about = work.map(|work| work.about());
        let known = subjects
            .iter_mut()
            .find(|(subject, _)| subject.is_some() && *subject == about);
        match known {
            Some((_, together)) => together.push(message),
            None => subjects.push((about, vec![message])),
        }
    }
    subjects.into_iter().map(|(_, together)| together).collect()
}

/// The message as the engine knows it; `None` if it lacks what every message has.
fn delivery(message: SqsMessage) -> Option<Delivery> {
    let attribute = |name: &str| message.attributes.get(name);
    let sent_at = attribute("SentTimestamp").and_then(|at| at.parse().ok());
    let receives = attribute("ApproximateReceiveCount").and_then(|count| count.parse().ok());
    Some(Delivery {
        sent_at: Timestamp::from_millisecond(sent_at.unwrap_or(0)).unwrap_or_default(),
        receives: receives.unwrap_or(1),
        body: message.body?,
        receipt: Receipt(message.receipt_handle?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str, body: &str) -> SqsMessage {
        let mut message = SqsMessage::default();
        message.message_id = Some(id.to_owned());
        message.body = Some(body.to_owned());
        message
    }

    #[test]
    fn messages_about_one_repository_wait_for_each_other_and_for_nothing_else() {
        let repo = |name: &str| {
            format!(
                r#"{{"look_at":"commit","repo":"{name}","sha":"0123456789012345678901234567890123456789","received_at":"2026-03-01T09:00:00Z"}}"#
            )
        };
        let messages = vec![
            message("1", &repo("Acme/Shop")),
            message("2", "none of ours"),
            message("3", &repo("acme/site")),
            message("4", &repo("acme/shop")),
            message("5", "none of ours"),
        ];
        let together: Vec<Vec<String>> = by_subject(messages)
            .into_iter()
            .map(|some| some.into_iter().filter_map(|it| it.message_id).collect())
            .collect();
        assert_eq!(together, [vec!["1", "4"], vec!["2"], vec!["3"], vec!["5"]]);
    }
}
