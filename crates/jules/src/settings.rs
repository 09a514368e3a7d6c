//! Where Jules is and how it is asked.

use std::fmt;

use domain::effect::CALL_TIMEOUT;
use jiff::SignedDuration;
use url::{Host, Url};

use crate::error::Error;

/// Google's own address of the API.
pub const BASE: &str = "https://jules.googleapis.com/v1alpha";

/// How many decompressed bytes of one answer are read: a list page of 20 sessions with patches of 0.8 MB, the heaviest seen.
pub const BODY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How the client talks to Jules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The address below which all methods are, without a slash at the end.
    pub base: Url,
    /// Whether session lists are asked for with a field mask; the service's answer to one is unknown, so it is off by default.
    pub field_mask: bool,
    /// How long one call may take from connecting to the last byte.
    pub call_timeout: SignedDuration,
    /// How many decompressed bytes of one answer are read at most.
    pub body_bytes_max: usize,
}

/// A warning about a usable base address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warning {
    /// The base ended in `/v1`, which does not exist, and is read as `/v1alpha`.
    ReadAsV1Alpha,
    /// The base is plain HTTP to another machine: the key travels in the open.
    PlainHttp,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadAsV1Alpha => {
                "the Jules base ends in `/v1`, which does not exist; it is read as `/v1alpha`"
            }
            Self::PlainHttp => {
                "the Jules base is plain HTTP to another machine: the key travels in the open"
            }
        })
    }
}

impl Default for Settings {
    #[expect(clippy::expect_used, reason = "BASE is a constant and a test reads it")]
    fn default() -> Self {
        Self::new(BASE.parse().expect("BASE is an address"))
    }
}

impl Settings {
    /// Settings for a base address from a person, and warnings for that person.
    ///
    /// # Errors
    /// [`Error::Base`] unless it is an `http` or `https` address without user name, query and fragment.
    pub fn at(base: &str) -> Result<(Self, Vec<Warning>), Error> {
        let refuse = |why| Error::Base {
            base: base.rsplit('@').next().unwrap_or_default().to_owned(),
            why,
        };
        let mut url: Url = base
            .trim()
            .parse()
            .map_err(|_| refuse("it is not an address"))?;
        check(&url)?;
        let mut warnings = Vec::new();
        let path = url.path().trim_end_matches('/').to_owned();
        match path.strip_suffix("/v1") {
            Some(front) => {
                url.set_path(&format!("{front}/v1alpha"));
                warnings.push(Warning::ReadAsV1Alpha);
            }
            None => url.set_path(&path),
        }
        if url.scheme() == "http" && !is_here(&url) {
            warnings.push(Warning::PlainHttp);
        }
        Ok((Self::new(url), warnings))
    }

    fn new(base: Url) -> Self {
        Self {
            base,
            field_mask: false,
            call_timeout: CALL_TIMEOUT,
            body_bytes_max: BODY_BYTES_MAX,
        }
    }
}

/// Refuses an address that could carry a secret or that paths cannot be joined to.
pub(crate) fn check(base: &Url) -> Result<(), Error> {
    let why = if !matches!(base.scheme(), "http" | "https") {
        "it must begin with https:// or http://"
    } else if !base.username().is_empty() || base.password().is_some() {
        "it must not hold a user name or password"
    } else if base.query().is_some() || base.fragment().is_some() {
        "it must not hold a query or fragment"
    } else {
        return Ok(());
    };
    let host = base.host_str().unwrap_or_default();
    Err(Error::Base {
        base: format!("{}://{host}", base.scheme()),
        why,
    })
}

/// Whether an address is on this machine.
pub(crate) fn is_here(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_googles() {
        let settings = Settings::default();
        assert_eq!(settings.base.as_str(), BASE);
        assert_eq!(Settings::at(BASE).unwrap(), (settings, Vec::new()));
    }

    #[test]
    fn v1_is_read_as_v1alpha_with_a_warning() {
        for written in [
            "https://jules.googleapis.com/v1",
            "https://jules.googleapis.com/v1/",
        ] {
            let (settings, warnings) = Settings::at(written).unwrap();
            assert_eq!(settings.base.as_str(), BASE);
            assert_eq!(warnings, [Warning::ReadAsV1Alpha]);
        }
        let (settings, warnings) = Settings::at("http://127.0.0.1:4/jules/v1").unwrap();
        assert_eq!(settings.base.path(), "/jules/v1alpha");
        assert_eq!(warnings, [Warning::ReadAsV1Alpha]);
    }

    #[test]
    fn other_paths_are_kept_and_plain_http_elsewhere_is_told() {
        let (settings, warnings) = Settings::at("http://[::1]:8/jules/v1alpha/").unwrap();
        assert_eq!(settings.base.path(), "/jules/v1alpha");
        assert_eq!(warnings, []);
        let (_, warnings) = Settings::at("http://sandbox:8/v1alpha").unwrap();
        assert_eq!(warnings, [Warning::PlainHttp]);
        assert!(warnings[0].to_string().contains("plain HTTP"));
    }

    #[test]
    fn addresses_that_could_leak_or_cannot_work_are_refused() {
        for written in [
            "",
            "jules",
            "ftp://host/v1alpha",
            "mailto:a@b",
            "https://u:hunter2@host/v1alpha",
            "https://host/v1alpha?key=hunter2",
            "https://host/v1alpha#hunter2",
        ] {
            let error = Settings::at(written).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
