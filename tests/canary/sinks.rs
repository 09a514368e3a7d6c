//! Every place where a secret could come out, and what has come out of it so far.

use std::io;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use tests::world::World;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;

use super::scanner::Scanner;

/// A place where something comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sink {
    /// Rows that are or were in the store, with their keys.
    Row,
    /// Messages of the queue, and the names of everything done.
    Message,
    /// Lines of the log, of every crate and level.
    Log,
    /// What panics said.
    Panic,
    /// Events.
    Event,
    /// Errors that callers got, as people and as programmers see them.
    Error,
    /// Requests to agents, headers and bodies.
    Wake,
    /// Words to sessions.
    Said,
    /// Answers of our own endpoints, headers and bodies.
    Answer,
    /// Reasons and states as people are told them.
    Snapshot,
    /// Arguments of processes.
    Argument,
}

/// What came out of a story besides what the world itself remembers.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) errors: Vec<String>,
    pub(super) answers: Vec<String>,
    /// Processes that were started, which go on while this is kept.
    pub(super) children: Vec<std::process::Child>,
}

/// Everything that was logged or said in a panic, by all stories of this process.
#[derive(Clone, Default)]
pub(super) struct Log(Arc<Mutex<Vec<u8>>>);

static LOG: LazyLock<Log> = LazyLock::new(|| {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_max_level(LevelFilter::TRACE)
        .with_writer(log.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).expect("the first subscriber");
    log
});

static PANICS: LazyLock<Log> = LazyLock::new(|| {
    let panics = Log::default();
    let (kept, usual) = (panics.clone(), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |panic| {
        kept.keep(format!("{panic}\n").as_bytes());
        usual(panic);
    }));
    panics
});

impl Log {
    fn keep(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(bytes);
    }

    fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.keep(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// Begins to listen; what happened before is not heard.
pub(super) fn listen() {
    LazyLock::force(&LOG);
    LazyLock::force(&PANICS);
}

/// Everything that came out of a story, by where.
pub(super) async fn all(world: &World, heard: &Heard) -> Vec<(Sink, String)> {
    let mut found = vec![(Sink::Log, LOG.text()), (Sink::Panic, PANICS.text())];
    let mut add = |sink, texts: Vec<String>| found.extend(texts.into_iter().map(|it| (sink, it)));
    let rows = world.ledger.bodies();
    add(
        Sink::Row,
        rows.iter()
            .map(|(key, body)| format!("{key:?} {body}"))
            .collect(),
    );
    add(Sink::Message, world.fate.acts());
    add(Sink::Message, world.postbox.acts());
    let events = world
        .backend
        .store
        .recent_events(1_000)
        .await
        .expect("events");
    add(
        Sink::Event,
        events.iter().map(|it| format!("{it:?}")).collect(),
    );
    add(Sink::Error, heard.errors.clone());
    add(Sink::Answer, heard.answers.clone());
    let received = world.sandbox.agents().received(tests::world::AGENT);
    add(
        Sink::Wake,
        received
            .iter()
            .map(|it| format!("{:?} {}", it.headers, it.body))
            .collect(),
    );
    let sessions = world.sandbox.jules().sessions();
    add(
        Sink::Said,
        sessions
            .iter()
            .map(|it| format!("{} {} {:?}", it.title, it.prompt, it.messages))
            .collect(),
    );
    add(Sink::Snapshot, snapshots(world).await);
    add(Sink::Argument, arguments());
    found
}

/// The arguments of this process and of those it has started, as the system shows them to everybody.
fn arguments() -> Vec<String> {
    let own = std::process::id().to_string();
    let listed = std::process::Command::new("ps")
        .args(["-ww", "-o", "args=", "-p", &own, "--ppid", &own])
        .output()
        .expect("the list of processes");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let lines = listed.lines().map(str::to_owned);
    lines.chain(std::env::args()).collect()
}

async fn snapshots(world: &World) -> Vec<String> {
    let mut shown = vec![world.story().await];
    let status = world.backend.status().await.expect("a status");
    shown.push(format!("{status:?}"));
    for job in world.backend.store.jobs(100).await.expect("jobs") {
        shown.push(format!(
            "{:?}",
            world.backend.why(&job.value.id).await.expect("a why")
        ));
    }
    shown
}

/// Where secrets came out, and how.
pub(super) fn leaks(found: &[(Sink, String)], secrets: &[String]) -> Vec<(Sink, String)> {
    let scanner = Scanner::new(secrets);
    let leak = |(sink, text): &(Sink, String)| {
        let (secret, form) = scanner.leak(text)?;
        Some((
            *sink,
            format!("{secret} as {form} in {}", around(text, secret)),
        ))
    };
    found.iter().filter_map(leak).collect()
}

/// The text around a secret that stands in it plainly, else its beginning.
fn around(text: &str, secret: &str) -> String {
    let at = text.find(secret).unwrap_or(0);
    let before = text[..at].chars().rev().take(300).count();
    text[..at]
        .chars()
        .skip(text[..at].chars().count() - before)
        .chain(text[at..].chars().take(600))
        .collect()
}

/// An answer of an API with all that a caller sees.
pub(super) async fn answer(response: reqwest::Response) -> (u16, String) {
    let status = response.status().as_u16();
    let headers = format!("{:?}", response.headers());
    let body = response.text().await.expect("a body");
    (status, format!("{headers} {body}"))
}
