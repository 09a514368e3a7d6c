//! What a poll asks Jules for: one list for all sessions while pages stay light, and activities only when they can matter.

use jiff::{SignedDuration, Timestamp};

use crate::account::ListWeight;
use crate::job::{Attention, Watch, newest_pull, said_at, silence_deadline, turn_deadline};
use crate::policy::Timing;
use crate::session::{SessionState, SessionView};

/// Smallest list page, and the page size while the size of sessions is unknown: pages carry whole patches.
pub const LIST_PAGE_MIN: u32 = 10;

/// The most that Jules puts on one page.
const LIST_PAGE_MAX: u32 = 100;

/// No page is asked to weigh more than this: ten of the heaviest sessions that still count as light.
const LIST_PAGE_BYTES: u64 = 10 * LIGHT_BYTES_PER_SESSION;

/// A page reaches a quarter deeper than the last list had to, so that a few new sessions need no second page.
const LIST_PAGE_RESERVE: u64 = 4;

/// A list page is light up to this many bytes a session: a page then costs less than the requests it saves.
const LIGHT_BYTES_PER_SESSION: u64 = 32 * 1024;

/// The log of a resting session is read this much less often than that of a quiet one: it only shows a restart that no poll has seen.
const RESTING_SLOWER: i32 = 12;

/// A session whose news is pushed to us is asked for this much less often: a push that was lost, or forged, is made good by it.
const PUSHED_SLOWER: i32 = 10;

/// Maximum number of sessions that one poll reads individually: as many as the largest plan runs at once.
/// More would outlast the lease on the account's row and meet Jules's limits.
pub const READS_MAX: usize = 60;

/// How one poll reads a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadMode {
    /// One listing for all.
    List,
    /// One read each.
    Each,
}

/// Decides between one listing and single reads.
pub fn read_mode(weight: &ListWeight, watched: u64) -> ReadMode {
    let light = weight
        .bytes_per_session
        .is_none_or(|bytes| bytes <= LIGHT_BYTES_PER_SESSION);
    let pages = weight
        .sessions
        .div_ceil(u64::from(page_size(weight)))
        .max(1);
    if light && watched > 1 && pages <= watched {
        ReadMode::List
    } else {
        ReadMode::Each
    }
}

/// How many sessions one list page is asked for: as deep as the last list had to be read, while the page stays light.
///
/// One page for all of an account's sessions is what makes a short tick affordable.
pub fn page_size(weight: &ListWeight) -> u32 {
    let Some(bytes) = weight.bytes_per_session else {
        return LIST_PAGE_MIN;
    };
    let light = LIST_PAGE_BYTES / bytes.max(1);
    let reserve = weight.sessions.div_ceil(LIST_PAGE_RESERVE);
    let deep = weight.sessions.saturating_add(reserve);
    let wanted = u32::try_from(deep.min(light)).unwrap_or(LIST_PAGE_MAX);
    wanted.clamp(LIST_PAGE_MIN, LIST_PAGE_MAX)
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
    let quiet_for = now.duration_since(watch.progress_at.max(last_read));
    moved(watch, shown) || is_awaited(watch, now, timing) || quiet_for >= patience(shown, timing)
}

/// Returns whether a poll skips a session because Jules pushes its news.
/// Each session keeps its regular turns, and a session with an expected change is read at every poll.
///
/// Polls usually come every `gap`. The first one of each ten gaps is a turn, however rare the polls are; `last` is
/// the time of the previous poll.
pub fn rests_on_pushes(
    watch: &Watch,
    gap: SignedDuration,
    last: Option<Timestamp>,
    now: Timestamp,
    timing: &Timing,
) -> bool {
    let every = gap.as_millis().max(1) * i128::from(PUSHED_SLOWER);
    let turn = |at: Timestamp| i128::from(at.as_millisecond()).div_euclid(every);
    let is_turn = last.is_none_or(|last| turn(last) != turn(now));
    let is_known = watch.missing_since.is_none() && !is_awaited(watch, now, timing);
    watch.is_pushed(now) && is_known && !is_turn
}

