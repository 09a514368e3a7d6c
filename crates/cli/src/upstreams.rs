//! Addresses of Jules and GitHub and our identity on GitHub: from the command line, then stored, then the defaults.

use std::path::Path;

use agents::HostRule;
use anyhow::{Context, Result};
use engine::backend::Backend;
use engine::ports::SecretName;
use engine::settings::Upstreams;
use engine::store::Versioned;

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
