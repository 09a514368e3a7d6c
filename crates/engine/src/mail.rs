//! The mail of a repository in the store: an event with what it changes is one commit, so that a mailbox is read without
//! the log.

mod rows;
mod sealing;
mod whole;

use std::collections::BTreeSet;

use domain::event::{Audience, Event, EventContext, News, Occurrence};
use domain::fence::clip_encoded;
use domain::ids::{EventId, MailEventId, MessageId, PersonaName, RepoName};
use domain::mail::{
    Added, Counters, HUMAN, Message, NotSent, Order, Outgoing, Recipient, RefusedOrder, Stamp,
};
use domain::policy::Source;
use domain::refusal::NotNow;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::backend::{Backend, DECIDE_AGAIN_MAX, Error, IndexEntry, UnitOfWork, decide_again};
use crate::jobs::IdempotencyKey;
use crate::save::EventRoute;
use crate::store::Versioned;
use crate::{keys, retention};

pub use whole::{MailImported, MailVerified};

/// Most messages that one reading of a mailbox answers.
pub const INBOX_MAX: usize = 100;

/// How much of a message to people is in its event, in bytes as JSON: the mailbox has all of it.
const WORDS_BYTES_MAX: usize = 3_000;

/// A message that was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentMail {
    /// Its number.
    pub message: MessageId,
    /// Whose mailbox it is in.
    pub to: PersonaName,
}

/// What was sent under its caller's name, as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdempotentMail {
    /// A digest of the whole order.
    pub order: String,
    /// What it became.
    pub sent: Vec<SentMail>,
}

/// Which messages of a mailbox are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InboxQuery {
    /// Only those that are not read.
    pub unread: bool,
    /// Only those behind this one.
    pub after: Option<MessageId>,
    /// At most so many.
    pub limit: usize,
}

/// A part of a mailbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxPage {
    /// The messages, the oldest first.
    pub messages: Vec<Message>,
    /// Whether there are more behind them.
    pub more: bool,
}

/// What one try to send has made, and what it would answer.
struct Try {
    unit: UnitOfWork,
    counters: Counters,
    last: String,
    sent: Vec<SentMail>,
}

impl Backend {
    /// Sends a message, to one persona or to each of the team. Under a name it is sent once.
    pub async fn send_mail(
        &self,
        repo: &RepoName,
        outgoing: &Outgoing,
        (actor, once): (&str, Option<&IdempotencyKey>),
    ) -> Result<Vec<SentMail>, Error> {
        let mut before: Option<(u64, String, Vec<SentMail>)> = None;
        for _ in 0..DECIDE_AGAIN_MAX {
            // The answer to a commit may be lost, and a message is sent once.
            if let Some((number, line, sent)) = before.take()
                && self.mail_line(repo, number).await? == Some(line)
            {
                return Ok(sent);
            }
            if let Some(sent) = self.sent_before(repo, once).await? {
                return Ok(sent);
            }
            let Try {
                unit,
                counters,
                last,
                sent,
            } = self.try_to_send(repo, outgoing, (actor, once)).await?;
            if self.try_commit(unit).await? {
                self.seal_when_full(repo, &counters).await;
                return Ok(sent);
            }
            before = Some((counters.events, last, sent));
        }
        Err(whole::busy(repo))
    }

    async fn try_to_send(
        &self,
        repo: &RepoName,
        outgoing: &Outgoing,
        (actor, once): (&str, Option<&IdempotencyKey>),
    ) -> Result<Try, Error> {
        let source = self.must::<Source>(repo).await?.value;
        let found = self.store.get_or_initial::<Counters>(repo).await?;
        let mut counters = found.value;
        let team = match &outgoing.to {
            Recipient::Persona(_) => BTreeSet::new(),
            Recipient::Team => self.team_of(repo, (outgoing, &counters)).await?,
        };
        let letters = outgoing.letters(team.iter()).map_err(not_sent)?;
        let mut unit = self.unit();
        let (mut last, mut sent) = (String::new(), Vec::with_capacity(letters.len()));
        for letter in letters {
            let to = letter.to.clone();
            let added = counters.send(letter, self.stamp(unit.now(), actor));
            let added = added.map_err(|many| NotNow::new("too_many_personas", many.to_string()))?;
            if to.is_human() {
                self.tell_people(&mut unit, &source, &added.message).await?;
            }
            let message = added.message.message_id;
            sent.push(SentMail { message, to });
            last = put(&mut unit, repo, (counters.events, added), None);
        }
        unit.save(repo, &counters, Some(found.version));
        if let Some(once) = once {
            let carried = IdempotentMail {
                order: once.order.clone(),
                sent: sent.clone(),
            };
            let place = IndexEntry::until(unit.now(), retention::ONCE);
            unit.put(keys::mail_sent(repo, &once.name), &carried, None, place);
        }
        Ok(Try {
            unit,
            counters,
            last,
            sent,
        })
    }

