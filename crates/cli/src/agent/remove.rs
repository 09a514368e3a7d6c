//! `gaffer agent remove`: only an agent that nothing names, and its wakes end with it.

use anyhow::Result;
use domain::ids::AgentName;
use domain::wake::Wake;
use engine::backend::{Backend, decide_again};
use engine::keys;
use engine::ports::{COMMIT_ITEMS_MAX, SecretName};
use engine::store::Versioned;
use serde_json::json;

use super::must_find;
use crate::error::Error;
use crate::render::Answer;
use crate::site::StoreAccess;

/// Removes an agent, then its secret.
pub(super) async fn run(name: &AgentName, data: &StoreAccess) -> Result<Answer> {
    refuse_named(name, &data.backend).await?;
    decide_again(format!("agent `{name}`"), async || {
        let found = must_find(&data.backend, name).await?;
        end_wakes(name, &data.backend).await?;
        let mut unit = data.backend.unit();
        unit.delete(keys::agent(name), &found);
        if !data.backend.try_commit(unit).await? {
            return Ok(None);
        }
        data.secrets
            .remove(&SecretName::Agent(name.clone()))
            .await?;
        Ok(Some(
            Answer::new(json!({ "agent": name, "removed": true }))
                .line(format!("Agent `{name}` and its secret are removed.")),
        ))
    })
    .await
}

/// Refuses to remove an agent that sources or jobs still name: their events would silently wake no one.
async fn refuse_named(name: &AgentName, backend: &Backend) -> Result<()> {
    for source in backend.store.sources().await? {
        if source.value.agent.as_ref() == Some(name) {
            let repo = source.value.repo;
            let next = format!(
                "give it another with `gaffer source set {repo} --agent NAME`, or none with `--no-agent`"
            );
            return Err(Error::refused("in_use", format!("source {repo} wakes it"), next).into());
        }
    }
    Ok(())
}

/// Wakes that are not over would come due for ever.
async fn end_wakes(name: &AgentName, backend: &Backend) -> Result<()> {
    let open: Vec<Versioned<Wake>> = backend
        .store
        .wakes(name)
        .await?
        .into_iter()
        .filter(|wake| !wake.value.is_settled())
        .collect();
    for wakes in open.chunks(COMMIT_ITEMS_MAX) {
        let mut unit = backend.unit();
        for found in wakes {
            let over = found.value.given_up("its agent was removed", backend.now());
            unit.put_wake(found, &over);
        }
        backend.commit(unit).await?;
    }
    Ok(())
}
