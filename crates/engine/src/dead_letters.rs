//! Dead letters for people: what each asks for, and which may be put back to work.

use std::collections::BTreeSet;

use domain::tick::TickTrigger;
use jiff::Timestamp;

use crate::ports::{DeadLetter, DeadLetters, QueueError};
use crate::work::Work;

/// Maximum number of dead letters that one call reads: with more, put these back first.
pub const LETTERS_MAX: usize = 1_000;

/// Which queue's dead letters they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeadLetterQueue {
    /// Wake-ups, for the dispatcher.
    Work,
    /// Ticks, for the poller, where nothing runs all the time.
    Ticks,
}

impl DeadLetterQueue {
    /// Whether the receivers of the queue can parse this body.
    fn reads(self, body: &str) -> bool {
        match self {
            Self::Work => serde_json::from_str::<Work>(body).is_ok(),
            Self::Ticks => serde_json::from_str::<TickTrigger>(body).is_ok(),
        }
    }
}

/// One dead letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetterView {
    /// Names it.
    pub id: String,
    /// When it was first sent.
    pub sent_at: Timestamp,
    /// When it was given up, if known.
    pub died_at: Option<Timestamp>,
    /// Its body: text from outside.
    pub body: String,
    /// Whether it is no message of this version.
    pub malformed: bool,
}

/// The outcome of putting dead letters back to work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Redriven {
    /// Those that wait for the dispatcher again.
    pub redriven: BTreeSet<String>,
    /// Those that no dispatcher can parse: they stay until they are dropped by hand.
    pub malformed: BTreeSet<String>,
    /// Those that do not exist any more, or that another process took.
    pub gone: BTreeSet<String>,
}

/// All dead letters, the oldest first.
pub async fn letters(
    dead: &dyn DeadLetters,
    kind: DeadLetterQueue,
) -> Result<Vec<DeadLetterView>, QueueError> {
    let found = dead.list(LETTERS_MAX).await?;
    let letter = |dead: DeadLetter| DeadLetterView {
        malformed: !kind.reads(&dead.body),
        id: dead.id,
        sent_at: dead.sent_at,
        died_at: dead.died_at,
        body: dead.body,
    };
    Ok(found.into_iter().map(letter).collect())
}

/// Puts one dead letter back to work, or all that can be parsed. A malformed one stays where a person sees it: its
/// receiver would only drop it.
pub async fn redrive(
    dead: &dyn DeadLetters,
    kind: DeadLetterQueue,
    only: Option<&str>,
) -> Result<Redriven, QueueError> {
    let found = letters(dead, kind).await?;
    let asked = |letter: &&DeadLetterView| only.is_none_or(|id| letter.id == id);
    let (bad, good): (Vec<&DeadLetterView>, Vec<&DeadLetterView>) = found
        .iter()
        .filter(asked)
        .partition(|letter| letter.malformed);
    let ids = |letters: Vec<&DeadLetterView>| -> BTreeSet<String> {
        letters
            .into_iter()
            .map(|letter| letter.id.clone())
            .collect()
    };
    let (good, malformed) = (ids(good), ids(bad));
    let redriven = dead.redrive(&good).await?;
    let mut gone: BTreeSet<String> = good.difference(&redriven).cloned().collect();
    gone.extend(
        only.map(str::to_owned)
            .filter(|id| !good.contains(id) && !malformed.contains(id)),
    );
    Ok(Redriven {
        redriven,
        malformed,
        gone,
    })
}
