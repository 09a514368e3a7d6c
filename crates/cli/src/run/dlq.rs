//! `gaffer dlq`: lists dead letters and puts them back to work.

use std::sync::Arc;

use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use domain::redact::presentable;
use engine::dead_letters::{self, DeadLetterQueue, DeadLetterView};
use engine::ports::DeadLetters;
use serde_json::{Value, json};

use crate::args::value::{self, Word};
use crate::context::CommandContext;
use crate::error::Error;
use crate::render::{Answer, moment, or_dash, or_empty};
use crate::site::Site;

/// What to do with dead letters.
#[derive(Debug, Args)]
pub(crate) struct DlqArgs {
    /// Which queue's.
    #[arg(long, global = true, value_name = "QUEUE", default_value = "work", value_parser = value::one_of(&QUEUES))]
    pub(crate) queue: DeadLetterQueue,

    /// What to do.
    #[command(subcommand)]
    pub(crate) command: DlqCommand,
}

const QUEUES: [Word<DeadLetterQueue>; 2] = [
    ("work", DeadLetterQueue::Work, "Wake-ups"),
    (
        "ticks",
        DeadLetterQueue::Ticks,
        "Ticks, which only a stack has",
    ),
];

/// What to do with dead letters.
#[derive(Debug, Subcommand)]
pub(crate) enum DlqCommand {
    /// List them, the oldest first.
    #[command(
        after_help = "Examples:\n  gaffer dlq list\n  gaffer dlq list --stack gaffer --queue ticks"
    )]
    List,
    /// Show one as sent.
    #[command(after_help = "Example:\n  gaffer dlq show 7")]
    Show(OneLetter),
    /// Put one back to work, or all that can be read.
    #[command(after_help = "Examples:\n  gaffer dlq redrive 7\n  gaffer dlq redrive --all")]
    Redrive(RedriveArgs),
    /// Delete one.
    #[command(after_help = "Example:\n  gaffer dlq drop 7")]
    Drop(OneLetter),
}

/// Which message.
#[derive(Debug, Clone, Args)]
pub(crate) struct OneLetter {
    /// The id that `gaffer dlq list` shows.
    #[arg(value_parser = value::words)]
    pub(crate) id: String,
}

/// Which messages go back to work.
#[derive(Debug, Clone, Args)]
pub(crate) struct RedriveArgs {
    /// The id that `gaffer dlq list` shows.
    #[arg(required_unless_present = "all", conflicts_with = "all", value_parser = value::words)]
    pub(crate) id: Option<String>,

    /// All that can be read; malformed ones stay.
    #[arg(long)]
    pub(crate) all: bool,
}

/// Most of a body that a list shows, in characters.
const SHORT_CHARS_MAX: usize = 100;

/// Longest part of a body that is shown, in characters: our own messages have a few hundred.
const BODY_CHARS_MAX: usize = 4_000;

pub(crate) async fn run(args: DlqArgs, here: &CommandContext) -> Result<Answer> {
    let lying = SelectedLetters::open(Site::load(here).await?, args.queue)?;
    match args.command {
        DlqCommand::List => list(&lying).await,
        DlqCommand::Show(OneLetter { id }) => Ok(shown(&find(&lying, &id).await?)),
        DlqCommand::Redrive(args) => redrive(&lying, args.id.as_deref()).await,
        DlqCommand::Drop(OneLetter { id }) => drop_one(&lying, &id).await,
    }
}

/// The dead letters that are meant.
struct SelectedLetters {
    dead: Arc<dyn DeadLetters>,
    kind: DeadLetterQueue,
    place: String,
}

impl SelectedLetters {
    fn open(site: Site, kind: DeadLetterQueue) -> Result<Self, Error> {
        let dead = match kind {
            DeadLetterQueue::Work => site.dead,
            DeadLetterQueue::Ticks => site.dead_ticks.ok_or_else(no_ticks)?,
        };
        let place = site.place;
        Ok(Self { dead, kind, place })
    }
}

fn no_ticks() -> Error {
    let what = "a data folder has no queue of ticks: `gaffer up` ticks by itself";
    Error::usage(
        what,
        "leave `--queue` out, or name a stack with `--stack NAME`",
    )
}

