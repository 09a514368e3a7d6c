//! Where a wake may go: an address that the internet reaches, or a host that the configuration names.
//!
//! Names are resolved here, every address is checked, and the connection is made to just these, so no second lookup can answer differently.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

mod address;
mod rule;

use address::Reach;
pub use rule::{HostRule, InvalidHostRule};

/// The port of HTTPS, the only one open to hosts that no rule names.
const HTTPS_PORT: u16 = 443;

/// Why nothing is sent there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// Not HTTPS.
    #[error("`{0}` is not https; use https, or allow the host in the configuration if it is yours")]
    Scheme(String),
    /// A name or password in the address.
    #[error("the address holds a user name or a password; take it out, wakes are signed instead")]
    UserInfo,
    /// No host.
    #[error("the address has no host")]
    NoHost,
    /// A port that is not that of HTTPS.
    #[error("port {0} is not 443; allow `HOST:{0}` in the configuration if it is yours")]
    Port(u16),
    /// An address that must not be reached.
    #[error(
        "{address} is {what}; allow the host in the configuration if it is a private one of yours"
    )]
    Address {
        /// The address.
        address: IpAddr,
        /// Its kind.
        what: &'static str,
    },
    /// The name has no address.
    #[error("the name has no address; check its spelling")]
    NoAddress,
}

/// How far a destination was trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressPolicy {
    /// No rule allows it: public addresses only.
    Stranger,
    /// A rule names it: private addresses too.
    Allowed,
}

/// Checks the URL itself, literal addresses included: those never reach a resolver.
pub(crate) fn check(url: &Url, rules: &[HostRule]) -> Result<AddressPolicy, Refusal> {
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Refusal::UserInfo);
    }
    let host = url.host().ok_or(Refusal::NoHost)?;
    let port = url
        .port_or_known_default()
        .ok_or_else(|| Refusal::Scheme(url.scheme().to_owned()))?;
    let allowed = rules.iter().any(|rule| rule.names(&host, port));
    let trust = if allowed {
        AddressPolicy::Allowed
    } else {
        AddressPolicy::Stranger
    };
    check_scheme_and_port(url.scheme(), port, trust)?;
    match host {
        Host::Domain(_) => {}
        Host::Ipv4(address) => check_address(address.into(), trust)?,
        Host::Ipv6(address) => check_address(address.into(), trust)?,
    }
    Ok(trust)
}

fn check_scheme_and_port(scheme: &str, port: u16, trust: AddressPolicy) -> Result<(), Refusal> {
    match (scheme, trust) {
        ("http" | "https", AddressPolicy::Allowed) => Ok(()),
        ("https", AddressPolicy::Stranger) if port == HTTPS_PORT => Ok(()),
        ("https", AddressPolicy::Stranger) => Err(Refusal::Port(port)),
        (other, AddressPolicy::Stranger | AddressPolicy::Allowed) => {
            Err(Refusal::Scheme(other.to_owned()))
        }
    }
}

fn check_address(address: IpAddr, trust: AddressPolicy) -> Result<(), Refusal> {
    match (address::reach(address), trust) {
        (Reach::Public, AddressPolicy::Stranger | AddressPolicy::Allowed)
        | (Reach::Private(_), AddressPolicy::Allowed) => Ok(()),
        (Reach::Private(what), AddressPolicy::Stranger)
        | (Reach::Never(what), AddressPolicy::Stranger | AddressPolicy::Allowed) => {
            Err(Refusal::Address { address, what })
        }
    }
}

/// Turns a name into addresses. The system's resolver outside tests.
#[async_trait]
pub(crate) trait Lookup: Send + Sync {
    /// All addresses of a host name.
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The resolver of the system.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemLookup;

#[async_trait]
impl Lookup for SystemLookup {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        // The port is not part of the question.
        let found = tokio::net::lookup_host((host, 0)).await?;
        Ok(found.map(|address| address.ip()).collect())
    }
}

/// The only resolver that our HTTP clients have.
pub(crate) struct CheckedResolver {
    pub(crate) lookup: Arc<dyn Lookup>,
    pub(crate) trust: AddressPolicy,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (lookup, trust) = (Arc::clone(&self.lookup), self.trust);
        Box::pin(async move {
            let addresses = lookup.addresses(name.as_str()).await?;
            check_all(&addresses, trust)?;
            // Port 0 means the port of the URL.
            let addresses = addresses
                .into_iter()
                .map(|address| SocketAddr::new(address, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}

/// One bad address refuses the name: a mixed answer is suspicious, and which address is used is chance.
pub(crate) fn check_all(addresses: &[IpAddr], trust: AddressPolicy) -> Result<(), Refusal> {
    if addresses.is_empty() {
        return Err(Refusal::NoAddress);
    }
    addresses
        .iter()
        .try_for_each(|address| check_address(*address, trust))
}

#[cfg(test)]
mod tests;
