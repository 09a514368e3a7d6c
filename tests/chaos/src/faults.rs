//! What goes wrong outside: every fault of the sandbox, in an order and at times that the dice choose.

use std::sync::Arc;
use std::time::Duration;

use domain::when::plus;
use engine::ports::Clock;
use jiff::SignedDuration;
use rand::RngExt;
use rand::rngs::StdRng;
use sandbox::{Fault, FaultKind, Lags, Sandbox, Service, WebhookFaults};
use serde_json::json;

use crate::outage;
use crate::time::SharedTime;

/// For how long new faults come up, in virtual time.
const STORM: SignedDuration = SignedDuration::from_secs(300);

/// Seconds of virtual time from one fault to the next, at most.
const NEXT_WITHIN: i64 = 12;

/// Faults that wait to strike, at most: more would only make every poll fail for a long time.
const PENDING_MAX: usize = 16;

/// How often it is looked whether the next fault has come, in real time.
const LOOK_EVERY: Duration = Duration::from_millis(3);

/// Wakes are tried again after 5 s, then after 5 min, then after half an hour: more faults would only make the story long.
pub(crate) const AGENT_FAULTS: usize = 2;

/// The calls that write, one fault each from the start. The path of a create begins those of the others, and a create comes first.
const WRITES: [(Service, &str, &str); 10] = [
    (Service::Jules, "POST", "/sessions"),
    (Service::Jules, "POST", ":sendMessage"),
    (Service::Jules, "POST", ":approvePlan"),
    (Service::Jules, "POST", ":archive"),
    (Service::GitHub, "PUT", "/merge"),
    (Service::GitHub, "POST", "/graphql"),
    (Service::GitHub, "PUT", "/update-branch"),
    (Service::GitHub, "POST", "/comments"),
    (Service::GitHub, "POST", "/labels"),
    (Service::GitHub, "DELETE", "/git/refs/"),
];

/// Where reads go wrong.
const READS: [(Service, &str, &str); 6] = [
    (Service::Jules, "GET", "/sessions?"),
    (Service::Jules, "GET", "/activities"),
    (Service::Jules, "GET", "/sessions/"),
    (Service::GitHub, "GET", "/pulls/"),
    (Service::GitHub, "GET", "/check-runs"),
    (Service::GitHub, "GET", ""),
];

/// The dice, and what they are thrown for.
pub(crate) struct FaultInjector {
    pub(crate) dice: StdRng,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) time: Arc<SharedTime>,
}

/// How late reads are, and how badly webhooks arrive.
pub(crate) fn lags_and_webhooks(dice: &mut StdRng) -> (Lags, WebhookFaults) {
    let mut up_to =
        |seconds: i64| SignedDuration::from_millis(dice.random_range(0..seconds * 1_000));
    let lags = Lags {
        create: up_to(8),
        list: up_to(15),
        activities: up_to(8),
        approve: up_to(8),
        checks: up_to(10),
        mergeable: up_to(8),
    };
    let delay = up_to(20);
    let webhooks = WebhookFaults {
        drop_every: Some(dice.random_range(2..6)),
        double: dice.random_bool(0.7),
        reorder: dice.random_bool(0.7),
        delay,
        off: false,
        down: false,
    };
    (lags, webhooks)
}

impl FaultInjector {
    /// Injects faults for a while.
    pub(crate) async fn inject(mut self) {
        let begun = self.time.now();
        for (service, method, path) in WRITES {
            let kind = self.write_fault(service);
            self.arm(service, method, path, kind);
        }
        for _ in 0..self.dice.random_range(0..=AGENT_FAULTS) {
            let kind = self.agent_fault();
            self.arm(Service::Agent, "POST", "", kind);
        }
        for fault in outage::slow(&mut self.dice) {
            self.sandbox.faults().add(fault);
        }
        let mut outages = outage::keys(&mut self.dice, begun);
        let mut look = tokio::time::interval(LOOK_EVERY);
        let mut next = begun;
        while self.time.now() < plus(begun, STORM) || !outages.is_empty() {
            look.tick().await;
            let (faults, now) = (self.sandbox.faults(), self.time.now());
            outages.retain_mut(|outage| !outage.pass(faults, now));
            if self.time.now() < next || self.sandbox.faults().list().len() >= PENDING_MAX {
                continue;
            }
            let (service, method, path) = READS[self.dice.random_range(0..READS.len())];
            let kind = self.read_fault(service, path);
            self.arm(service, method, path, kind);
            next = plus(
                self.time.now(),
                SignedDuration::from_secs(self.dice.random_range(1..=NEXT_WITHIN)),
            );
        }
    }

    fn arm(&self, service: Service, method: &str, path: &str, kind: FaultKind) {
        let fault = Fault::new(service, path, kind).on(method).next(1);
        self.sandbox.faults().add(fault);
    }

    /// Mostly those that hide whether it happened.
    fn write_fault(&mut self, service: Service) -> FaultKind {
        match self.dice.random_range(0..8) {
            0 | 1 => FaultKind::CutAfterEffect,
            2 => FaultKind::StatusAfterEffect { code: 502 },
            3 => FaultKind::CutBefore,
            4 => FaultKind::HtmlInstead,
            5 => FaultKind::TruncatedPage,
            6 => FaultKind::SlowerThan { millis: 40 },
            _ => throttled(service),
        }
    }

    fn read_fault(&mut self, service: Service, path: &str) -> FaultKind {
        match self.dice.random_range(0..9) {
            0 => FaultKind::Status {
                code: 503,
                retry_after_secs: Some(3),
                body: None,
            },
            1 => throttled(service),
            2 => FaultKind::CutBefore,
            3 => FaultKind::CutAfterEffect,
            4 => FaultKind::TruncatedPage,
            5 => FaultKind::HtmlInstead,
            6 => FaultKind::SlowerThan { millis: 30 },
            7 if path == "/check-runs" => FaultKind::Status {
                code: 403,
                retry_after_secs: None,
                body: Some(json!({ "message": "Resource not accessible by integration" })),
            },
            7 => FaultKind::NullSha,
            _ => FaultKind::MergeableNull,
        }
    }

    fn agent_fault(&mut self) -> FaultKind {
        match self.dice.random_range(0..3) {
            0 => FaultKind::CutAfterEffect,
            1 => FaultKind::CutBefore,
            _ => FaultKind::status(500),
        }
    }
}

/// Too much was asked: each service says it in its own way.
fn throttled(service: Service) -> FaultKind {
    let (code, body) = match service {
        Service::GitHub => (
            403,
            Some(json!({ "message": "You have exceeded a secondary rate limit." })),
        ),
        Service::Jules | Service::Agent => (429, None),
    };
    FaultKind::Status {
        code,
        retry_after_secs: Some(5),
        body,
    }
}
