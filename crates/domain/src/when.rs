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

#[cfg(test)]
mod tests {
    use super::*;

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
