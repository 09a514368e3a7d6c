//! Calls about pipelines and requirements: one method for each route.

use domain::ids::{ArtefactId, PipelineId, RepoName};
use reqwest::Method;

use super::{
    CancelPipeline, PipelineView, PipelineWhy, Pipelines, RequirementView, Requirements,
    StartPipeline, StartRequirement,
};
use crate::client::{Call, Client};
use crate::error::Error;

/// The path of a run.
fn of_run(id: &PipelineId, rest: &[&str]) -> Vec<String> {
    let path = ["api", "pipelines", id.as_str()];
    path.iter().chain(rest).map(ToString::to_string).collect()
}

/// The path of a requirement.
fn of_requirement(repo: &RepoName, id: &ArtefactId, rest: &[&str]) -> Vec<String> {
    let path = [
        "api",
        "requirements",
        repo.owner(),
        repo.name(),
        id.as_str(),
    ];
    path.iter().chain(rest).map(ToString::to_string).collect()
}

impl Client {
    /// Begins a run of a pipeline, or of one of its layers.
    pub async fn start_pipeline(&self, wanted: &StartPipeline) -> Result<PipelineView, Error> {
        let call = Call::new(Method::POST, &["api", "pipelines"]).body(wanted);
        self.done(call).await
    }

    /// The newest runs of a repository first, at most `limit`, by default
    /// [`PIPELINES_LIMIT`](crate::wire::PIPELINES_LIMIT).
    pub async fn pipelines(&self, repo: &RepoName, limit: Option<u32>) -> Result<Pipelines, Error> {
        let call = Call::new(Method::GET, &["api", "pipelines"]).with("repo", repo.to_string());
        self.done(match limit {
            Some(limit) => call.with("limit", limit.to_string()),
            None => call,
        })
        .await
    }

    /// One run.
    pub async fn pipeline(&self, id: &PipelineId) -> Result<PipelineView, Error> {
        self.done(Call::new(Method::GET, &of_run(id, &[]))).await
    }

    /// What a run waits for.
    pub async fn pipeline_why(&self, id: &PipelineId) -> Result<PipelineWhy, Error> {
        self.done(Call::new(Method::GET, &of_run(id, &["why"])))
            .await
    }

    /// Calls a run off, with its jobs.
    pub async fn cancel_pipeline(&self, id: &PipelineId) -> Result<PipelineView, Error> {
        let call = Call::new(Method::POST, &of_run(id, &["cancel"]));
        self.done(call.body(&CancelPipeline {})).await
    }

    /// The requirements of a repository that Gaffer follows, the newest first.
    pub async fn requirements(&self, repo: &RepoName) -> Result<Requirements, Error> {
        let call = Call::new(Method::GET, &["api", "requirements"]);
        self.done(call.with("repo", repo.to_string())).await
    }

    /// One requirement.
    pub async fn requirement(
        &self,
        repo: &RepoName,
        id: &ArtefactId,
    ) -> Result<RequirementView, Error> {
        self.done(Call::new(Method::GET, &of_requirement(repo, id, &[])))
            .await
    }

    /// Has a requirement implemented, for the first time or again.
    pub async fn start_requirement(
        &self,
        repo: &RepoName,
        id: &ArtefactId,
        start: &StartRequirement,
    ) -> Result<RequirementView, Error> {
        let call = Call::new(Method::POST, &of_requirement(repo, id, &["start"]));
        self.done(call.body(start)).await
    }
}
