//! Points in time that cannot overflow: times and waits from outside may be absurd, and a plain sum would panic on them.

use jiff::{SignedDuration, Timestamp};

/// The time that is `wait` after `at` (before it for a negative wait), or the first or last time there is.
pub fn plus(at: Timestamp, wait: SignedDuration) -> Timestamp {
    let edge = if wait.is_negative() {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    at.checked_add(wait).unwrap_or(edge)
}

/// Whether a time lies less than this far back. One that lies ahead is from a clock that was set back, and does not.
pub fn is_within(at: Timestamp, now: Timestamp, window: SignedDuration) -> bool {
    let ago = now.duration_since(at);
    !ago.is_negative() && ago < window
}

/// How long ago a time was, for people: `3 minutes ago`. One that lies ahead is from a clock that was set back.
pub fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(at).as_secs();
    let (count, unit) = match seconds {
        ..1 => return "just now".to_owned(),
        1..120 => (seconds, "second"),
        120..7_200 => (seconds / 60, "minute"),
        7_200..172_800 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural} ago")
}

/// A sentence for people, with times cut to the second: `2026-03-01T12:00:00.123456789Z` becomes
/// `2026-03-01T12:00:00Z`.
pub fn to_the_second(sentence: &str) -> String {
    let mut told = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once('.') {
        told.push_str(before);
        let fraction = after.bytes().take_while(u8::is_ascii_digit).count();
        let is_time = ends_with_time(before) && fraction > 0 && after[fraction..].starts_with('Z');
        if is_time {
            rest = &after[fraction..];
        } else {
            told.push('.');
            rest = after;
        }
    }
    told.push_str(rest);
    told
}

/// Whether a text ends as `T12:00:00` does.
fn ends_with_time(text: &str) -> bool {
    let Some(end) = text.len().checked_sub(9).and_then(|at| text.get(at..)) else {
        return false;
    };
    let form = end
        .bytes()
        .map(|b| if b.is_ascii_digit() { b'0' } else { b });
    form.eq("T00:00:00".bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_in_sentences_have_no_fractions_of_a_second() {
        for (sentence, told) in [
            (
                "Jules asks since 2026-03-01T12:00:00.123456789Z: 1.5 or 2?",
                "Jules asks since 2026-03-01T12:00:00Z: 1.5 or 2?",
            ),
            (
                "2026-03-01T12:00:00.5Z, 2026-03-01T12:00:01.25Z.",
                "2026-03-01T12:00:00Z, 2026-03-01T12:00:01Z.",
            ),
            ("until 2026-03-01T12:00:00Z.", "until 2026-03-01T12:00:00Z."),
            ("v1.2.3Z and T12:00:00.Z", "v1.2.3Z and T12:00:00.Z"),
            ("", ""),
        ] {
            assert_eq!(to_the_second(sentence), told);
        }
    }

    #[test]
    fn an_age_is_told_as_exactly_as_anybody_needs_it() {
        let at = Timestamp::from_second(1_800_000_000).unwrap();
        for (seconds, told) in [
            (-60, "just now"),
            (0, "just now"),
            (1, "1 second ago"),
            (119, "119 seconds ago"),
            (120, "2 minutes ago"),
            (7_199, "119 minutes ago"),
            (7_200, "2 hours ago"),
            (172_800, "2 days ago"),
        ] {
            let now = plus(at, SignedDuration::from_secs(seconds));
            assert_eq!(ago(at, now), told, "{seconds}");
        }
    }

    #[test]
    fn sums_stop_at_the_edges_of_time() {
        let at = Timestamp::from_second(1_800_000_000).unwrap();
        assert_eq!(
            plus(at, SignedDuration::from_secs(5)),
            Timestamp::from_second(1_800_000_005).unwrap()
        );
        assert_eq!(
            plus(at, SignedDuration::from_secs(-5)),
            Timestamp::from_second(1_799_999_995).unwrap()
        );
        assert_eq!(plus(at, SignedDuration::MAX), Timestamp::MAX);
        assert_eq!(
            plus(Timestamp::MAX, SignedDuration::from_nanos(1)),
            Timestamp::MAX
        );
        assert_eq!(plus(at, SignedDuration::MIN), Timestamp::MIN);
        assert_eq!(
            plus(Timestamp::MIN, -SignedDuration::from_nanos(1)),
            Timestamp::MIN
        );
    }
}
