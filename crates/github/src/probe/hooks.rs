//! Webhooks: the repository's own and the App's, with what their newest deliveries were answered.

use domain::doctor::Hook;
use domain::facts::Fact;
use domain::failure::Failure;
use domain::ids::RepoName;

use super::{Probe, fact, wire};
use crate::client::Listing;

/// 100 webhooks; GitHub allows twenty for each event.
const HOOK_PAGES_MAX: usize = 1;

/// How many of the newest deliveries are read.
const DELIVERIES: usize = 10;

pub(super) const HOOKS_READ: &str = "Webhooks: read";

/// The webhooks of a repository.
pub(super) async fn of_repository(probe: &Probe, repo: &RepoName) -> Fact<Vec<Hook>> {
    let doing = format!("listing the webhooks of {repo}");
    let listing = Listing {
        repo,
        path: &format!("/repos/{repo}/hooks"),
        pages_max: HOOK_PAGES_MAX,
        doing: &doing,
    };
    let found = match probe.client.list::<Vec<wire::Hook>>(&listing).await {
        Ok(found) => found,
        Err(failure) => return fact(Err(failure), HOOKS_READ, true),
    };
    let mut hooks = Vec::new();
    for hook in found {
        let path = format!(
            "/repos/{repo}/hooks/{}/deliveries?per_page={DELIVERIES}",
            hook.id
        );
        let read: Result<Vec<wire::Delivery>, Failure> =
            probe.client.get(repo, &path, &doing).await;
        hooks.push(Hook {
            url: hook.config.url,
            active: hook.active,
            json: hook.config.content_type == "json",
            events: hook.events,
            answers: fact(read.map(answers), HOOKS_READ, true),
        });
    }
    Fact::Known(hooks)
}

/// The App's own webhook.
pub(super) async fn of_app(probe: &Probe) -> Result<Option<Hook>, Failure> {
    let doing = "reading the App's webhook";
    let config = probe.client.look("/app/hook/config", doing).await?;
    let config: wire::HookConfig = probe.read(&config, doing)?;
    if config.url.is_empty() {
        return Ok(None);
    }
    let app = probe.client.look("/app", doing).await?;
    let app: wire::App = probe.read(&app, doing)?;
    let path = format!("/app/hook/deliveries?per_page={DELIVERIES}");
    let read = match probe.client.look(&path, doing).await {
        Ok(received) => probe.read::<Vec<wire::Delivery>>(&received, doing),
        Err(failure) => Err(failure),
    };
    Ok(Some(Hook {
        url: config.url,
        active: true,
        json: config.content_type == "json",
        events: app.events,
        answers: fact(read.map(answers), HOOKS_READ, true),
    }))
}

fn answers(deliveries: Vec<wire::Delivery>) -> Vec<Option<u16>> {
    deliveries
        .into_iter()
        .take(DELIVERIES)
        .map(|delivery| delivery.status_code.filter(|status| *status > 0))
        .collect()
}
