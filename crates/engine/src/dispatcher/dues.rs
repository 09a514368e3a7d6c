//! Whether a look that changed nothing has to save when the next one is due.

use jiff::{SignedDuration, Timestamp};

use crate::poller::CLAIM;

/// How much earlier than wanted a claimed row may be due again: a save costs as much as such a look.
const EARLY_MAX: SignedDuration = SignedDuration::from_mins(1);

/// Whether the stored due is as good as the wanted one: it comes early enough, and is no claim of the poller, which
/// would have the same thing read again every two minutes.
pub(super) fn is_due_kept(
    stored: Option<Timestamp>,
    wanted: Option<Timestamp>,
    now: Timestamp,
) -> bool {
    let (stored, wanted) = match (stored, wanted) {
        (Some(stored), Some(wanted)) => (stored, wanted),
        (None, None) => return true,
        (Some(_), None) | (None, Some(_)) => return false,
    };
    let may_be_claim = stored.duration_since(now) <= CLAIM;
    let is_much_earlier = wanted.duration_since(stored) > EARLY_MAX;
    stored > now && stored <= wanted && !(may_be_claim && is_much_earlier)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_due_is_kept_that_comes_early_enough_and_is_no_claim() {
        let kept = |stored: Option<i64>, wanted: Option<i64>| {
            let at = |second: i64| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second);
            is_due_kept(stored.map(at), wanted.map(at), at(0))
        };
        assert!(kept(None, None));
        assert!(!kept(Some(300), None) && !kept(None, Some(300)));
        // It was decided at an earlier look, and is not moved by every message.
        assert!(kept(Some(300), Some(600)) && kept(Some(600), Some(600)));
        assert!(!kept(Some(601), Some(600)), "too late");
        assert!(!kept(Some(0), Some(600)), "it is due already");
        // The poller has claimed the row to send the message that led here.
        assert!(!kept(Some(120), Some(600)) && !kept(Some(119), Some(3_600)));
        assert!(kept(Some(120), Some(180)) && kept(Some(1), Some(60)));
    }
}
