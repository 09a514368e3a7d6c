//! Dead letters on SQS. They can only be received, so looking at them hides them for a moment.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use aws_sdk_sqs::types::{Message, MessageSystemAttributeName};
use engine::ports::{DeadLetter, DeadLetters, QueueError};
use jiff::{SignedDuration, Timestamp};

use crate::queue::{RECEIVE_MAX, SqsQueue, failed, unavailable};

/// Visibility timeout of dead letters while they are listed; they are visible again at the end.
const HIDDEN: SignedDuration = SignedDuration::from_secs(30);

/// A receive that waits asks all of the servers that a queue is spread over; one that does not may miss messages.
const ASK_ALL: SignedDuration = SignedDuration::from_secs(1);

/// So many receives in a row without anything new end a walk.
const EMPTY_MAX: u32 = 2;

/// One dead letter in hand.
struct HeldLetter {
    letter: DeadLetter,
    receipt: String,
}

#[async_trait]
impl DeadLetters for SqsQueue {
    async fn list(&self, limit: usize) -> Result<Vec<DeadLetter>, QueueError> {
        let held = self.walk(limit, |_| false).await?;
        for one in held.values() {
            self.show(one).await?;
        }
        let mut letters: Vec<DeadLetter> = held.into_values().map(|held| held.letter).collect();
        letters.sort_by(|a, b| (a.sent_at, &a.id).cmp(&(b.sent_at, &b.id)));
        Ok(letters)
    }

    async fn redrive(&self, ids: &BTreeSet<String>) -> Result<BTreeSet<String>, QueueError> {
        let mut moved = BTreeSet::new();
        for held in self.seize(ids).await? {
            let sent = self
                .client()
                .send_message()
                .queue_url(&self.url)
                .message_body(&held.letter.body)
                .send()
                .await;
            sent.map_err(|error| failed("redriving", &error))?;
            self.bury(&held).await?;
            moved.insert(held.letter.id);
        }
        Ok(moved)
    }

    async fn remove(&self, ids: &BTreeSet<String>) -> Result<BTreeSet<String>, QueueError> {
        let mut removed = BTreeSet::new();
        for held in self.seize(ids).await? {
            self.bury(&held).await?;
            removed.insert(held.letter.id);
        }
        Ok(removed)
    }
}

impl SqsQueue {
    /// Receives those of these messages that exist. Each is exclusive to its receiver for a while.
    async fn seize(&self, ids: &BTreeSet<String>) -> Result<Vec<HeldLetter>, QueueError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let all_found =
            |held: &BTreeMap<String, HeldLetter>| ids.iter().all(|id| held.contains_key(id));
        let held = self.walk(usize::MAX, all_found).await?;
        let (wanted, others): (Vec<HeldLetter>, Vec<HeldLetter>) = held
            .into_values()
            .partition(|held| ids.contains(&held.letter.id));
        for one in &others {
            self.show(one).await?;
        }
        Ok(wanted)
    }

    async fn bury(&self, held: &HeldLetter) -> Result<(), QueueError> {
        let removed = self
            .client()
            .delete_message()
            .queue_url(&self.dead_url)
            .receipt_handle(&held.receipt)
            .send()
            .await;
        let removed = removed.map(drop);
        removed.map_err(|error| failed("removing a dead letter", &error))
    }

    /// Receives dead letters until there are enough, or none that was not seen.
    async fn walk(
        &self,
        limit: usize,
        enough: impl Fn(&BTreeMap<String, HeldLetter>) -> bool,
    ) -> Result<BTreeMap<String, HeldLetter>, QueueError> {
        let (mut held, mut empty) = (BTreeMap::new(), 0);
        while held.len() < limit && empty < EMPTY_MAX && !enough(&held) {
            let before = held.len();
            for message in self.some_dead(limit - held.len()).await? {
                let one = HeldLetter::from_message(message)?;
                held.insert(one.letter.id.clone(), one);
            }
            empty = if held.len() == before { empty + 1 } else { 0 };
        }
        Ok(held)
    }

    async fn some_dead(&self, limit: usize) -> Result<Vec<Message>, QueueError> {
        let most = i32::try_from(limit.min(RECEIVE_MAX)).unwrap_or(1);
        let seconds = |wait: SignedDuration| i32::try_from(wait.as_secs()).unwrap_or(1);
        let answer = self
            .client()
            .receive_message()
            .queue_url(&self.dead_url)
            .max_number_of_messages(most)
            .visibility_timeout(seconds(HIDDEN))
            .wait_time_seconds(seconds(ASK_ALL))
            .message_system_attribute_names(MessageSystemAttributeName::SentTimestamp)
            .send()
            .await;
        let answer = answer.map_err(|error| failed("looking at dead letters", &error))?;
        Ok(answer.messages.unwrap_or_default())
    }

    async fn show(&self, held: &HeldLetter) -> Result<(), QueueError> {
        let shown = self
            .client()
            .change_message_visibility()
            .queue_url(&self.dead_url)
            .receipt_handle(&held.receipt)
            .visibility_timeout(0)
            .send()
            .await;
        let shown = shown.map(drop);
        shown.map_err(|error| failed("showing a dead letter again", &error))
    }
}

impl HeldLetter {
    fn from_message(message: Message) -> Result<Self, QueueError> {
        let doing = "looking at dead letters";
        let lacks = |what: &str| unavailable(doing, format!("a message came without {what}"));
        let attributes = message.attributes.as_ref();
        let sent = attributes.and_then(|all| all.get(&MessageSystemAttributeName::SentTimestamp));
        let sent_at = sent.and_then(|at| Timestamp::from_millisecond(at.parse().ok()?).ok());
        Ok(Self {
            letter: DeadLetter {
                id: message.message_id.ok_or_else(|| lacks("an id"))?,
                body: message.body.ok_or_else(|| lacks("a body"))?,
                sent_at: sent_at.ok_or_else(|| lacks("the time it was sent"))?,
                died_at: None,
            },
            receipt: message.receipt_handle.ok_or_else(|| lacks("a receipt"))?,
        })
    }
}
