//! Shared parts of the functions: settings from the environment, the backend over AWS, logs, figures, and the remaining
//! time of an invocation.

mod aws_environment;
mod environment;
#[cfg(feature = "http")]
mod http_trace;
mod logs;
mod metrics;
mod settings;
mod time;
mod tls;

pub use environment::{FunctionEnvironment, OpenError};
#[cfg(feature = "http")]
pub use http_trace::traced;
pub use logs::log_as_json;
pub use metrics::{Metric, NAMESPACE, Unit, emit};
pub use settings::{QueueAddress, Settings, SettingsError};
pub use time::{until, used};
pub use tls::trust_ring;
