//! Samples of mail: its counters, a message that was sent and read, its lines, and a page of them.

use domain::ids::{MailEventId, PersonaName};
use domain::mail::{Counters, MessageOrder, Outgoing, Page, Recipient, Stamp, paged};
use engine::keys;
use engine::mail::{IdempotentMail, SentMail};

use super::{AT, Samples, pull_ref};

pub(super) fn put(samples: &mut Samples) {
    let repo = pull_ref().repo;
    // A digit in a name tells that names are the keys.
    let to: PersonaName = "art2".parse().expect("a persona");
    let outgoing = Outgoing {
        from: "weaver".parse().expect("a persona"),
        to: Recipient::Persona(to.clone()),
        subject: "Conflict in PR #102".parse().expect("a subject"),
        body: "See the patch.".parse().expect("a body"),
        attachments: vec![
            "https://github.com/acme/shop/pull/102.patch"
                .parse()
                .expect("an address"),
        ],
    };
    let stamp = |n: u64| Stamp {
        id: MailEventId::of(ulid::Ulid::from_parts(n, 1)),
        at: AT,
        actor: "ci-bot".to_owned(),
    };
    samples.put(keys::mail(&repo), &Counters::default());
    let mut counters = Counters::default();
    let letters = outgoing.letters(std::iter::empty()).expect("a letter");
    let letter = letters.into_iter().next().expect("a letter");
    let sent = counters.send(letter, stamp(1)).expect("it was sent");
    let tag = MessageOrder::TagAdd("needs-action".parse().expect("a tag"));
    let tagged = counters.order(&sent.message, tag, stamp(2));
    let tagged = tagged.expect("an order").expect("an event");
    let read = counters.order(&tagged.message, MessageOrder::Read, stamp(3));
    let read = read.expect("an order").expect("an event");
    let lines = [sent.line, tagged.line, read.line];
    for (number, line) in (1..).zip(&lines) {
        samples.put(keys::mail_event(&repo, number), line);
    }
    for message in [&sent.message, &tagged.message, &read.message] {
        samples.put(keys::mail_box(&repo, &to, message.message_id), message);
    }
    let first = paged(None, lines[..2].to_vec());
    let second = paged(first.last().cloned(), lines[2..].to_vec());
    let pages: Vec<Page> = first.into_iter().chain(second).collect();
    for page in &pages {
        samples.put(keys::mail_page(&repo, page.number()), page);
    }
    counters.sealed_with(&pages);
    samples.put(keys::mail(&repo), &counters);
    let once = IdempotentMail {
        order: "5e".repeat(32),
        sent: vec![SentMail {
            message: sent.message.message_id,
            to,
        }],
        left: Vec::new(),
    };
    samples.put(keys::mail_sent(&repo, &"6f".repeat(32)), &once);
}
