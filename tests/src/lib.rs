//! Test support: a hand-moved clock, a whole Gaffer around the sandbox on it, a store and a queue in memory, and tables and queues of AWS.
#![expect(
    clippy::expect_used,
    reason = "a world that cannot be set up or read is a failed test"
)]

pub mod clock;
pub mod cloud;
pub mod contract;
pub mod grants;
pub mod infra;
pub mod memory;
pub mod reader;
pub mod records;
pub mod world;
