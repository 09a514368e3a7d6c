//! Faults that last for a while: a key that is refused until it is restored, and answers that come after every client's time limit.

use domain::when::plus;
use jiff::{SignedDuration, Timestamp};
use rand::RngExt;
use rand::rngs::StdRng;
use sandbox::{Fault, FaultKind, Faults, Service};
use serde_json::json;

/// What the report calls them. Among the seeds of the test command each of them has to strike.
pub(crate) const KINDS: [&str; 4] = ["jules 401", "github 401", "jules timeout", "github timeout"];

/// How long the child waits for an answer, in real time: long for a sandbox beside it, and short for a test.
pub(crate) const PATIENCE: SignedDuration = SignedDuration::from_millis(400);

/// Delay of an answer beyond every client's time limit, in milliseconds of real time.
pub(crate) const TOO_LATE: u64 = 600;

/// A key is refused from some second within so many on.
const REFUSED_WITHIN: i64 = 200;

/// For at least and at most so many seconds: a poll that is refused comes again after a minute.
const REFUSED_FOR: std::ops::Range<i64> = 20..70;

/// Calls that are answered too late, of which each service gets one. Creates are left to the other faults.
const SLOW: [&[(Service, &str, &str)]; 2] = [
    &[
        (Service::Jules, "POST", ":sendMessage"),
        (Service::Jules, "POST", ":approvePlan"),
        (Service::Jules, "POST", ":archive"),
        (Service::Jules, "GET", "/sessions"),
        (Service::Jules, "GET", "/activities"),
    ],
    &[
        (Service::GitHub, "PUT", "/merge"),
        (Service::GitHub, "POST", "/comments"),
        (Service::GitHub, "POST", "/labels"),
        (Service::GitHub, "GET", "/pulls/"),
        (Service::GitHub, "GET", "/check-runs"),
    ],
];

/// A service that refuses our key for a while.
pub(crate) struct Outage {
    fault: Fault,
    from: Timestamp,
    until: Timestamp,
    is_on: bool,
}

/// One for each service whose key may be changed.
pub(crate) fn keys(dice: &mut StdRng, begun: Timestamp) -> Vec<Outage> {
    let mut of = |service, body| {
        let from = plus(begun, seconds(dice.random_range(1..REFUSED_WITHIN)));
        let kind = FaultKind::Status {
            code: 401,
            retry_after_secs: None,
            body,
        };
        Outage {
            fault: Fault::new(service, "", kind),
            from,
            until: plus(from, seconds(dice.random_range(REFUSED_FOR))),
            is_on: false,
        }
    };
    let bad = json!({ "message": "Bad credentials" });
    vec![of(Service::Jules, None), of(Service::GitHub, Some(bad))]
}

/// The calls that are answered too late, one a service.
pub(crate) fn slow(dice: &mut StdRng) -> Vec<Fault> {
    let of = |calls: &[(Service, &str, &str)]| {
        let (service, method, path) = calls[dice.random_range(0..calls.len())];
        let kind = FaultKind::SlowerThan { millis: TOO_LATE };
        Fault::new(service, path, kind).on(method).next(1)
    };
    SLOW.map(of).to_vec()
}

impl Outage {
    /// Begins or ends when its time has come; answers whether it is over.
    pub(crate) fn pass(&mut self, faults: &Faults, now: Timestamp) -> bool {
        if !self.is_on && (self.from..self.until).contains(&now) {
            faults.add(self.fault.clone());
            self.is_on = true;
        }
        if self.is_on && self.until <= now {
            faults.remove(&self.fault);
        }
        self.until <= now
    }
}

fn seconds(count: i64) -> SignedDuration {
    SignedDuration::from_secs(count)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn a_key_is_refused_for_a_while_and_then_taken_again() {
        let faults = Faults::default();
        let begun = Timestamp::UNIX_EPOCH;
        let mut outages = keys(&mut StdRng::seed_from_u64(7), begun);
        let mut refused = [0; 2];
        for second in 0..300 {
            let now = plus(begun, seconds(second));
            for (outage, refused) in outages.iter_mut().zip(&mut refused) {
                outage.pass(&faults, now);
                let on = faults.take(outage.fault.service, "GET", "/", "");
                *refused += usize::from(on.is_some());
            }
        }
        assert!(
            refused.iter().all(|times| (20..70).contains(times)),
            "{refused:?}"
        );
        assert!(faults.list().is_empty());
    }
}
