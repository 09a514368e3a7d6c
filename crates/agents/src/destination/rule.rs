//! Hosts that the configuration vouches for.

use std::fmt;
use std::str::FromStr;

use url::{Host, Url};

/// One host that may be woken although it is private, speaks plain HTTP or listens on another port: `localhost`,
/// `127.0.0.1:9999`, `[::1]:8080`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRule {
    host: Host<String>,
    /// `None` means every port.
    port: Option<u16>,
}

/// Why a text is not a host rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not name a host; write `HOST` or `HOST:PORT`, for example `127.0.0.1:9999`")]
pub struct InvalidHostRule(pub String);

impl HostRule {
    pub(super) fn names(&self, host: &Host<&str>, port: u16) -> bool {
        same_host(&self.host, host) && self.port.is_none_or(|only| only == port)
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => write!(f, "{}", self.host),
        }
    }
}

fn same_host(rule: &Host<String>, host: &Host<&str>) -> bool {
    match (rule, host) {
        // The address standard leaves the final dot of a name in place.
        (Host::Domain(rule), Host::Domain(host)) => {
            rule.trim_end_matches('.') == host.trim_end_matches('.')
        }
        (Host::Ipv4(rule), Host::Ipv4(host)) => rule == host,
        (Host::Ipv6(rule), Host::Ipv6(host)) => rule == host,
        (Host::Domain(_) | Host::Ipv4(_) | Host::Ipv6(_), _) => false,
    }
}

impl FromStr for HostRule {
    type Err = InvalidHostRule;

    /// Reads the rule as an address is read, so that every spelling of a host means the same in both.
    fn from_str(text: &str) -> Result<Self, InvalidHostRule> {
        let invalid = || InvalidHostRule(text.chars().take(80).collect());
        if text.contains(['/', '\\', '@', '?', '#', '*']) || text.contains(char::is_whitespace) {
            return Err(invalid());
        }
        let as_http = Url::parse(&format!("http://{text}")).map_err(|_| invalid())?;
        let as_https = Url::parse(&format!("https://{text}")).map_err(|_| invalid())?;
        let host = as_http.host().ok_or_else(invalid)?.to_owned();
        // Each of the two leaves out its own usual port.
        Ok(Self {
            host,
            port: as_http.port().or(as_https.port()),
        })
    }
}
