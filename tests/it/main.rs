//! Integration tests over the whole of Gaffer.
#![expect(
    clippy::expect_used,
    reason = "a story that cannot be told is a failed test"
)]

mod attempts;
mod contract;
mod counts;
mod faults;
mod infra;
mod invariants;
mod misconfigured;
mod operations;
mod outsiders;
mod pollers;
mod races;
mod recovery;
mod security;
mod stories;
mod ticks;
mod tidy;
mod webhooks;
