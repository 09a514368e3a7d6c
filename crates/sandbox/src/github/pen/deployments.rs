//! Deployments and their statuses.

use serde_json::{Value, json};

use super::super::records::{Deployment, DeploymentStatus};
use super::super::world::{Repo, node_id};
use super::{Pen, time};

impl Pen<'_> {
    pub(crate) fn deployment(&self, repo: &Repo, deployment: &Deployment) -> Value {
        let (url, id) = (self.repo_url(repo), deployment.id);
        let own = format!("{url}/deployments/{id}");
        let changed = deployment.statuses.last().map(|status| status.at);
        json!({
            "url": own,
            "id": id,
            "node_id": node_id("DE", id),
            "task": "deploy",
            "original_environment": deployment.environment,
            "environment": deployment.environment,
            "description": null,
            "created_at": time(deployment.created_at),
            "updated_at": time(changed.unwrap_or(deployment.created_at)),
            "statuses_url": format!("{own}/statuses"),
            "repository_url": url,
            "creator": self.user(&deployment.creator),
            "sha": deployment.sha,
            "ref": deployment.reference,
            "payload": {},
            "transient_environment": false,
            "production_environment": deployment.environment == "production",
            "performed_via_github_app": null,
        })
    }

    pub(crate) fn deployment_status(
        &self,
        repo: &Repo,
        deployment: &Deployment,
        status: &DeploymentStatus,
    ) -> Value {
        let url = self.repo_url(repo);
        let of = format!("{url}/deployments/{}", deployment.id);
        json!({
            "url": format!("{of}/statuses/{}", status.id),
            "id": status.id,
            "node_id": node_id("DES", status.id),
            "state": status.state.as_str(),
            "creator": self.user(&status.creator),
            "description": "",
            "environment": deployment.environment,
            "target_url": "",
            "created_at": time(status.at),
            "updated_at": time(status.at),
            "deployment_url": of,
            "repository_url": url,
            "environment_url": "",
            "log_url": "",
            "performed_via_github_app": null,
        })
    }
}
