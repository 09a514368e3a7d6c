//! The transcript of a run.

use askama::Template;
use client::wire::{EntryView, RunView, Transcript as Kept};
use domain::ids::DeliveryId;

use crate::Error;
use crate::shell::{Frame, Page, Place, Shell, paged};

/// A transcript.
#[derive(Debug, Clone, Copy)]
pub struct Transcript<'a> {
    /// Of which delivery.
    pub delivery: &'a DeliveryId,
    /// Of which run.
    pub run: &'a RunView,
    /// A page of what was said and done; none while it is unread.
    pub kept: Option<&'a Kept>,
}

#[derive(Template)]
#[template(path = "transcript.html")]
struct TranscriptPage<'a> {
    shell: Shell,
    delivery: &'a DeliveryId,
    run: &'a RunView,
    kept: Option<&'a Kept>,
    entries: &'a [EntryView],
}

/// The page of a transcript.
///
/// # Errors
/// When the template fails.
pub fn transcript(frame: &Frame, told: Transcript<'_>) -> Result<Page, Error> {
    paged(frame, Place::Elsewhere, |shell| TranscriptPage {
        shell,
        delivery: told.delivery,
        run: told.run,
        kept: told.kept,
        entries: told.kept.map_or(&[], |kept| kept.leader.as_slice()),
    })
}
