//! `gaffer account remove`: only an account that nothing uses any more, and its key with it.

use anyhow::Result;
use domain::ids::AccountName;
use engine::desk::{Desk, decide_again};
use engine::keys;
use engine::ports::SecretName;
use serde_json::json;

use crate::error::Error;
use crate::render::Answer;
use crate::site::Keeping;

/// Removes an account, then its key. Sessions at Jules stay unchanged.
pub(super) async fn run(name: &AccountName, data: &Keeping) -> Result<Answer> {
    let desk = &data.desk;
    decide_again(format!("account `{name}`"), async || {
        let Some(found) = desk.store.account(name).await? else {
            return Err(Error::no_such("account", name, "").into());
        };
        refuse_used(name, desk).await?;
        let mut unit = desk.unit();
        unit.delete(keys::account(name), &found);
        let slots = desk.store.slots(name).await?;
        if slots.version > 0 {
            unit.delete(keys::slots(name), &slots);
        }
        if !desk.try_commit(unit).await? {
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
async fn refuse_used(name: &AccountName, desk: &Desk) -> Result<()> {
    for source in desk.store.sources().await? {
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
    let mut jobs = desk.store.queued(name).await?;
    jobs.extend(desk.store.watched(name).await?);
    let Some(job) = jobs.first() else {
        return Ok(());
    };
    let id = &job.value.id;
    let next = format!("wait for its end, or call it off with `gaffer job cancel {id}`");
    Err(Error::refused("in_use", format!("job {id} still runs on it"), next).into())
}
