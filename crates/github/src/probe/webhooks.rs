//! Webhooks: the repository's own and the App's, with what their newest deliveries were answered.

use domain::doctor::Hook;
use domain::facts::Fact;
use domain::failure::Failure;
use domain::ids::RepoName;

use super::{fact, wire};
use crate::client::{Client, answered};
use crate::hooks;

/// How many of the newest deliveries are read.
const DELIVERIES: usize = 10;

pub(super) const HOOKS_READ: &str = "Webhooks: read";

type Deliveries = Result<Vec<wire::Delivery>, Failure>;

/// The webhooks of a repository.
pub(super) async fn of_repository(client: &Client, repo: &RepoName) -> Fact<Vec<Hook>> {
    let found = match hooks::of_repository(client, repo).await {
        Ok(found) => found,
        Err(failure) => return fact(Err(failure), HOOKS_READ, true),
    };
    let doing = format!("listing the webhooks of {repo}");
    let mut shown = Vec::new();
    for hook in found {
        let path = format!(
            "/repos/{repo}/hooks/{}/deliveries?per_page={DELIVERIES}",
            hook.id
        );
        let deliveries = client.get(repo, &path, &doing).await;
        shown.push(self::shown(hook, deliveries));
    }
    Fact::Known(shown)
}

/// The App's own webhook.
pub(super) async fn of_app(client: &Client) -> Result<Option<Hook>, Failure> {
    let Some(config) = hooks::of_app(client).await? else {
        return Ok(None);
    };
    let doing = "reading the App's webhook";
    let app: wire::ProbedApp = answered(&client.inspect("/app", doing).await?, doing)?;
    let path = format!("/app/hook/deliveries?per_page={DELIVERIES}");
    let received = client.inspect(&path, doing).await;
    let deliveries = received.and_then(|received| answered(&received, doing));
    let hook = hooks::HookWire {
        id: 0,
        active: true,
        events: app.events,
        config,
    };
    Ok(Some(shown(hook, deliveries)))
}

fn shown(hook: hooks::HookWire, deliveries: Deliveries) -> Hook {
    let answers = |deliveries: Vec<wire::Delivery>| {
        let newest = deliveries.into_iter().take(DELIVERIES);
        newest
            .map(|delivery| delivery.status_code.filter(|status| *status > 0))
            .collect()
    };
    Hook {
        url: hook.config.url,
        active: hook.active,
        json: hook.config.content_type == "json",
        events: hook.events,
        answers: fact(deliveries.map(answers), HOOKS_READ, true),
    }
}
