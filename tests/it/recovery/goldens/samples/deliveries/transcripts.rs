//! Samples of transcripts: every kind of entry, and a reading that failed.

use domain::conversation::Role;
use domain::delivery::{EntryKind, TranscriptEntry};
use domain::failure::{Failure, FailureClass};
use domain::ids::RunId;
use engine::keys;
use engine::readings::TranscriptPage;

use super::{AT, Samples, id};

pub(super) fn put(samples: &mut Samples) {
    let key = || keys::transcript(&id(), &RunId::of_delivery(&id(), 0), 1);
    let failure = Failure::new(FailureClass::Unavailable, "no answer");
    let pages = [
        TranscriptPage {
            read_at: AT,
            pages: 8,
            left_out: 3,
            entries: entries(),
            failure: None,
        },
        TranscriptPage::nothing(AT, Some(&failure)),
        TranscriptPage::nothing(AT, None),
    ];
    for page in pages {
        samples.put(key(), &page);
    }
}

fn entries() -> Vec<TranscriptEntry> {
    let entry = |(role, kind)| TranscriptEntry {
        at: AT,
        role,
        kind,
        text: "Read the shop".to_owned(),
    };
    let all = [
        (Role::User, EntryKind::Text),
        (Role::Assistant, EntryKind::Thinking),
        (Role::Assistant, EntryKind::ToolUse),
        (Role::Assistant, EntryKind::ToolResult),
    ];
    all.map(entry).into()
}
