//! How mail is shown: lines for people, JSON for programs.

use std::collections::BTreeMap;

use domain::ids::{MessageId, PersonaName};
use domain::mail::{Counts, ReceivedMessage};
use serde_json::json;

use super::BROKEN_PAGE_NEXT;
use super::store::{Repaired, Store};
use crate::render::{Answer, moment, value};

/// A message was sent, or one to each of the team.
pub(super) fn was_sent(sent: &[(MessageId, PersonaName)]) -> Answer {
    let one = |(message, to): &(MessageId, PersonaName)| json!({ "message_id": message, "to_persona": to });
    let told = json!({ "sent": sent.iter().map(one).collect::<Vec<_>>() });
    sent.iter().fold(Answer::new(told), |answer, (message, _)| {
        answer.line(format!("✅ Sent message {message}"))
    })
}

/// A subject from another program may have line breaks, and a list has one line for each message.
fn one_line(subject: &str) -> String {
    subject.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a persona got, in the mail of this name.
pub(super) fn inbox(persona: &PersonaName, messages: &[&ReceivedMessage], of: &str) -> Answer {
    let line = |message: &&ReceivedMessage| {
        let mark = if message.read_at.is_some() { ' ' } else { '*' };
        let subject = one_line(&message.subject);
        let (id, from) = (message.message_id, &message.from_persona);
        format!("{mark} {id} | {from} | {subject}")
    };
    let none = format!("No messages for {persona} in the mail of {of}.");
    list(persona, messages, messages.iter().map(line).collect(), none)
}

/// What a persona wrote, in the mail of this name.
pub(super) fn sent(persona: &PersonaName, messages: &[&ReceivedMessage], of: &str) -> Answer {
    let line = |message: &&ReceivedMessage| {
        let subject = one_line(&message.subject);
        format!(
            "{} | {} | {subject}",
            message.message_id, message.to_persona
        )
    };
    let none = format!("No messages from {persona} in the mail of {of}.");
    list(persona, messages, messages.iter().map(line).collect(), none)
}

fn list(
    persona: &PersonaName,
    messages: &[&ReceivedMessage],
    lines: Vec<String>,
    none: String,
) -> Answer {
    let answer = Answer::new(json!({ "persona": persona, "messages": value(&messages) }));
    if lines.is_empty() {
        return answer.line(none);
    }
    lines.into_iter().fold(answer, Answer::line)
}

/// A message with its text last, since it may have any number of lines.
pub(super) fn message(message: &ReceivedMessage) -> Answer {
    let mut pairs = vec![
        ("message", message.message_id.to_string()),
        ("from", message.from_persona.to_string()),
        ("to", message.to_persona.to_string()),
        ("sent", moment(message.ts)),
        ("subject", one_line(&message.subject)),
        ("tags", tag_line(message)),
    ];
    let links = message.attachments.iter();
    pairs.extend(links.map(|link| ("attachment", link.clone())));
    Answer::new(json!({ "message": value(message) }))
        .pairs(pairs)
        .line("")
        .line(message.body.clone())
}

fn tag_line(message: &ReceivedMessage) -> String {
    let tags = message.tags.iter().map(ToString::to_string);
    tags.collect::<Vec<_>>().join(", ")
}

/// The tags of a message, one a line.
pub(super) fn tags(message: &ReceivedMessage) -> Answer {
    let id = message.message_id;
    let answer = Answer::new(json!({ "message_id": id, "tags": value(&message.tags) }));
    if message.tags.is_empty() {
        return answer.line(format!("Message {id} has no tags."));
    }
    let tags = message.tags.iter().map(ToString::to_string);
    tags.fold(answer, Answer::line)
}

/// A message went into the trash or out of it.
pub(super) fn moved(message: &ReceivedMessage) -> Answer {
    let (id, trashed) = (message.message_id, message.trashed);
    let place = if trashed { "trash" } else { "inbox" };
    let told = json!({ "message_id": id, "trashed": trashed });
    Answer::new(told).line(format!("Message {id} is in the {place}."))
}

/// How much mail everyone has.
pub(super) fn stats(counts: &BTreeMap<PersonaName, Counts>) -> Answer {
    let answer = Answer::new(json!({ "personas": value(counts) }));
    if counts.is_empty() {
        return answer.line("No messages.");
    }
    counts.iter().fold(answer, |answer, (persona, counts)| {
        answer.line(format!(
            "{persona}: {} unread of {}",
            counts.unread, counts.messages
        ))
    })
}

/// What is wrong with the mail.
pub(super) fn verified(faults: &[String], events: u64, pages: u64) -> Answer {
    let told = json!({ "faults": faults, "events": events, "pages": pages });
    let answer = faults.iter().fold(Answer::new(told), Answer::line);
    if !faults.is_empty() {
        return answer;
    }
    answer.line(format!(
        "Nothing is wrong. Events: {events}, pages of backups: {pages}."
    ))
}

/// A log that is whole again, and what is left to do.
pub(super) fn mended(repaired: &Repaired, store: &Store) -> Answer {
    let Repaired {
        mended,
        in_backups,
        broken_page,
    } = repaired;
    let rejected = mended.rejected.len();
    let aside = store.rejected().display().to_string();
    let told = json!({
        "kept": mended.kept, "restored": mended.restored, "rejected": rejected,
        "rejected_path": Some(&aside).filter(|_| rejected > 0), "lost": mended.lost,
        "in_backups": in_backups, "broken_page": broken_page,
    });
    let mut answer = Answer::new(told).line(format!("Events kept: {}.", mended.kept));
    if mended.restored > 0 {
        answer = answer.line(format!("Events from the backups: {}.", mended.restored));
    }
    if rejected > 0 {
        answer = answer.line(format!("Lines laid aside in {aside}: {rejected}."));
    }
    if !mended.lost.is_empty() {
        let lost = mended.lost.iter().map(ToString::to_string);
        let lost = lost.collect::<Vec<_>>().join(", ");
        answer = answer.line(format!("Messages lost: {lost}."));
    }
    if *in_backups > 0 {
        answer = answer.line(format!(
            "Events that only the backups have, or have otherwise: {in_backups}; `jules-mail restore` brings them back."
        ));
    }
    if let Some(broken) = broken_page {
        answer = answer.line(format!(
            "The backups are still broken: {broken}. Next: {BROKEN_PAGE_NEXT}."
        ));
    }
    answer
}

/// Events were backed up.
pub(super) fn sealed(count: u64) -> Answer {
    Answer::new(json!({ "sealed": count })).line(format!("Events backed up: {count}."))
}

/// Events were added.
pub(super) fn imported(added: u64, there: u64) -> Answer {
    Answer::new(json!({ "added": added, "already_there": there }))
        .line(format!("Events added: {added}, already there: {there}."))
}

/// Rows of a store were made of its log again.
pub(super) fn rebuilt(changed: u64) -> Answer {
    Answer::new(json!({ "changed": changed })).line(format!("Rows made again: {changed}."))
}
