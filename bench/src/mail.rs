//! Mail between personas, of which there is much: the whole log read and folded, and one more message in a store that holds it.

use std::hint::black_box;
use std::time::Instant;

use anyhow::{Context, Result};
use domain::ids::{PersonaName, RepoName};
use domain::mail::{Counters, Letter, Log, MessageOrder, Outgoing, Recipient, Seal, Stamp};
use engine::mail::{INBOX_MAX, InboxQuery};
use jiff::{SignedDuration, Timestamp};
use tests::world::{REPO, Setup, World};

use crate::figure::Figure;
use crate::machine::one_thread;
use crate::spread::{Spread, micros, time_each};

const SECTION: &str = "mail";

/// Events of the log: a sprint of 22 personas adds some hundred.
const EVENTS: u64 = 100_000;

/// Personas that write to each other.
const PERSONAS: usize = 22;

/// One message in so many stays unread.
const UNREAD_EVERY: u64 = 10;

/// How often the whole log is read, and how often a message is sent and a mailbox looked into.
const TIMES: [usize; 2] = [5, 200];

/// When the first message was sent.
const BEGIN: Timestamp = Timestamp::constant(1_767_225_600, 0);

pub(crate) fn measure() -> Result<Vec<Figure>> {
    let log = written()?;
    let mut figures = folded(&log)?;
    let runtime = one_thread()?;
    for (name, log) in [("an empty log", ""), ("100,000 events", log.as_str())] {
        figures.extend(runtime.block_on(Box::pin(stored(name, log)))?);
    }
    Ok(figures)
}

fn personas() -> Result<Vec<PersonaName>> {
    let names = (0..PERSONAS).map(|at| format!("persona-{at}").parse());
    names
        .collect::<Result<_, _>>()
        .context("naming the personas")
}

/// A log as both stores write it: messages among all personas, most of them read.
fn written() -> Result<String> {
    let personas = personas()?;
    let persona = |at: u64| personas[at as usize % PERSONAS].clone();
    let mut counters = Counters::default();
    let mut log = String::new();
    let mut number = 0;
    while counters.events < EVENTS {
        let letter = Letter {
            from: persona(number),
            to: persona(number * 7 + 1),
            subject: format!("Conflict in PR #{number}"),
            body: "Take over what is woven, and make your change on top of it.\n".repeat(4),
            attachments: vec![format!("https://github.com/{REPO}/pull/{number}.patch")],
        };
        let sent = counters.send(letter, stamp(counters.events)?)?;
        add(&mut log, &sent.line);
        if counters.events < EVENTS && number % UNREAD_EVERY != 0 {
            let read = stamp(counters.events)?;
            let read = counters.order(&sent.message, MessageOrder::Read, read)?;
            add(&mut log, &read.context("it was read before")?.line);
        }
        number += 1;
    }
    Ok(log)
}

fn add(log: &mut String, line: &str) {
    log.push_str(line);
    log.push('\n');
}

fn stamp(event: u64) -> Result<Stamp> {
    Ok(Stamp {
        id: format!("event-{event}").parse()?,
        at: BEGIN + SignedDuration::from_secs(event.try_into()?),
        actor: "bench".to_owned(),
    })
}

/// The log alone, as a file is read and as a mailbox is made of it.
fn folded(log: &str) -> Result<Vec<Figure>> {
    let read = || Log::read(log.as_bytes(), &Seal::default());
    let whole = read();
    if let Some(fault) = whole.faults().first() {
        anyhow::bail!("the log is broken: {fault:?}");
    }
    let reading = time_each(TIMES[0], || {
        black_box(read());
    });
    let folding = time_each(TIMES[0], || {
        black_box(black_box(&whole).mail());
    });
    let mail = whole.mail();
    let persona: PersonaName = "persona-1".parse()?;
    let looking = time_each(TIMES[1], || {
        black_box(black_box(&mail).inbox(&persona, true));
    });
    let figure = |what: &str, micros: f64| {
        let name = format!("{EVENTS} events: {what}, mean");
        Figure::new(SECTION, name, micros / 1e3, "ms")
    };
    Ok(vec![
        figure("read and checked", reading.mean),
        figure("folded into mailboxes", folding.mean),
        figure("what is unread of one persona, in memory", looking.mean),
    ])
}

/// One more message and one look into a mailbox, in a database on disk.
async fn stored(name: &str, log: &str) -> Result<Vec<Figure>> {
    let folder = tempfile::tempdir().context("making a folder")?;
    let world = World::with(Setup {
        folder: Some(folder.path().to_owned()),
        ..Setup::default()
    })
    .await;
    let repo: RepoName = REPO.parse()?;
    if !log.is_empty() {
        let imported = world.backend.import_mail(&repo, log.as_bytes());
        imported.await.context("importing the log")?;
    }
    let [persona, other] = ["persona-1", "persona-2"].map(str::parse::<PersonaName>);
    let (persona, other) = (persona?, other?);
    let outgoing = Outgoing {
        from: other,
        to: Recipient::Persona(persona.clone()),
        subject: "Conflict in PR #7".parse()?,
        body: "Take over what is woven.".parse()?,
        attachments: Vec::new(),
    };
    let unread = InboxQuery {
        unread: true,
        limit: INBOX_MAX,
        ..InboxQuery::default()
    };
    let (mut sending, mut looking) = (Vec::new(), Vec::new());
    for _ in 0..TIMES[1] {
        let began = Instant::now();
        let sent = world.backend.send_mail(&repo, &outgoing, "bench", None);
        sent.await.context("sending a message")?;
        sending.push(micros(began.elapsed()));
        let began = Instant::now();
        let page = world.backend.inbox_of(&repo, &persona, &unread);
        black_box(page.await.context("looking into a mailbox")?);
        looking.push(micros(began.elapsed()));
    }
    let figures = |what: &str, samples| {
        let name = format!("{name}, stored: {what}");
        Spread::from_samples(samples).figures(SECTION, &name, "us", None)
    };
    let mut all = figures("one more message", sending);
    all.extend(figures("what is unread of one persona", looking));
    Ok(all)
}
