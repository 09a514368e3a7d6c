//! Checks whether an agent is reachable: the same filter and the same resolver as a wake, one TCP connection, and no byte sent.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::doctor::Reachability;
use engine::ports::AgentsProbe;
use tokio::net::TcpStream;
use url::{Host, Url};

use crate::destination::{self, AddressPolicy, HostRule, Lookup, SystemLookup, check_all};

/// Time for the lookup, and again for the connection: a receiver that needs longer would miss wakes too.
const STEP_TIMEOUT: Duration = Duration::from_secs(5);

/// Checks whether agents are reachable. It holds no secret and signs nothing.
pub struct Probe {
    rules: Vec<HostRule>,
    lookup: Arc<dyn Lookup>,
}

impl Probe {
    /// A probe that resolves names as the system does.
    pub fn new(rules: Vec<HostRule>) -> Self {
        Self {
            rules,
            lookup: Arc::new(SystemLookup),
        }
    }

    async fn addresses(
        &self,
        url: &Url,
        trust: AddressPolicy,
    ) -> Result<Vec<SocketAddr>, Reachability> {
        let unreachable = |why: String| Reachability::Unreachable { why };
        let port = url.port_or_known_default().unwrap_or_default();
        let found = match url.host() {
            None => Vec::new(),
            Some(Host::Ipv4(address)) => vec![address.into()],
            Some(Host::Ipv6(address)) => vec![address.into()],
            Some(Host::Domain(name)) => {
                match tokio::time::timeout(STEP_TIMEOUT, self.lookup.addresses(name)).await {
                    Ok(Ok(found)) => found,
                    Ok(Err(error)) => return Err(unreachable(error.to_string())),
                    Err(_) => return Err(unreachable("its name was not found in time".to_owned())),
                }
            }
        };
        check_all(&found, trust).map_err(|refusal| Reachability::Refused {
            why: refusal.to_string(),
        })?;
        Ok(found
            .into_iter()
            .map(|address| SocketAddr::new(address, port))
            .collect())
    }
}

#[async_trait]
impl AgentsProbe for Probe {
    async fn reach(&self, url: &Url) -> Reachability {
        let trust = match destination::check(url, &self.rules) {
            Ok(trust) => trust,
            Err(refusal) => {
                return Reachability::Refused {
                    why: refusal.to_string(),
                };
            }
        };
        let addresses = match self.addresses(url, trust).await {
            Ok(addresses) => addresses,
            Err(reach) => return reach,
        };
        // Connected and closed: a receiver sees a connection that asked nothing.
        match tokio::time::timeout(STEP_TIMEOUT, TcpStream::connect(addresses.as_slice())).await {
            Ok(Ok(_)) => Reachability::Open,
            Ok(Err(error)) => Reachability::Unreachable {
                why: error.to_string(),
            },
            Err(_) => Reachability::Unreachable {
                why: format!("no connection within {} s", STEP_TIMEOUT.as_secs()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn reach(url: &str, rules: &[&str]) -> Reachability {
        let rules = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        Probe::new(rules).reach(&url.parse().unwrap()).await
    }

    #[tokio::test]
    async fn what_the_filter_refuses_is_not_even_connected_to() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let url = format!("http://{address}/wake");
        assert!(matches!(
            reach(&url, &[]).await,
            Reachability::Refused { .. }
        ));
        // An allowed one connects: only this connection is waiting then.
        assert_eq!(
            reach(&url, &[&address.to_string()]).await,
            Reachability::Open
        );
        let (socket, _) = listener.accept().await.unwrap();
        socket.readable().await.unwrap();
        let mut byte = [0];
        assert_eq!(
            socket.try_read(&mut byte).unwrap(),
            0,
            "not a byte was sent"
        );
        let second = tokio::time::timeout(Duration::from_millis(20), listener.accept()).await;
        assert!(second.is_err(), "a refused address was connected to");
    }

    #[tokio::test]
    async fn nobody_listening_is_told() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let reached = reach(&format!("http://{address}/"), &[&address.to_string()]).await;
        assert!(
            matches!(reached, Reachability::Unreachable { .. }),
            "{reached:?}"
        );
    }
}