/// Whether a session needs a read now: at a deadline, and while a message is on its way to it or from it.
fn is_awaited(watch: &Watch, now: Timestamp, timing: &Timing) -> bool {
    let deadlines = [silence_deadline(watch, timing), turn_deadline(watch)];
    let is_due = deadlines
        .into_iter()
        .flatten()
        .any(|deadline| deadline <= now);
    let unconfirmed = watch.unconfirmed_since.is_some();
    unconfirmed || is_due || awaits_words(watch, now, timing) || watch.awaits_return(now, timing)
}

/// The state or the outputs have changed.
fn moved(watch: &Watch, shown: &SessionView) -> bool {
    let known = watch.pull.as_ref();
    let newest = shown
        .repo
        .as_ref()
        .and_then(|repo| newest_pull(known, &shown.pulls, repo));
    shown.state != watch.state || newest.is_some() && newest != known
}

/// A message or an answer may come at any moment; after a while the session is read at the usual pace. Words about a
/// plan bring another one, which its state may not show: the session waits for an approval before and after.
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
        Attention::Plan { plan: Some(_), .. } => {
            said_at(watch).is_some_and(|said| now.duration_since(said) < timing.quiet)
        }
        Attention::None | Attention::Question { text: Some(_), .. } => false,
    }
}

