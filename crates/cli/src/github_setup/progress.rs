//! How far the making of an App has come: read, recorded, and finished together with what `gaffer up` uses.

use anyhow::{Context, Result};
use engine::backend::Backend;
use engine::settings::{AppSetup, MadeApp, Upstreams};
use engine::store::Versioned;

/// How far it has come; none before the first run.
pub(super) async fn read(backend: &Backend) -> Result<Option<Versioned<AppSetup>>> {
    let found = backend.store.app_setup().await;
    found.context("reading how far the App's setup has come")
}

/// Records a step. Of two setups at once the later one fails here, by the version.
pub(super) async fn save(backend: &Backend, found: Option<u64>, next: &AppSetup) -> Result<()> {
    let mut unit = backend.unit();
    unit.save(&(), next, found);
    backend
        .commit(unit)
        .await
        .context("recording how far the App's setup has come")
}

/// Records an App that is not used yet.
pub(super) async fn made(backend: &Backend, made: &MadeApp) -> Result<()> {
    let found = read(backend).await?.map(|found| found.version);
    save(backend, found, &AppSetup::Made(made.clone())).await
}

/// Records that the key is stored, then has `gaffer up` use the App.
pub(super) async fn finish(backend: &Backend, made: &MadeApp) -> Result<()> {
    crate::upstreams::remember(backend, |known| Upstreams {
        github_app_id: Some(made.id),
        ..known.clone()
    })
    .await?;
    let found = read(backend).await?.map(|found| found.version);
    save(backend, found, &AppSetup::Stored(made.clone())).await
}
