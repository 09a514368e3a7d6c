//! What a poll asks Jules for: one list for all sessions while pages stay light, and activities only when they can matter.

use jiff::{SignedDuration, Timestamp};

use crate::account::ListWeight;
use crate::job::{Attention, Watch, newest_pull, stuck_deadline};
use crate::policy::Timing;
use crate::session::{SessionState, SessionView};

/// Sessions asked for in one list page: small, because pages carry whole patches.
pub const LIST_PAGE_SIZE: u32 = 10;

/// A list page is light up to this many bytes a session: a page then costs less than the requests it saves.
const LIGHT_BYTES_PER_SESSION: u64 = 32 * 1024;

/// The log of a resting session is read this much less often than that of a quiet one: it only shows a restart that no poll has seen.
const RESTING_SLOWER: i32 = 12;

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
    let stuck = stuck_deadline(watch, timing).is_some_and(|deadline| deadline <= now);
    let unconfirmed = watch.unconfirmed_since.is_some();
    let quiet_for = now.duration_since(watch.progress_at.max(last_read));
    moved(watch, shown)
        || unconfirmed
        || stuck
        || awaits_words(watch, now, timing)
        || quiet_for >= patience(shown, timing)
}

/// The state or the outputs are not what they were.
fn moved(watch: &Watch, shown: &SessionView) -> bool {
    let known = watch.pull.as_ref();
    let newest = shown
        .repo
        .as_ref()
        .and_then(|repo| newest_pull(known, &shown.pulls, repo));
    shown.state != watch.state || newest.is_some() && newest != known
}

/// Words or an answer may come at any moment; after a while they are looked for like everything else.
fn awaits_words(watch: &Watch, now: Timestamp, timing: &Timing) -> bool {
    match &watch.attention {
        Attention::Expecting { .. } => true,
        Attention::Question {
            text: None, since, ..
        }
        | Attention::Plan {
            plan: None, since, ..
        }
        | Attention::Answered { since } => now.duration_since(*since) < timing.quiet,
        Attention::None
        | Attention::Question { text: Some(_), .. }
        | Attention::Plan { plan: Some(_), .. } => false,
    }
}

fn patience(shown: &SessionView, timing: &Timing) -> SignedDuration {
    if shown.state == SessionState::Completed {
        timing.quiet.saturating_mul(RESTING_SLOWER)
    } else {
        timing.quiet
    }
}
