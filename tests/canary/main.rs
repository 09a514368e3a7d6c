//! A distinct secret in every credential, and no trace of it anywhere else. A process of its own, since its log is
//! global.
#![expect(
    clippy::expect_used,
    reason = "a story that cannot be told is a failed test"
)]

mod app;
mod scanner;
mod sinks;
mod stories;
