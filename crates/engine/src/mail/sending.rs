//! A message on its way into mailboxes: one commit for one persona, and several for a large team.

use std::collections::BTreeSet;

use domain::ids::{MessageId, PersonaName, RepoName};
use domain::mail::{Counters, NotSent, Outgoing, Recipient, TooManyPersonas};
use domain::policy::Source;
use domain::refusal::{IDEMPOTENCY_KEY, NotNow};
use serde::{Deserialize, Serialize};

use super::{put, whole};
use crate::backend::{Backend, DECIDE_AGAIN_MAX, Error, IndexEntry, UnitOfWork};
use crate::jobs::IdempotencyKey;
use crate::{keys, retention};

/// Most messages of one commit, which has at most 100 records and 3.5 MB: each message is two records.
const LETTERS_AT_ONCE: usize = 40;

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
    /// Whom it still goes to: the same order goes on with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<PersonaName>,
}

/// A message that is to be sent.
#[derive(Clone, Copy)]
struct SendOrder<'a> {
    outgoing: &'a Outgoing,
    /// Who sends it, for the record.
    actor: &'a str,
    /// The name under which it is sent once.
    once: Option<&'a IdempotencyKey>,
}

/// How far a message is sent.
#[derive(Debug, Clone, Default)]
struct SendProgress {
    sent: Vec<SentMail>,
    /// Whom it still goes to; not known before the first commit.
    left: Option<Vec<PersonaName>>,
    /// The version of what is stored of it under its caller's name.
    version: Option<u64>,
}

impl SendProgress {
    fn is_through(&self) -> bool {
        self.left.as_ref().is_some_and(Vec::is_empty)
    }
}

/// What one try to send has made, and how far the message is sent with it.
struct Try {
    unit: UnitOfWork,
    counters: Counters,
    last: String,
    progress: SendProgress,
}

impl Backend {
    /// Sends a message, to one persona or to each of the team. Under a name it is sent once, and what a failure kept from some of
    /// a large team is sent to them when the same order comes again.
    pub async fn send_mail(
        &self,
        repo: &RepoName,
        outgoing: &Outgoing,
        actor: &str,
        once: Option<&IdempotencyKey>,
    ) -> Result<Vec<SentMail>, Error> {
        let order = SendOrder {
            outgoing,
            actor,
            once,
        };
        let mut progress = SendProgress::default();
        while !progress.is_through() {
            let more = self.send_more(repo, order, &progress);
            progress = more.await?;
        }
        Ok(progress.sent)
    }

    /// Sends a message to as many as one commit takes.
    async fn send_more(
        &self,
        repo: &RepoName,
        order: SendOrder<'_>,
        so_far: &SendProgress,
    ) -> Result<SendProgress, Error> {
        let mut before: Option<(u64, String, SendProgress)> = None;
        for _ in 0..DECIDE_AGAIN_MAX {
            // The answer to a commit may be lost, and a message is sent once.
            if let Some((number, line, progress)) = before.take()
                && self.mail_line(repo, number).await? == Some(line)
            {
                return Ok(progress);
            }
            let stored = self.sent_before(repo, order.once).await?;
            let so_far = stored.unwrap_or_else(|| so_far.clone());
            if so_far.is_through() {
                return Ok(so_far);
            }
            let Try {
                unit,
                counters,
                last,
                progress,
            } = self.try_to_send(repo, order, so_far).await?;
            if self.try_commit(unit).await? {
                self.seal_when_full(repo, &counters).await;
                return Ok(progress);
            }
            before = Some((counters.events, last, progress));
        }
        Err(whole::busy(repo))
    }

