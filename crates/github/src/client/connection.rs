//! The HTTP client for GitHub, made at the first call: reading the machine's root certificates takes longer than a
//! function's start may take.

use std::sync::OnceLock;

use octocrab::Octocrab;

use super::address::Base;

/// The way to one GitHub.
#[derive(Debug, Clone)]
pub(crate) struct Connection {
    origin: String,
    opened: OnceLock<Octocrab>,
}

impl Connection {
    /// The way to the GitHub at an address. Octocrab gets the origin only: it joins a base path wrongly when a request's
    /// path begins like it. Addresses are complete when they are handed over, and so are their credentials.
    pub(crate) fn to(base: &Base) -> Self {
        Self {
            origin: base.origin().to_owned(),
            opened: OnceLock::new(),
        }
    }

    /// Opens the client, within a tokio runtime, since octocrab starts a task. The error says why there is none, for
    /// example because the machine has no root certificates.
    pub(crate) fn open(&self) -> Result<&Octocrab, String> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let made = Octocrab::builder()
            .base_uri(self.origin.as_str())
            .and_then(|builder| builder.build());
        let made = made.map_err(|error| {
            format!(
                "no client could be made ({error}); check that the machine has root certificates"
            )
        })?;
        Ok(self.opened.get_or_init(|| made))
    }
}
