//! GitHub's webhooks: the raw bytes are verified first, then the payload's shape decides what to read again.
//!
//! Nothing here waits or makes calls, and nothing reads GitHub's event or delivery headers: they are not signed.

mod classify;
mod shape;
mod verify;
mod wakeup;

pub use classify::{Classified, WAKEUPS_MAX, classify};
pub use verify::{Rejected, SIGNATURE_HEADER, is_signature, live_secrets, verify};
pub use wakeup::{WAKEUP_BYTES_MAX, Wakeup, WebhookKind};
