//! The transcript of a run.

use askama::Template;
use domain::ids::{DeliveryId, RunId};

use crate::Error;
use crate::shell::{Frame, Page, Place, Shell, paged};

/// One entry of a transcript.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What it is: `text`, `thinking`, `tool_use` or `tool_result`.
    pub kind: String,
    /// Whose it is.
    pub who: String,
    /// Its words: text from outside.
    pub text: String,
}

/// A transcript.
#[derive(Debug, Clone, Copy)]
pub struct Transcript<'a> {
    /// Of which delivery.
    pub delivery: &'a DeliveryId,
    /// Of which run.
    pub run: &'a RunId,
    /// What was said and done, the oldest first.
    pub entries: &'a [Entry],
}

#[derive(Template)]
#[template(path = "transcript.html")]
struct TranscriptPage<'a> {
    shell: Shell,
    delivery: &'a DeliveryId,
    run: &'a RunId,
    entries: &'a [Entry],
}

/// The page of a transcript.
///
/// # Errors
/// When the template fails.
pub fn transcript(frame: &Frame, told: Transcript<'_>) -> Result<Page, Error> {
    paged((frame, Place::Elsewhere), |shell| TranscriptPage {
        shell,
        delivery: told.delivery,
        run: told.run,
        entries: told.entries,
    })
}
