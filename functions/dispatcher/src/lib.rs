//! The dispatcher as a function: a batch of wake-ups is decided and performed. It is the one hand that writes to Jules, GitHub and agents.

mod hands;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use engine::desk::Desk;
use engine::dispatcher::{Attended, Dispatcher, Eyes, Hands, TRY_AGAIN};
use engine::machine::SystemClock;
use engine::ports::{Clock, Delivery, Receipt};
use engine::usage::Recorder;
use futures::StreamExt;
use jiff::{SignedDuration, Timestamp};
use lambda::{Place, Settings, Unit};
use lambda_runtime::{Error, LambdaEvent};

/// No message is begun any more when less than this is left: one may need several calls to GitHub, one after the other.
const KEPT: SignedDuration = SignedDuration::from_secs(45);

/// How many messages are handled at the same time: one slow call must not hold up the others.
const AT_ONCE: usize = 4;

/// The dispatcher.
pub struct Function {
    desk: Desk,
    dispatcher: Dispatcher,
    recorder: Option<Recorder>,
}

/// What became of one message.
enum Fate {
    Handled,
    /// It comes again: it could not be handled, or there was no time to begin.
    Left {
        id: String,
    },
}

impl Function {
    /// The dispatcher over a desk.
    pub fn new(desk: Desk, eyes: Eyes, hands: Hands) -> Self {
        let dispatcher = Dispatcher::new(desk.clone(), eyes, hands);
        Self {
            desk,
            dispatcher,
            recorder: None,
        }
    }

    /// The dispatcher that the environment describes, its connection to the table opened.
    pub async fn from_env() -> Result<Self, Error> {
        let place = Place::new(aws::connect().await, Settings::from_env()?);
        let desk = place.desk().await?;
        let upstreams = desk.store.upstreams().await?.value;
        let (eyes, hands) = hands::of(&place, upstreams)?;
        let recorder = Some(place.recorder("dispatcher"));
        Ok(Self {
            recorder,
            ..Self::new(desk, eyes, hands)
        })
    }

    /// Handles one batch, and says which messages have to come again. Lambda deletes the others.
    pub async fn handle(&self, event: LambdaEvent<SqsEvent>) -> SqsBatchResponse {
        let (event, context) = event.into_parts();
        let began = self.desk.now();
        let until = lambda::until(&context, (SystemClock.now(), began), KEPT);
        let handling = event
            .records
            .into_iter()
            .map(|message| self.one(message, until));
        let fates: Vec<Fate> = futures::stream::iter(handling)
            .buffer_unordered(AT_ONCE)
            .collect()
            .await;
        let mut answer = SqsBatchResponse::default();
        let mut handled = 0;
        for fate in fates {
            match fate {
                Fate::Handled => handled += 1,
                Fate::Left { id } => answer.add_failure(id),
            }
        }
        self.figures((handled, answer.batch_item_failures.len()), began);
        if let Some(recorder) = &self.recorder {
            let took = self.desk.now().duration_since(began).as_millis();
            let used = lambda::used(&context, took);
            recorder.invoked(&self.desk, used).await;
        }
        answer
    }

    async fn one(&self, message: SqsMessage, until: Timestamp) -> Fate {
        let id = message.message_id.clone().unwrap_or_default();
        let Some(delivery) = delivery(message) else {
            tracing::error!(message.id = %id, "a message came without a body or a receipt, and was dropped");
            return Fate::Handled;
        };
        if self.desk.now() >= until {
            self.show_again(&delivery.receipt, SignedDuration::ZERO)
                .await;
            return Fate::Left { id };
        }
        match self.dispatcher.attend(&delivery).await {
            Attended::Done => Fate::Handled,
            Attended::Again => {
                self.show_again(&delivery.receipt, TRY_AGAIN).await;
                Fate::Left { id }
            }
        }
    }

    /// Without this a message that is left stays hidden for as long as a whole batch may take.
    async fn show_again(&self, receipt: &Receipt, delay: SignedDuration) {
        if let Err(error) = self.desk.queue.release(receipt, delay).await {
            tracing::warn!(%error, "a message comes again only when it stops being hidden");
        }
    }

    fn figures(&self, (handled, left): (u64, usize), began: Timestamp) {
        let now = self.desk.now();
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
        ];
        lambda::emit("dispatcher", now, &figures);
    }
}

/// The message as the engine knows it; none if it lacks what every message has.
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
