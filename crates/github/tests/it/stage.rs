//! GitHub's sandbox under a clock that tests turn, and the adapter over it.

use std::sync::Arc;

use engine::ports::Clock;
use github::{Client, Reader, Settings, Writer};
use jiff::{SignedDuration, Timestamp};
use sandbox::{ManualClock, Options, Sandbox, Scenario};

use crate::server::Backend;

/// The sandbox's clock as the adapter's.
struct Shared(ManualClock);

impl Clock for Shared {
    fn now(&self) -> Timestamp {
        self.0.now()
    }
}

pub(crate) struct SandboxStage {
    pub(crate) sandbox: Sandbox,
    pub(crate) clock: ManualClock,
}

impl SandboxStage {
    pub(crate) async fn new(scenario: Scenario) -> Self {
        let clock = ManualClock::new(crate::server::now());
        let options = Options::manual(&clock, scenario);
        let sandbox = Sandbox::start(options).await.unwrap();
        Self { sandbox, clock }
    }

    pub(crate) fn client(&self, secret: &str, app_id: Option<u64>) -> Client {
        let settings = Settings::new(Some(&self.sandbox.github_base()), app_id).unwrap();
        let clock = Arc::new(Shared(self.clock.clone()));
        Client::new(&settings, Arc::new(Backend::new(secret)), clock).unwrap()
    }

    pub(crate) fn adapters(&self, secret: &str, app_id: Option<u64>) -> (Reader, Writer) {
        let client = self.client(secret, app_id);
        (Reader::new(client.clone()), Writer::new(client))
    }

    pub(crate) fn pass(&self, seconds: i64) {
        self.clock.advance(SignedDuration::from_secs(seconds));
        self.sandbox.advance();
    }
}
