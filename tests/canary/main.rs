//! A secret of its own in every credential, and nothing of it anywhere else. A process of its own, since its log is everybody's.
#![expect(
    clippy::expect_used,
    reason = "a story that cannot be told is a failed test"
)]

mod app;
mod scanner;
mod sinks;
mod stories;
