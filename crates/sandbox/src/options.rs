//! How a sandbox is started.

use std::net::{Ipv4Addr, SocketAddr};

use crate::clock::{Clock, ManualClock, system};
use crate::scenario::Scenario;
use crate::webhook::WebhookTarget;

/// How a sandbox is started.
#[derive(Clone)]
pub struct Options {
    /// The socket to bind; port 0 takes a free one.
    pub listen: SocketAddr,
    /// What time it is.
    pub clock: Clock,
    /// Who makes things happen when no request comes.
    pub drive: Drive,
    /// Where GitHub's webhooks go; can be set later with [`crate::Sandbox::set_webhook`].
    pub webhook: Option<WebhookTarget>,
    /// The scenario.
    pub scenario: Scenario,
}

/// Who makes things happen when no request comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drive {
    /// A background task, every twenty milliseconds.
    RealTime,
    /// The test, with [`crate::Sandbox::advance`] and [`crate::Sandbox::deliver_webhooks`].
    Manual,
}

impl Options {
    /// On a free port, with a hand-moved clock and nothing in the background.
    #[must_use]
    pub fn manual(clock: &ManualClock, scenario: Scenario) -> Self {
        let clock = clock.clock();
        Self {
            listen: any_port(),
            clock,
            drive: Drive::Manual,
            webhook: None,
            scenario,
        }
    }

    /// On a free port, in real time.
    #[must_use]
    pub fn real_time(scenario: Scenario) -> Self {
        let clock = system();
        Self {
            listen: any_port(),
            clock,
            drive: Drive::RealTime,
            webhook: None,
            scenario,
        }
    }
}

fn any_port() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}
