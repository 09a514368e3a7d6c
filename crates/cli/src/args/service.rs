//! What `gaffer up --service` prints.

use clap::ValueEnum;

/// What this platform has.
pub(crate) const USUAL: &str = if cfg!(target_os = "macos") {
    "launchd"
} else {
    "systemd"
};

/// Who keeps services running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServiceKind {
    /// A unit for `systemctl --user`.
    Systemd,
    /// A property list for `launchctl`.
    Launchd,
}
