//! What a poll asks Jules for: one list for all sessions while pages stay light, and activities only when they can matter.

use jiff::Timestamp;

use crate::account::ListWeight;
use crate::job::{Attention, Watch};
use crate::policy::Timing;
use crate::session::{SessionState, SessionView};

/// Sessions asked for in one list page: small, because pages carry whole patches.
pub const LIST_PAGE_SIZE: u32 = 10;

/// A list page is light up to this many bytes a session: a page then costs less than the requests it saves.
const LIGHT_BYTES_PER_SESSION: u64 = 32 * 1024;

/// How sessions are looked at in one poll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// One listing for all.
    List,
    /// One read each.
    Each,
}

/// Decides between one listing and single reads.
pub fn look(weight: &ListWeight, watched: u64) -> Look {
    let light = weight
        .bytes_per_session
        .is_none_or(|bytes| bytes <= LIGHT_BYTES_PER_SESSION);
    let pages = weight.sessions.div_ceil(u64::from(LIST_PAGE_SIZE)).max(1);
    if light && watched > 1 && pages <= watched {
        Look::List
    } else {
        Look::Each
    }
}

/// Whether a session's activities are worth a request now.
pub fn wants_activities(
    watch: &Watch,
    shown: &SessionView,
    last_read: Option<Timestamp>,
    now: Timestamp,
    timing: &Timing,
) -> bool {
    let Some(last_read) = last_read else {
        return true;
    };
    let moved = shown.state != watch.state
        || shown
            .pulls
            .iter()
            .any(|pull| watch.pull.as_ref() != Some(pull));
    let expecting = matches!(watch.attention, Attention::Expecting { .. });
    let wordless = matches!(
        &watch.attention,
        Attention::Question { text: None, .. } | Attention::Plan { plan: None, .. }
    );
    let resting = matches!(shown.state, SessionState::Completed);
    let quiet = now.duration_since(watch.progress_at.max(last_read)) >= timing.quiet;
    let stuck = crate::job::stuck_deadline(watch, timing).is_some_and(|deadline| deadline <= now);
    moved
        || expecting
        || wordless
        || watch.unconfirmed_since.is_some()
        || stuck
        || (quiet && !resting)
}
