//! How times and long texts are shown.

use jiff::Timestamp;

/// Seconds of a minute, an hour and a day.
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How far a time is from now, in a few words. `live.js` says the same as time goes by.
pub(crate) fn ago(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - at.as_second();
    let away = seconds.abs();
    let text = match away {
        0..MINUTE if seconds < 0 => return "in a moment".to_owned(),
        0..MINUTE => return "just now".to_owned(),
        MINUTE..HOUR => format!("{} min", away / MINUTE),
        // Up to two days hours tell more.
        HOUR..172_800 => format!("{} h", away / HOUR),
        _ => format!("{} d", away / DAY),
    };
    if seconds < 0 {
        format!("in {text}")
    } else {
        format!("{text} ago")
    }
}

/// A time for programs, to the second.
pub(crate) fn stamp(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A time for people, to the minute.
pub(crate) fn full(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// A duration in a few words.
pub(crate) fn long(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// The beginning of a text, which ends in `…` where something was cut off.
pub(crate) fn clip(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let kept: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// A word with a capital letter.
pub(crate) fn capital(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_come_is_never_told_as_what_was() {
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        let told = |seconds: i64| {
            let at = Timestamp::from_second(1_800_000_000 + seconds).unwrap();
            ago(at, now)
        };
        let cases = [
            (-120, "2 min ago"),
            (-59, "just now"),
            (0, "just now"),
            (1, "in a moment"),
            (59, "in a moment"),
            (60, "in 1 min"),
        ];
        for (seconds, words) in cases {
            assert_eq!(told(seconds), words, "{seconds}");
        }
    }
}
