//! Queues on SQS, standard ones: at least once, in no promised order, dead after five receives.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use aws_config::SdkConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::config::Config;
use aws_sdk_sqs::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::types::{Message, MessageSystemAttributeName, QueueAttributeName};
use engine::ports::{Delivery, Queue, QueueError, Receipt};
use jiff::{SignedDuration, Timestamp};

use crate::connect::{ATTEMPT_WITHIN, CONNECT_WITHIN};
use crate::meter::{Counters, OfQueue};
use crate::trace;

/// The longest that SQS delays a message; what is due later than that waits in the table.
pub const DELAY_MAX: SignedDuration = SignedDuration::from_mins(15);

/// The longest that SQS hides a message.
pub const VISIBILITY_MAX: SignedDuration = SignedDuration::from_hours(12);

/// How long a receive waits for a message: four workers then ask a million times in a month, which is what AWS gives for nothing.
const RECEIVE_WAIT: SignedDuration = SignedDuration::from_secs(10);

/// The most messages of one receive.
pub(crate) const RECEIVE_MAX: usize = 10;

/// SQS's errors for a receipt of an older receive, or of a deleted message.
const STALE_RECEIPT: [&str; 3] = [
    "AWS.SimpleQueueService.MessageNotInflight",
    "MessageNotInflight",
    "InvalidParameterValue",
];

/// How SQS says that it does not know a receipt.
const FOREIGN_RECEIPT: [&str; 2] = ["ReceiptHandleIsInvalid", "InvalidAddress"];

/// One queue and its dead letters.
#[derive(Debug, Clone)]
pub struct SqsQueue {
    settings: Config,
    /// Made at first use: half a million instructions, most of them for the list of AWS's regions, which a function
    /// that only reads the table never needs.
    client: Arc<OnceLock<Client>>,
    pub(crate) url: String,
    pub(crate) dead_url: String,
    wait: SignedDuration,
}

impl SqsQueue {
    /// The queue at an address, and where its dead letters go.
    pub fn new(config: &SdkConfig, url: impl Into<String>, dead_url: impl Into<String>) -> Self {
        Self::with_config(Config::new(config), url, dead_url)
    }

    /// The same, whose calls are counted.
    pub fn metered(
        config: &SdkConfig,
        url: impl Into<String>,
        dead_url: impl Into<String>,
        counters: Counters,
    ) -> Self {
        let settings = aws_sdk_sqs::config::Builder::from(config)
            .interceptor(OfQueue(counters))
            .build();
        Self::with_config(settings, url, dead_url)
    }

    fn with_config(settings: Config, url: impl Into<String>, dead_url: impl Into<String>) -> Self {
        Self {
            settings,
            client: Arc::default(),
            url: url.into(),
            dead_url: dead_url.into(),
            wait: SignedDuration::ZERO,
        }
    }

    pub(crate) fn client(&self) -> &Client {
        let make = || Client::from_conf(self.settings.clone());
        self.client.get_or_init(make)
    }

    /// The same, waiting in each receive until there is a message: for a process that asks all the time, since each asking costs.
    pub fn waiting(self) -> Self {
        Self {
            wait: RECEIVE_WAIT,
            ..self
        }
    }

    /// A receive that waits may take so much longer than any other call.
    fn patience(&self) -> aws_sdk_sqs::config::Builder {
        let wait = Duration::try_from(self.wait).unwrap_or_default();
        let timeouts = TimeoutConfig::builder()
            .connect_timeout(CONNECT_WITHIN)
            .operation_attempt_timeout(ATTEMPT_WITHIN + wait)
            .build();
        aws_sdk_sqs::config::Builder::new().timeout_config(timeouts)
    }

    /// Opens the connection with a call that only needs leave to send: a batch of nothing, which SQS refuses.
    pub async fn warm(&self) {
        let nothing = self.client().send_message_batch().queue_url(&self.url);
        drop(nothing.set_entries(Some(Vec::new())).send().await);
    }

    async fn counted(&self, url: &str, names: &[QueueAttributeName]) -> Result<u64, QueueError> {
        let answer = self
            .client()
            .get_queue_attributes()
            .queue_url(url)
            .set_attribute_names(Some(names.to_vec()))
            .send()
            .await;
        let answer = answer.map_err(|error| failed("counting", &error))?;
        let found = answer.attributes.unwrap_or_default();
        let counts = names.iter().map(|name| {
            let count = found.get(name).and_then(|count| count.parse::<u64>().ok());
            count.ok_or_else(|| unavailable("counting", format!("it told no {name}")))
        });
        counts.sum()
    }
}

#[async_trait]
impl Queue for SqsQueue {
    /// A negative delay is none, and one of more than [`DELAY_MAX`] is that: a message is a wake-up, and comes early rather than never.
    async fn send(&self, body: &str, delay: SignedDuration) -> Result<(), QueueError> {
        let answer = self
            .client()
            .send_message()
            .queue_url(&self.url)
            .message_body(body)
            .delay_seconds(seconds(delay, DELAY_MAX))
            .set_message_system_attributes(trace::attributes())
            .send()
            .await;
        answer.map(drop).map_err(|error| failed("sending", &error))
    }

