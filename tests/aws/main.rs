//! Tests that need the services of AWS, real or emulated: `cargo xtask test` starts an emulator for them and says in `AWS_ENDPOINT_URL` where it is.

mod chaos;
mod contract;
mod moving;
mod secrets;
mod stack;
mod usage;
