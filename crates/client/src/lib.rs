//! What travels over Gaffer's HTTP door, and a typed client of that door.
//!
//! Nothing here knows the engine: [`wire`] is what other programs may rely on.

pub mod wire;

mod error;

mod client;

pub use client::{Answer, CALL_TIMEOUT, Client};
pub use error::Error;