fn patience(shown: &SessionView, timing: &Timing) -> SignedDuration {
    if shown.state == SessionState::Completed {
        timing.quiet.saturating_mul(RESTING_SLOWER)
    } else {
        timing.quiet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::fixture::at;
    use crate::job::tests::{SESSION, new_job, view};
    use crate::job::{JobPhase, adopt};

    fn weight(bytes_per_session: Option<u64>, sessions: u64) -> ListWeight {
        ListWeight {
            bytes_per_session,
            sessions,
        }
    }

    #[test]
    fn one_listing_pays_while_pages_are_light_and_few() {
        let light = Some(LIGHT_BYTES_PER_SESSION);
        assert_eq!(read_mode(&weight(None, 0), 2), ReadMode::List);
        assert_eq!(read_mode(&weight(light, 30), 3), ReadMode::List);
        assert_eq!(read_mode(&weight(light, 31), 3), ReadMode::Each);
        assert_eq!(read_mode(&weight(Some(2_048), 100), 2), ReadMode::List);
        assert_eq!(read_mode(&weight(Some(2_048), 201), 2), ReadMode::Each);
        assert_eq!(
            read_mode(&weight(light.map(|bytes| bytes + 1), 30), 3),
            ReadMode::Each
        );
        assert_eq!(read_mode(&weight(None, 0), 1), ReadMode::Each);
        assert_eq!(
            read_mode(&weight(light, u64::MAX), u64::MAX),
            ReadMode::List
        );
    }

    #[test]
    fn a_page_reaches_as_deep_as_it_has_to_and_stays_light() {
        let light = Some(2_048);
        assert_eq!(page_size(&weight(None, 500)), 10);
        assert_eq!(page_size(&weight(light, 0)), 10);
        assert_eq!(page_size(&weight(light, 21)), 27);
        assert_eq!(page_size(&weight(light, 80)), 100);
        assert_eq!(page_size(&weight(light, 100_000)), 100);
        assert_eq!(page_size(&weight(Some(8 * 1024), 80)), 40);
        assert_eq!(page_size(&weight(Some(LIGHT_BYTES_PER_SESSION), 80)), 10);
        assert_eq!(page_size(&weight(Some(u64::MAX), 80)), 10);
        assert_eq!(page_size(&weight(Some(0), 80)), 100);
    }

    fn shown(state: &str) -> SessionView {
        view(SESSION, state)
    }

    fn watch(state: &str) -> Watch {
        let job = adopt(new_job(), &shown(state), at(0)).unwrap().aggregate;
        let JobPhase::Watching(watch) = job.phase else {
            panic!()
        };
        *watch
    }

    /// Whether the log is read at a second, having been read at second 0.
    fn wants(watch: &Watch, shown: &SessionView, second: i64) -> bool {
        wants_activities(watch, shown, Some(at(0)), at(second), &Timing::default())
    }

    #[test]
    fn the_log_is_read_at_first_then_when_something_moved_or_all_is_quiet() {
        let (watch, same) = (watch("IN_PROGRESS"), shown("IN_PROGRESS"));
        assert!(wants_activities(
            &watch,
            &same,
            None,
            at(1),
            &Timing::default()
        ));
        assert!(!wants(&watch, &same, 299));
        assert!(wants(&watch, &same, 300));
        assert!(wants(&watch, &shown("COMPLETED"), 1));
        let mut with_pull = shown("IN_PROGRESS");
        with_pull.pulls = vec!["acme/shop#7".parse().unwrap()];
        assert!(wants(&watch, &with_pull, 1));
        let known = Watch {
            pull: Some("acme/shop#7".parse().unwrap()),
            ..watch.clone()
        };
        assert!(!wants(&known, &with_pull, 1));
        with_pull.pulls.push("acme/shop#3".parse().unwrap());
        with_pull.pulls.push("acme/other#9".parse().unwrap());
        assert!(!wants(&known, &with_pull, 1));
    }

    #[test]
    fn the_log_is_read_before_stuck_however_recently_it_was_read() {
        let (watch, same) = (watch("IN_PROGRESS"), shown("IN_PROGRESS"));
        let at_899 = wants_activities(&watch, &same, Some(at(850)), at(899), &Timing::default());
        let at_900 = wants_activities(&watch, &same, Some(at(850)), at(900), &Timing::default());
        assert_eq!((at_899, at_900), (false, true));
    }

    #[test]
    fn words_are_looked_for_eagerly_at_first() {
        let event = crate::ids::EventId::from_name("x");
        let base = watch("AWAITING_USER_FEEDBACK");
        let same = shown("AWAITING_USER_FEEDBACK");
        let with = |attention| Watch {
            attention,
            ..base.clone()
        };
        let since = at(0);
        let open = |text| {
            with(Attention::Question {
                event: event.clone(),
                since,
                text,
            })
        };
        assert!(wants(&with(Attention::Expecting { since }), &same, 5));
        assert!(wants(&with(Attention::Answered { since }), &same, 5));
        assert!(wants(&open(None), &same, 5));
        assert!(!wants(&open(Some("x".to_owned())), &same, 5));
        let later = |watch: &Watch| {
            wants_activities(watch, &same, Some(at(590)), at(600), &Timing::default())
        };
        assert!(!later(&open(None)));
        assert!(!later(&with(Attention::Answered { since })));
        let unconfirmed = Watch {
            unconfirmed_since: Some(since),
            ..open(Some("x".to_owned()))
        };
        assert!(later(&unconfirmed));
    }

    #[test]
    fn a_resting_log_is_read_once_an_hour() {
        let (watch, same) = (watch("COMPLETED"), shown("COMPLETED"));
        assert!(!wants(&watch, &same, 3_599));
        assert!(wants(&watch, &same, 3_600));
    }

    #[test]
    fn what_is_pushed_is_asked_for_at_every_tenth_poll_unless_something_is_awaited() {
        let gap = SignedDuration::from_secs(10);
        let base = watch("IN_PROGRESS");
        let pushed = Watch {
            pushed_at: Some(at(0)),
            ..base.clone()
        };
        let rests = |watch: &Watch, second: i64| {
            let last = Some(at(second - 10));
            rests_on_pushes(watch, gap, last, at(second), &Timing::default())
        };
        let asked = |watch: &Watch, seconds: std::ops::Range<i64>| {
            let polls = seconds.step_by(10);
            polls.filter(|second| !rests(watch, *second)).count()
        };
        assert_eq!(asked(&pushed, 0..900), 9);
        assert_eq!(asked(&base, 0..900), 90);
        // Polls that are rarer than its turns each ask for it, and so does the first of all.
        for last in [Some(at(100)), None] {
            let timing = Timing::default();
            assert!(!rests_on_pushes(&pushed, gap, last, at(250), &timing));
        }
        // No push has arrived for half an hour.
        let alive = Watch {
            progress_at: at(1_700),
            ..pushed.clone()
        };
        assert_eq!(asked(&alive, 1_700..1_800), 1);
        assert_eq!(asked(&alive, 1_800..1_900), 10);
        let awaited = [
            Watch {
                missing_since: Some(at(0)),
                ..pushed.clone()
            },
            Watch {
                unconfirmed_since: Some(at(0)),
                ..pushed.clone()
            },
            Watch {
                attention: Attention::Expecting { since: at(0) },
                ..pushed
            },
        ];
        for watch in awaited {
            assert_eq!(asked(&watch, 0..100), 10, "{watch:?}");
        }
    }
}
