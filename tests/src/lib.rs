//! Test support: a hand-moved clock, and a whole Gaffer around the sandbox on it.
#![expect(
    clippy::expect_used,
    reason = "a world that cannot be set up or read is a failed test"
)]

pub mod clock;
pub mod world;
