//! The mail of a repository in the store: an event with what it changes is one commit, so that a mailbox is read without
//! the log.

mod rows;
mod sealing;
mod sending;
mod whole;

use domain::event::{Audience, Event, News, Occurrence};
use domain::fence::clip_encoded;
use domain::ids::{EventId, MailEventId, MessageId, PersonaName, RepoName};
use domain::mail::{Added, Counters, HUMAN, MessageOrder, ReceivedMessage, RefusedOrder, Stamp};
use domain::policy::Source;
use domain::refusal::NotNow;
use jiff::Timestamp;

use crate::backend::{Backend, Error, IndexEntry, UnitOfWork, decide_again};
use crate::keys;
use crate::save::EventRoute;
use crate::store::Versioned;

pub use sending::{IdempotentMail, SentMail};

/// Most messages that one reading of a mailbox answers.
pub const INBOX_MAX: usize = 100;

/// How much of a message to people is in its event, in bytes as JSON: the mailbox has all of it.
const WORDS_BYTES_MAX: usize = 3_000;

/// Which messages of a mailbox are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InboxQuery {
    /// Only those that are not read.
    pub unread: bool,
    /// Only those behind this one.
    pub after: Option<MessageId>,
    /// Only those that were sent from then on, and what people wrote before.
    pub since: Option<Timestamp>,
    /// At most so many.
    pub limit: usize,
}

/// A part of a mailbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxPage {
    /// The messages, the oldest first.
    pub messages: Vec<ReceivedMessage>,
    /// Whether there are more behind them.
    pub more: bool,
}

impl Backend {
    /// A part of a mailbox without what is in the trash, the oldest first.
    pub async fn inbox_of(
        &self,
        repo: &RepoName,
        persona: &PersonaName,
        query: &InboxQuery,
    ) -> Result<InboxPage, Error> {
        self.must::<Source>(repo).await?;
        let wanted = |message: &ReceivedMessage| {
            let is_behind = query.after.is_none_or(|after| message.message_id > after);
            let is_from_people = message.from_persona.is_human();
            let is_since = query
                .since
                .is_none_or(|since| is_from_people || message.ts >= since);
            let is_unread = !query.unread || message.read_at.is_none();
            is_behind && is_since && is_unread && !message.trashed
        };
        let limit = query.limit.clamp(1, INBOX_MAX);
        let mut messages = self.mail_box(repo, persona, wanted, limit + 1).await?;
        let more = messages.len() > limit;
        messages.truncate(limit);
        Ok(InboxPage { messages, more })
    }

    /// A message of a mailbox, in the trash or not.
    pub async fn mail_message(
        &self,
        repo: &RepoName,
        message: MessageId,
        persona: &PersonaName,
    ) -> Result<ReceivedMessage, Error> {
        let found = self.must_have_mail(repo, message, persona).await?;
        Ok(found.value)
    }

    /// Carries an order about a message out, and answers the message as it is then.
    pub async fn order_mail(
        &self,
        repo: &RepoName,
        (message, persona): (MessageId, &PersonaName),
        order: &MessageOrder,
        actor: &str,
    ) -> Result<ReceivedMessage, Error> {
        let (message, full) = decide_again(format!("the mail of {repo}"), || async {
            let found = self.must_have_mail(repo, message, persona).await?;
            let counted = self.store.get_or_initial::<Counters>(repo).await?;
            let mut counters = counted.value;
            let mut unit = self.unit();
            let stamp = self.stamp(unit.now(), actor);
            let added = counters.order(&found.value, order.clone(), stamp);
            let Some(added) = added.map_err(refused)? else {
                return Ok(Some((found.value, None)));
            };
            let next = added.message.clone();
            put(&mut unit, repo, counters.events, added, Some(found.version));
            unit.save(repo, &counters, Some(counted.version));
            let is_saved = self.try_commit(unit).await?;
            Ok::<_, Error>(is_saved.then_some((next, Some(counters))))
        })
        .await?;
        if let Some(counters) = full {
            self.seal_when_full(repo, &counters).await;
        }
        Ok(message)
    }

