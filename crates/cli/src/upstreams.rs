//! Addresses of Jules and GitHub and our identity on GitHub: from the command line, then stored, then the defaults. And what `gaffer up`
//! notes down for other commands.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use agents::HostRule;
use anyhow::{Context, Result};
use engine::backend::Backend;
use engine::ports::SecretName;
use engine::settings::Upstreams;
use engine::store::Versioned;
use url::Url;

/// What the note about the API begins with, as no host that is allowed does.
const API: &str = "http://";

/// The settings of this run. `typed` is the command line and the environment; a token in the environment takes
/// precedence over a stored App.
pub(crate) async fn in_force(
    backend: &Backend,
    typed: Upstreams,
    overlaid: impl Fn(&SecretName) -> bool,
) -> Result<Upstreams> {
    let stored = remembered(backend).await?.value;
    Ok(joined(stored, typed, overlaid(&SecretName::GitHub)))
}

/// Command line first, then the stored settings. `overlaid`: the environment holds a credential for GitHub.
pub(crate) fn joined(stored: Upstreams, typed: Upstreams, overlaid: bool) -> Upstreams {
    let app = stored.github_app_id.filter(|_| !overlaid);
    Upstreams {
        jules_base: typed.jules_base.or(stored.jules_base),
        github_base: typed.github_base.or(stored.github_base),
        github_app_id: typed.github_app_id.or(app),
    }
}

/// The stored settings, with their version.
pub(crate) async fn remembered(backend: &Backend) -> Result<Versioned<Upstreams>> {
    let found = backend.store.upstreams().await;
    found.context("reading where Jules and GitHub are")
}

/// Changes the stored settings; returns the new ones.
pub(crate) async fn remember(
    backend: &Backend,
    decide: impl Fn(&Upstreams) -> Upstreams,
) -> Result<Upstreams> {
    let changed = backend.update_or_initial(&(), |before| {
        let next = decide(before);
        Ok::<_, engine::backend::Error>((next.clone(), next))
    });
    Ok(changed.await?)
}

/// What `gaffer up` notes down in its data folder: where its API is, and the hosts that it may wake.
pub(crate) fn notes(listens: SocketAddr, allowed: &[HostRule]) -> Vec<String> {
    let api = format!("{API}{}", within_reach(listens));
    let hosts = allowed.iter().map(ToString::to_string);
    std::iter::once(api).chain(hosts).collect()
}

/// An address on this machine: one that stands for all of its addresses cannot be called everywhere.
fn within_reach(listens: SocketAddr) -> SocketAddr {
    let loopback = match listens {
        SocketAddr::V4(_) => IpAddr::from(Ipv4Addr::LOCALHOST),
        SocketAddr::V6(_) => IpAddr::from(Ipv6Addr::LOCALHOST),
    };
    match listens.ip().is_unspecified() {
        true => SocketAddr::new(loopback, listens.port()),
        false => listens,
    }
}

/// Where the process over a data folder serves its API; `None` where there is no such process.
pub(crate) fn api_address(folder: &Path) -> Option<Url> {
    let noted = local::noted(folder)?;
    let address = noted.iter().find(|word| word.starts_with(API))?;
    address.parse().ok()
}

/// Hosts that the process over a data folder was allowed to wake; `None` where there is no such process.
pub(crate) fn allowed_hosts(folder: &Path) -> Option<Vec<HostRule>> {
    let noted = local::noted(folder)?;
    let read = noted.iter().filter_map(|rule| rule.parse().ok());
    Some(read.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(id: Option<u64>) -> Upstreams {
        Upstreams {
            github_app_id: id,
            ..Upstreams::default()
        }
    }

    #[test]
    fn a_process_is_found_by_what_it_noted_down() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(api_address(folder.path()), None);
        let mut lock = local::FolderLock::take(folder.path()).unwrap();
        assert_eq!(api_address(folder.path()), None);
        let allowed: Vec<HostRule> = vec!["localhost:9000".parse().unwrap()];
        for (listens, found) in [
            ("127.0.0.1:4391", "http://127.0.0.1:4391/"),
            ("0.0.0.0:4391", "http://127.0.0.1:4391/"),
            ("[::]:4391", "http://[::1]:4391/"),
            ("192.0.2.7:80", "http://192.0.2.7/"),
        ] {
            lock.note(&notes(listens.parse().unwrap(), &allowed))
                .unwrap();
            let address = api_address(folder.path()).unwrap();
            assert_eq!(address.as_str(), found, "{listens}");
            assert_eq!(allowed_hosts(folder.path()), Some(allowed.clone()));
        }
    }

    #[test]
    fn what_is_typed_goes_first_and_a_token_in_the_environment_before_a_remembered_app() {
        let of = |typed: Option<u64>, overlaid: bool| {
            joined(app(Some(7)), app(typed), overlaid).github_app_id
        };
        assert_eq!(of(None, false), Some(7));
        assert_eq!(of(None, true), None);
        assert_eq!(of(Some(9), false), Some(9));
        assert_eq!(of(Some(9), true), Some(9));
    }
}
