//! Shared parts of the functions: settings from the environment, the desk over AWS, logs, figures, and the remaining
//! time of an invocation.

#[cfg(feature = "door")]
mod door;
mod figures;
mod logs;
mod place;
mod settings;
mod surroundings;
mod time;
mod tls;

#[cfg(feature = "door")]
pub use door::traced;
pub use figures::{Figure, NAMESPACE, Unit, emit};
pub use logs::log_as_json;
pub use place::{OpenError, Place};
pub use settings::{QueueAddress, Settings, SettingsError};
pub use time::{until, used};
pub use tls::trust_ring;