    /// At most ten, whatever the limit; a limit of 0 receives nothing.
    async fn receive(
        &self,
        limit: usize,
        visibility: SignedDuration,
    ) -> Result<Vec<Delivery>, QueueError> {
        let Ok(most) = i32::try_from(limit.min(RECEIVE_MAX)) else {
            return Ok(Vec::new());
        };
        if most == 0 {
            return Ok(Vec::new());
        }
        let answer = self
            .client()
            .receive_message()
            .queue_url(&self.url)
            .max_number_of_messages(most)
            .visibility_timeout(seconds(visibility, VISIBILITY_MAX))
            .wait_time_seconds(seconds(self.wait, RECEIVE_WAIT))
            .message_system_attribute_names(MessageSystemAttributeName::SentTimestamp)
            .message_system_attribute_names(MessageSystemAttributeName::ApproximateReceiveCount)
            .customize()
            .config_override(self.patience())
            .send()
            .await;
        let answer = answer.map_err(|error| failed("receiving", &error))?;
        let messages = answer.messages.unwrap_or_default().into_iter();
        messages.map(delivery).collect()
    }

    /// A receipt of an older receive, or of a deleted message, changes nothing and succeeds.
    async fn acknowledge(&self, receipt: &Receipt) -> Result<(), QueueError> {
        let answer = self
            .client()
            .delete_message()
            .queue_url(&self.url)
            .receipt_handle(&receipt.0)
            .send()
            .await;
        settled("acknowledging", answer.map(drop))
    }

    /// A receipt of an older receive, or of a deleted message, changes nothing and succeeds.
    async fn release(&self, receipt: &Receipt, delay: SignedDuration) -> Result<(), QueueError> {
        let answer = self
            .client()
            .change_message_visibility()
            .queue_url(&self.url)
            .receipt_handle(&receipt.0)
            .visibility_timeout(seconds(delay, VISIBILITY_MAX))
            .send()
            .await;
        settled("releasing", answer.map(drop))
    }

    /// Messages that are hidden or delayed wait too. SQS counts roughly while messages move.
    async fn depth(&self) -> Result<(u64, u64), QueueError> {
        let waiting = [
            QueueAttributeName::ApproximateNumberOfMessages,
            QueueAttributeName::ApproximateNumberOfMessagesDelayed,
            QueueAttributeName::ApproximateNumberOfMessagesNotVisible,
        ];
        let waiting = self.counted(&self.url, &waiting).await?;
        let dead = [QueueAttributeName::ApproximateNumberOfMessages];
        Ok((waiting, self.counted(&self.dead_url, &dead).await?))
    }
}

/// Whole seconds, rounded up: a message that comes too early is read for nothing.
fn seconds(wait: SignedDuration, most: SignedDuration) -> i32 {
    let wait = wait.clamp(SignedDuration::ZERO, most);
    let wait = Duration::try_from(wait).unwrap_or_default();
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

fn delivery(message: Message) -> Result<Delivery, QueueError> {
    let told = |name: &MessageSystemAttributeName| {
        let attributes = message.attributes.as_ref();
        attributes.and_then(|all| all.get(name)).map(String::as_str)
    };
    let sent_at = told(&MessageSystemAttributeName::SentTimestamp)
        .and_then(|at| Timestamp::from_millisecond(at.parse().ok()?).ok());
    let receives = told(&MessageSystemAttributeName::ApproximateReceiveCount)
        .and_then(|count| count.parse().ok());
    let lacks = |what: &str| unavailable("receiving", format!("a message came without {what}"));
    Ok(Delivery {
        sent_at: sent_at.ok_or_else(|| lacks("the time it was sent"))?,
        receives: receives.ok_or_else(|| lacks("the number of its receives"))?,
        body: message.body.ok_or_else(|| lacks("a body"))?,
        receipt: Receipt(message.receipt_handle.ok_or_else(|| lacks("a receipt"))?),
    })
}

/// The outcome of a call about a message that may already be deleted.
fn settled<E, R>(doing: &str, answer: Result<(), SdkError<E, R>>) -> Result<(), QueueError>
where
    E: ProvideErrorMetadata + std::error::Error + Send + Sync + 'static,
    R: std::fmt::Debug + Send + Sync + 'static,
{
    let Err(error) = answer else {
        return Ok(());
    };
    let code = error
        .as_service_error()
        .and_then(ProvideErrorMetadata::code);
    match code {
        Some(code) if STALE_RECEIPT.contains(&code) => Ok(()),
        Some(code) if FOREIGN_RECEIPT.contains(&code) => Err(unavailable(
            doing,
            "the receipt is not from this queue".to_owned(),
        )),
        Some(_) | None => Err(failed(doing, &error)),
    }
}

pub(crate) fn failed<E, R>(doing: &str, error: &SdkError<E, R>) -> QueueError
where
    E: std::error::Error + Send + Sync + 'static,
    R: std::fmt::Debug + Send + Sync + 'static,
{
    unavailable(doing, DisplayErrorContext(error).to_string())
}

pub(crate) fn unavailable(doing: &str, message: String) -> QueueError {
    QueueError {
        doing: doing.to_owned(),
        message,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_made_when_it_is_needed_and_once_for_all_who_have_the_queue() {
        let config = SdkConfig::builder()
            .behavior_version(aws_config::BehaviorVersion::latest())
            .build();
        let queue = SqsQueue::new(&config, "work", "work-dead");
        let other = queue.clone();
        assert!(queue.client.get().is_none());
        other.client();
        assert!(queue.client.get().is_some());
    }

    #[test]
    fn waits_are_whole_seconds_within_what_sqs_takes() {
        for (wait, expected) in [
            (SignedDuration::from_secs(-5), 0),
            (SignedDuration::ZERO, 0),
            (SignedDuration::from_nanos(1), 1),
            (SignedDuration::from_secs(2), 2),
            (SignedDuration::from_millis(2_001), 3),
            (SignedDuration::from_hours(9), 900),
        ] {
            assert_eq!(seconds(wait, DELAY_MAX), expected, "{wait}");
        }
    }
}
