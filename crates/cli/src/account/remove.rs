//! `gaffer account remove`: only an account that nothing uses any more, and its key with it.

use anyhow::Result;
use domain::ids::AccountName;
use engine::backend::{Backend, decide_again};
use engine::keys;
use engine::ports::SecretName;
use serde_json::json;

use crate::error::Error;
use crate::render::Answer;
use crate::site::StoreAccess;

/// Removes an account, then its key. Sessions at Jules stay unchanged.
pub(super) async fn run(name: &AccountName, data: &StoreAccess) -> Result<Answer> {
    let backend = &data.backend;
    decide_again(format!("account `{name}`"), async || {
        let Some(found) = backend.store.account(name).await? else {
            return Err(Error::no_such("account", name, "").into());
        };
        refuse_used(name, backend).await?;
        let mut unit = backend.unit();
        unit.delete(keys::account(name), &found);
        let slots = backend.store.slots(name).await?;
        if slots.version > 0 {
            unit.delete(keys::slots(name), &slots);
        }
        if !backend.try_commit(unit).await? {
            return Ok(None);
        }
        data.secrets
            .remove(&SecretName::Jules(name.clone()))
            .await?;
        Ok(Some(
            Answer::new(json!({ "account": name, "removed": true }))
                .line(format!("Account `{name}` and its key are removed.")),
        ))
    })
    .await
}

/// Refuses to remove an account in use: its sources and jobs would wait for ever.
async fn refuse_used(name: &AccountName, backend: &Backend) -> Result<()> {
    for source in backend.store.sources().await? {
        if source.value.account == *name {
            let repo = source.value.repo;
            let next = format!(
                "give it another with `gaffer source set {repo} --account NAME`, or remove it with `gaffer source remove {repo}`"
            );
            return Err(
                Error::refused("in_use", format!("source {repo} works with it"), next).into(),
            );
        }
    }
    let mut jobs = backend.store.queued(name).await?;
    jobs.extend(backend.store.watched(name).await?);
    let Some(job) = jobs.first() else {
        return Ok(());
    };
    let id = &job.value.id;
    let next = format!("wait for its end, or call it off with `gaffer job cancel {id}`");
    Err(Error::refused("in_use", format!("job {id} still runs on it"), next).into())
}