    /// What is counted of a repository's mail.
    pub async fn mail_counters(&self, repo: &RepoName) -> Result<Counters, Error> {
        self.must::<Source>(repo).await?;
        Ok(self.store.get_or_initial::<Counters>(repo).await?.value)
    }

    /// A block of the log: the events from a hundred times its number on, in order.
    pub async fn mail_block(&self, repo: &RepoName, block: u64) -> Result<Vec<String>, Error> {
        self.must::<Source>(repo).await?;
        let lines = self.mail_lines_in(repo, block).await?;
        Ok(lines.into_iter().map(|(_, line)| line).collect())
    }

    /// What a persona writes to people is a question to them.
    async fn tell_people(
        &self,
        unit: &mut UnitOfWork,
        source: &Source,
        message: &ReceivedMessage,
    ) -> Result<(), Error> {
        let (repo, number) = (&source.repo, message.message_id);
        let words = format!("{}\n{}", message.subject, message.body);
        let event = Event {
            audience: Audience::Human,
            ..Event::new(
                EventId::from_name(&format!("mail:{}{number}", repo.key())),
                source.account.clone(),
                unit.now(),
                Occurrence::News(News::Mail {
                    repo: repo.clone(),
                    from: message.from_persona.clone(),
                    message: number,
                    words: clip_encoded(&words, WORDS_BYTES_MAX),
                }),
            )
        };
        let route = EventRoute {
            repo: Some(repo.clone()),
            ..EventRoute::default()
        };
        self.save_account_events(unit, &[event], &route).await
    }

    /// Whether people read a message to them, or threw it away. One that is gone waits for them no more.
    pub(crate) async fn is_seen_by_people(
        &self,
        repo: &RepoName,
        message: MessageId,
    ) -> Result<bool, Error> {
        let Ok(human) = HUMAN.parse::<PersonaName>() else {
            return Ok(false);
        };
        let key = keys::mail_box(repo, &human, message);
        let found = self.store.read::<ReceivedMessage>(&key).await?;
        let found = found.map(|found| found.value);
        Ok(found.is_none_or(|message| message.read_at.is_some() || message.trashed))
    }

    /// One that is not there and one of another mailbox are refused alike: only the mailbox is looked at.
    async fn must_have_mail(
        &self,
        repo: &RepoName,
        message: MessageId,
        persona: &PersonaName,
    ) -> Result<Versioned<ReceivedMessage>, Error> {
        self.must::<Source>(repo).await?;
        let key = keys::mail_box(repo, persona, message);
        let found = self.store.read::<ReceivedMessage>(&key).await?;
        found.ok_or_else(|| Error::NoSuch {
            what: "message",
            name: message.to_string(),
        })
    }

    fn stamp(&self, at: Timestamp, actor: &str) -> Stamp {
        Stamp {
            id: MailEventId::of(self.ids.ulid(at)),
            at,
            actor: actor.to_owned(),
        }
    }
}

/// Puts an event and the message as it is with it; returns the line.
fn put(
    unit: &mut UnitOfWork,
    repo: &RepoName,
    number: u64,
    added: Added,
    found: Option<u64>,
) -> String {
    let Added { line, message } = added;
    let in_no_list = IndexEntry::default;
    unit.put(keys::mail_event(repo, number), &line, None, in_no_list());
    let place = keys::mail_box(repo, &message.to_persona, message.message_id);
    unit.put(place, &message, found, in_no_list());
    line
}

fn refused(why: RefusedOrder) -> Error {
    match &why {
        RefusedOrder::NoSuch(missing) => Error::NoSuch {
            what: "message",
            name: missing.message.to_string(),
        },
        RefusedOrder::Tags(_) => NotNow::new("too_many_tags", why.to_string()).into(),
    }
}
