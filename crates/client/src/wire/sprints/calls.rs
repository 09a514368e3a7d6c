//! Calls about sprints: one method for each route.

use domain::ids::{RepoName, SprintNumber};
use reqwest::Method;

use super::{
    IntegrateSprint, OrderSprint, SprintPlanView, SprintView, SprintWhy, Sprints, StartSprint,
};
use crate::client::{Call, Client};
use crate::error::Error;

/// What stands for the newest sprint in a path.
const LATEST: &str = "latest";

/// The path of a repository's sprints.
fn of_repo(repo: &RepoName) -> Vec<String> {
    let path = ["api", "sprints", repo.owner(), repo.name()];
    path.map(str::to_owned).into()
}

/// The path of a sprint, of the newest one without a number.
fn of_sprint(repo: &RepoName, number: Option<SprintNumber>, rest: &[&str]) -> Vec<String> {
    let named = number.map_or_else(|| LATEST.to_owned(), |number| number.to_string());
    let mut path = of_repo(repo);
    path.push(named);
    path.extend(rest.iter().map(ToString::to_string));
    path
}

impl Client {
    /// What a sprint would be: nothing is created.
    pub async fn plan_sprint(
        &self,
        repo: &RepoName,
        wanted: StartSprint,
    ) -> Result<SprintPlanView, Error> {
        let wanted = StartSprint {
            dry_run: true,
            ..wanted
        };
        let call = Call::new(Method::POST, &of_repo(repo)).body(&wanted);
        self.done(call).await
    }

    /// Starts a sprint.
    pub async fn start_sprint(
        &self,
        repo: &RepoName,
        wanted: StartSprint,
    ) -> Result<SprintView, Error> {
        let wanted = StartSprint {
            dry_run: false,
            ..wanted
        };
        let call = Call::new(Method::POST, &of_repo(repo)).body(&wanted);
        self.done(call).await
    }

    /// The newest sprints of a repository first, at most `limit`, by default
    /// [`SPRINTS_LIMIT`](crate::wire::SPRINTS_LIMIT).
    pub async fn sprints(&self, repo: &RepoName, limit: Option<u32>) -> Result<Sprints, Error> {
        let call = Call::new(Method::GET, &of_repo(repo));
        self.done(match limit {
            Some(limit) => call.with("limit", limit.to_string()),
            None => call,
        })
        .await
    }

    /// One sprint with the reports of its weaves, the newest one without a number.
    pub async fn sprint(
        &self,
        repo: &RepoName,
        number: Option<SprintNumber>,
    ) -> Result<SprintView, Error> {
        self.done(Call::new(Method::GET, &of_sprint(repo, number, &[])))
            .await
    }

    /// What a sprint waits for.
    pub async fn sprint_why(
        &self,
        repo: &RepoName,
        number: Option<SprintNumber>,
    ) -> Result<SprintWhy, Error> {
        let path = of_sprint(repo, number, &["why"]);
        self.done(Call::new(Method::GET, &path)).await
    }

    /// Has a sprint looked at now.
    pub async fn tick_sprint(
        &self,
        repo: &RepoName,
        number: Option<SprintNumber>,
    ) -> Result<SprintView, Error> {
        let path = of_sprint(repo, number, &["tick"]);
        let call = Call::new(Method::POST, &path);
        self.done(call.body(&OrderSprint {})).await
    }

    /// Has what there is woven; `now` also while members work.
    pub async fn integrate_sprint(
        &self,
        repo: &RepoName,
        number: Option<SprintNumber>,
        now: bool,
    ) -> Result<SprintView, Error> {
        let path = of_sprint(repo, number, &["integrate"]);
        let call = Call::new(Method::POST, &path);
        self.done(call.body(&IntegrateSprint { now })).await
    }

    /// Calls a sprint off, with its jobs.
    pub async fn abort_sprint(
        &self,
        repo: &RepoName,
        number: Option<SprintNumber>,
    ) -> Result<SprintView, Error> {
        let path = of_sprint(repo, number, &["abort"]);
        let call = Call::new(Method::POST, &path);
        self.done(call.body(&OrderSprint {})).await
    }
}
