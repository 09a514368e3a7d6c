//! Wakes agents over HTTP, signed after Standard Webhooks 1.0, and connects to nothing inside the network that the configuration does not
//! name.
//!
//! Retries are decided elsewhere: one call is one attempt.

mod sender;

mod answer;
mod destination;
mod probe;
mod signature;

pub use destination::{HostRule, InvalidHostRule};
pub use probe::Probe;
pub use sender::{BODY_BYTES_LIMIT, Desktop, Sender, Settings, TRY_TIMEOUT};
pub use signature::new_secret;

#[cfg(test)]
mod tests;
