//! How long an invocation may go on taking work.

use jiff::{SignedDuration, Timestamp};
use lambda_runtime::Context;

/// Until when new work may begin: `kept` before the invocation ends, so that begun work finishes.
///
/// `machine` is the machine's time, by which the limit counts; `now` is the time of the work.
pub fn until(
    context: &Context,
    machine: Timestamp,
    now: Timestamp,
    kept: SignedDuration,
) -> Timestamp {
    let ends = i64::try_from(context.deadline).unwrap_or(i64::MAX);
    let ends = Timestamp::from_millisecond(ends).unwrap_or(Timestamp::MAX);
    let left = ends.duration_since(machine) - kept;
    now.checked_add(left).unwrap_or(Timestamp::MAX)
}

/// The charge of an invocation: milliseconds and megabytes.
pub fn used(context: &Context, took_ms: i128) -> (u64, u64) {
    let memory = u64::try_from(context.env_config.memory).unwrap_or(0);
    (u64::try_from(took_ms).unwrap_or(0), memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_counts_from_the_time_of_the_work() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let mut context = Context::default();
        context.deadline = 1_090_000;
        let kept = SignedDuration::from_secs(30);
        assert_eq!(until(&context, at(1_000), at(7), kept), at(67));
        assert_eq!(until(&context, at(1_080), at(7), kept), at(7 - 20));
        context.deadline = u64::MAX;
        assert!(until(&context, at(0), at(7), kept) > at(1_000_000_000));
    }
}
