//! Tests that need the services of AWS, real or emulated: `cargo xtask test` starts an emulator for them and sets
//! `AWS_ENDPOINT_URL` to its address.
#![expect(clippy::expect_used, reason = "what cannot be set up is a failed test")]

mod chaos;
mod contract;
mod homes;
mod moving;
mod permissions;
mod secrets;
mod stack;
mod trace;
mod usage;
