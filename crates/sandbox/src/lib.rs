//! A small Jules and a small GitHub as stateful HTTP servers on one real socket, for the demo and the tests.
//! What they answer comes from their state, and their own counters are the witnesses of what really happened.

mod options;
mod parts;
mod scenario;
mod server;

mod advance;
mod control;
mod gate;
mod wire;

pub mod agent;
pub mod clock;
pub mod counters;
pub mod faults;
pub mod github;
pub mod jules;
pub mod story;
pub mod webhook;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::path::PathBuf;

pub use clock::{Clock, ManualClock};
pub use counters::{Counters, Logged};
pub use faults::{Fault, FaultKind, Faults, Lags, Service, Times};
pub use options::{Drive, Options};
pub use scenario::{
    Author, DEFAULT_KEY, DEFAULT_REPO, Foreign, ForeignPull, ForeignSession, NAMED, Named, Scenario,
};
pub use server::Sandbox;
pub use webhook::{WebhookFaults, WebhookTarget};

/// Why a sandbox does not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The socket cannot be bound.
    #[error("cannot listen on {listen}: choose another address, or port 0 for a free one")]
    Bind {
        /// The address that was asked for.
        listen: SocketAddr,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The scenario's file cannot be read.
    #[error("cannot read the scenario {path}: check that the file is there", path = path.display())]
    ScenarioFile {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A repository with files cannot be made: git is not there, or refuses.
    #[error("cannot make the repository {repo}: {problem}")]
    Git {
        /// The repository.
        repo: String,
        /// What git said, or why it does not run.
        problem: String,
    },
    /// Something in a scenario cannot be played.
    #[error("cannot play the scenario: {field}: {problem}")]
    Scenario {
        /// The field, as a path.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
}