    async fn try_to_send(
        &self,
        repo: &RepoName,
        order: SendOrder<'_>,
        so_far: SendProgress,
    ) -> Result<Try, Error> {
        let SendOrder {
            outgoing,
            actor,
            once,
        } = order;
        let source = self.must::<Source>(repo).await?.value;
        let found = self.store.get_or_initial::<Counters>(repo).await?;
        let mut counters = found.value;
        let team = match (&outgoing.to, so_far.left) {
            (Recipient::Persona(_), _) => BTreeSet::new(),
            (Recipient::Team, Some(left)) => left.into_iter().collect(),
            (Recipient::Team, None) => self.team_of(repo, &counters).await?,
        };
        let mut letters = outgoing.letters(team.iter()).map_err(not_sent)?;
        // All of them have room, or none is written to.
        let recipients = letters.iter().map(|letter| &letter.to);
        let room = counters.must_take(recipients.chain([&outgoing.from]));
        room.map_err(too_many)?;
        let later = letters.split_off(letters.len().min(LETTERS_AT_ONCE));
        let left: Vec<PersonaName> = later.into_iter().map(|letter| letter.to).collect();
        let mut unit = self.unit();
        let (mut last, mut sent) = (String::new(), so_far.sent);
        for letter in letters {
            let to = letter.to.clone();
            let added = counters.send(letter, self.stamp(unit.now(), actor));
            let added = added.map_err(too_many)?;
            if to.is_human() {
                self.tell_people(&mut unit, &source, &added.message).await?;
            }
            let message = added.message.message_id;
            sent.push(SentMail { message, to });
            last = put(&mut unit, repo, counters.events, added, None);
        }
        unit.save(repo, &counters, Some(found.version));
        if let Some(once) = once {
            let carried = IdempotentMail {
                order: once.order.clone(),
                sent: sent.clone(),
                left: left.clone(),
            };
            let place = IndexEntry::until(unit.now(), retention::ONCE);
            let key = keys::mail_sent(repo, &once.name);
            unit.put(key, &carried, so_far.version, place);
        }
        let progress = SendProgress {
            sent,
            left: Some(left),
            version: None,
        };
        Ok(Try {
            unit,
            counters,
            last,
            progress,
        })
    }

    /// The personas that have mail, and the members of the newest sprint: in a first one none has mail yet.
    async fn team_of(
        &self,
        repo: &RepoName,
        counters: &Counters,
    ) -> Result<BTreeSet<PersonaName>, Error> {
        let newest = self.newest_sprint(repo).await?;
        let members = newest.map_or_else(Vec::new, |found| found.value.members);
        let members = members.into_iter().map(|it| it.persona);
        Ok(counters.personas.keys().cloned().chain(members).collect())
    }

    /// How far it was sent under this name; another order under it is refused.
    async fn sent_before(
        &self,
        repo: &RepoName,
        once: Option<&IdempotencyKey>,
    ) -> Result<Option<SendProgress>, Error> {
        let Some(once) = once else { return Ok(None) };
        let key = keys::mail_sent(repo, &once.name);
        let found = self.store.read::<IdempotentMail>(&key).await?;
        match found {
            Some(found) if found.value.order != once.order => {
                let sentence =
                    "this name stands for another message already: give every message its own";
                let refused = NotNow::new("idempotency_key_reused", sentence);
                Err(refused.about(IDEMPOTENCY_KEY).into())
            }
            found => Ok(found.map(|found| SendProgress {
                sent: found.value.sent,
                left: Some(found.value.left),
                version: Some(found.version),
            })),
        }
    }
}

fn too_many(many: TooManyPersonas) -> Error {
    NotNow::new("too_many_personas", many.to_string()).into()
}

fn not_sent(why: NotSent) -> Error {
    let field = match why {
        NotSent::Letter(_) => "attachments",
        NotSent::NoTeam | NotSent::TeamTooLarge(_) => "to",
    };
    let refused = NotNow::new(why.code(), why.to_string());
    refused.about(field).into()
}

#[cfg(test)]
mod tests {
    use domain::refusal::About;

    use super::*;

    #[test]
    fn what_is_not_sent_is_refused_by_its_field() {
        let odd = "The Art".parse::<PersonaName>().unwrap_err();
        for (why, code, field) in [
            (NotSent::Letter(odd), "too_many_attachments", "attachments"),
            (NotSent::NoTeam, "no_team", "to"),
            (NotSent::TeamTooLarge(61), "team_too_large", "to"),
        ] {
            let Error::NotNow(refused) = not_sent(why) else {
                panic!("{code}")
            };
            let named = (refused.code, refused.about);
            assert_eq!(named, (code, About::Field(field)));
        }
    }
}