    /// The personas that have mail, and the members of the newest sprint: in a first one none has mail yet.
    async fn team_of(
        &self,
        repo: &RepoName,
        (outgoing, counters): (&Outgoing, &Counters),
    ) -> Result<BTreeSet<PersonaName>, Error> {
        let members = match self.must_sprint(repo, None).await {
            Ok(found) => found.value.members,
            Err(Error::NoSuch { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        let members = members.into_iter().map(|it| it.persona);
        Ok(outgoing.team(counters.personas.keys().cloned(), members))
    }

    /// What was sent under this name; another order under it is refused.
    async fn sent_before(
        &self,
        repo: &RepoName,
        once: Option<&IdempotencyKey>,
    ) -> Result<Option<Vec<SentMail>>, Error> {
        let Some(once) = once else { return Ok(None) };
        let key = keys::mail_sent(repo, &once.name);
        let found = self.store.read::<IdempotentMail>(&key).await?;
        match found {
            Some(found) if found.value.order != once.order => {
                let sentence =
                    "this name stands for another message already: give every message its own";
                Err(NotNow::new("idempotency_key_reused", sentence.to_owned()).into())
            }
            found => Ok(found.map(|found| found.value.sent)),
        }
    }

    /// A part of a mailbox without what is in the trash, the oldest first.
    pub async fn inbox_of(
        &self,
        repo: &RepoName,
        persona: &PersonaName,
        query: &InboxQuery,
    ) -> Result<InboxPage, Error> {
        self.must::<Source>(repo).await?;
        let wanted = |message: &Message| {
            let is_behind = query.after.is_none_or(|after| message.message_id > after);
            is_behind && !message.trashed && !(query.unread && message.read_at.is_some())
        };
        let limit = query.limit.clamp(1, INBOX_MAX);
        let mut messages = self.mail_box(repo, persona, (wanted, limit + 1)).await?;
        let more = messages.len() > limit;
        messages.truncate(limit);
        Ok(InboxPage { messages, more })
    }

    /// A message of a mailbox, in the trash or not.
    pub async fn mail_message(
        &self,
        repo: &RepoName,
        (message, persona): (MessageId, &PersonaName),
    ) -> Result<Message, Error> {
        let found = self.must_have_mail(repo, (message, persona)).await?;
        Ok(found.value)
    }

    /// Carries an order about a message out, and answers the message as it is then.
    pub async fn order_mail(
        &self,
        repo: &RepoName,
        (message, persona): (MessageId, &PersonaName),
        order: &Order,
        actor: &str,
    ) -> Result<Message, Error> {
        let (message, full) = decide_again(format!("the mail of {repo}"), || async {
            let found = self.must_have_mail(repo, (message, persona)).await?;
            let counted = self.store.get_or_initial::<Counters>(repo).await?;
            let mut counters = counted.value;
            let mut unit = self.unit();
            let stamp = self.stamp(unit.now(), actor);
            let added = counters.order(&found.value, order.clone(), stamp);
            let Some(added) = added.map_err(refused)? else {
                return Ok(Some((found.value, None)));
            };
            let next = added.message.clone();
            put(
                &mut unit,
                repo,
                (counters.events, added),
                Some(found.version),
            );
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
        message: &Message,
    ) -> Result<(), Error> {
        let (repo, number) = (&source.repo, message.message_id);
        let words = format!("{}\n{}", message.subject, message.body);
        let event = Event {
            id: EventId::from_name(&format!("mail:{}{number}", repo.key())),
            job: None,
            account: source.account.clone(),
            attempt: 0,
            seq: None,
            observed_at: unit.now(),
            status: String::new(),
            last_activity: None,
            what: Occurrence::News(News::Mail {
                repo: repo.clone(),
                from: message.from_persona.clone(),
                message: number,
                words: clip_encoded(&words, WORDS_BYTES_MAX),
            }),
            audience: Audience::Human,
            aid: EventContext::default(),
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
        let found = self.store.read::<Message>(&key).await?;
        let found = found.map(|found| found.value);
        Ok(found.is_none_or(|message| message.read_at.is_some() || message.trashed))
    }

    /// One that is not there and one of another mailbox are refused alike: only the mailbox is looked at.
    async fn must_have_mail(
        &self,
        repo: &RepoName,
        (message, persona): (MessageId, &PersonaName),
    ) -> Result<Versioned<Message>, Error> {
        self.must::<Source>(repo).await?;
        let key = keys::mail_box(repo, persona, message);
        let found = self.store.read::<Message>(&key).await?;
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
    (number, added): (u64, Added),
    found: Option<u64>,
) -> String {
    let Added { line, message } = added;
    let in_no_list = IndexEntry::default;
    unit.put(keys::mail_event(repo, number), &line, None, in_no_list());
    let place = keys::mail_box(repo, &message.to_persona, message.message_id);
    unit.put(place, &message, found, in_no_list());
    line
}

fn not_sent(why: NotSent) -> Error {
    let code = match why {
        NotSent::Letter(_) => "too_many_attachments",
        NotSent::NoTeam => "no_team",
        NotSent::TeamTooLarge(_) => "team_too_large",
    };
    NotNow::new(code, why.to_string()).into()
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