async fn letters(lying: &SelectedLetters) -> Result<Vec<DeadLetterView>> {
    let found = dead_letters::letters(lying.dead.as_ref(), lying.kind).await;
    found.with_context(|| format!("looking at the dead letters of {}", lying.place))
}

async fn list(lying: &SelectedLetters) -> Result<Answer> {
    let found = letters(lying).await?;
    let row = |letter: &DeadLetterView| {
        vec![
            letter.id.clone(),
            moment(letter.sent_at),
            or_dash(letter.died_at.map(moment)),
            what(letter).to_owned(),
            presentable(&letter.body, SHORT_CHARS_MAX),
        ]
    };
    let head = ["id", "sent", "given up", "is", "body"];
    let none = "No message was given up.";
    let all: Vec<Value> = found
        .iter()
        .map(|it| letter_json(it, SHORT_CHARS_MAX))
        .collect();
    Ok(Answer::new(json!({ "dead_letters": all })).table(
        &head,
        found.iter().map(row).collect(),
        none,
    ))
}

fn what(letter: &DeadLetterView) -> &'static str {
    if letter.malformed {
        "malformed"
    } else {
        "a message"
    }
}

/// The body is text from outside: cut, and without hidden characters and secrets.
fn letter_json(letter: &DeadLetterView, chars_max: usize) -> Value {
    json!({
        "id": letter.id, "sent_at": letter.sent_at, "died_at": letter.died_at,
        "malformed": letter.malformed, "bytes": letter.body.len(),
        "body": presentable(&letter.body, chars_max),
    })
}

async fn find(lying: &SelectedLetters, id: &str) -> Result<DeadLetterView> {
    let found = letters(lying).await?;
    let found = found.into_iter().find(|letter| letter.id == id);
    found.ok_or_else(|| gone(id).into())
}

fn gone(id: &str) -> Error {
    Error::refused(
        "no_such",
        format!(
            "there is no dead letter `{}`",
            presentable(id, SHORT_CHARS_MAX)
        ),
        "list them with `gaffer dlq list`; another caller may have put it back to work",
    )
}

fn shown(letter: &DeadLetterView) -> Answer {
    let pairs = vec![
        ("id", letter.id.clone()),
        ("is", what(letter).to_owned()),
        ("sent", moment(letter.sent_at)),
        ("given up", or_empty(letter.died_at.map(moment))),
        ("bytes", letter.body.len().to_string()),
    ];
    Answer::new(letter_json(letter, BODY_CHARS_MAX))
        .pairs(pairs)
        .line("")
        .line(presentable(&letter.body, BODY_CHARS_MAX))
}

async fn redrive(lying: &SelectedLetters, only: Option<&str>) -> Result<Answer> {
    let came = dead_letters::redrive(lying.dead.as_ref(), lying.kind, only).await;
    let came = came.with_context(|| format!("redriving dead letters of {}", lying.place))?;
    if let Some(id) = only.filter(|_| came.redriven.is_empty()) {
        return Err(if came.malformed.is_empty() {
            gone(id).into()
        } else {
            malformed(id).into()
        });
    }
    let answer =
        Answer::new(json!({ "redriven": came.redriven, "malformed": came.malformed })).line(
            format!("{} messages wait to be handled again.", came.redriven.len()),
        );
    if came.malformed.is_empty() {
        return Ok(answer);
    }
    let ids: Vec<&str> = came.malformed.iter().map(String::as_str).collect();
    Ok(answer.line(format!(
        "Malformed ones stay: {}. Look with `gaffer dlq show ID`, remove with `gaffer dlq drop ID`.",
        ids.join(", ")
    )))
}

fn malformed(id: &str) -> Error {
    Error::refused(
        "malformed",
        format!("dead letter `{id}` is no message that can be read"),
        format!("look at it with `gaffer dlq show {id}`; remove it with `gaffer dlq drop {id}`"),
    )
}

async fn drop_one(lying: &SelectedLetters, id: &str) -> Result<Answer> {
    let ids = [id.to_owned()].into();
    let removed = lying.dead.remove(&ids).await;
    if removed.context("removing a dead letter")?.is_empty() {
        return Err(gone(id).into());
    }
    Ok(Answer::new(json!({ "dropped": id })).line(format!("Dead letter {id} is removed.")))
}
