//! An agent orders only where it works: in the sources whose agent it is, and about jobs that name it.

use axum::http::StatusCode;
use domain::ids::{AgentName, JobId, JobName, RepoName};
use engine::backend::Error;
use engine::deliveries::DeliveryShown;

use crate::auth::AuthenticatedCaller;
use crate::refusal::Refused;
use crate::state::ApiInner;

/// Refuses the token of another agent than that of a source. People may order anywhere.
pub(crate) async fn must_reach(
    api: &ApiInner,
    who: &AuthenticatedCaller,
    repo: &RepoName,
) -> Result<(), Refused> {
    must(api, who, repo, None).await
}

/// The same about a job, which may name an agent of its own. A name that means no job is refused by the order itself.
/// Returns the name to go on with: which job is the latest one must not change after it was looked at.
pub(crate) async fn must_reach_job(
    api: &ApiInner,
    who: &AuthenticatedCaller,
    name: &str,
) -> Result<String, Refused> {
    if who.agent().is_none() {
        return Ok(name.to_owned());
    }
    let found = match api.backend.find(name).await {
        Err(Error::NoSuch { .. }) => return Ok(name.to_owned()),
        found => found?,
    };
    must_reach_id(api, who, &found.job).await?;
    Ok(match name.parse() {
        Ok(JobName::Latest) => found.job.to_string(),
        Ok(JobName::Job(_) | JobName::Pull(_) | JobName::Word(_)) | Err(_) => name.to_owned(),
    })
}

async fn must_reach_id(
    api: &ApiInner,
    who: &AuthenticatedCaller,
    job: &JobId,
) -> Result<(), Refused> {
    let job = api.backend.must_job(job).await?.value;
    must(api, who, &job.repo, job.agent.as_ref()).await
}

/// The same about a delivery, and about the job that is shown as one.
pub(crate) async fn must_reach_delivery(
    api: &ApiInner,
    who: &AuthenticatedCaller,
    shown: &DeliveryShown,
) -> Result<(), Refused> {
    let of_job = shown.job.as_ref().and_then(|job| job.agent.as_ref());
    must(api, who, &shown.delivery.repo, of_job).await
}

async fn must(
    api: &ApiInner,
    who: &AuthenticatedCaller,
    repo: &RepoName,
    of_job: Option<&AgentName>,
) -> Result<(), Refused> {
    let Some(agent) = who.agent() else {
        return Ok(());
    };
    let source = api.backend.store.source(repo).await?;
    let of_source = source.and_then(|source| source.value.agent);
    if of_job == Some(agent) || of_source.as_ref() == Some(agent) {
        return Ok(());
    }
    let detail = format!(
        "the bearer token is that of agent {agent}, which is not the agent of {repo}: a person gives this order, or makes it the agent of that source"
    );
    Err(Refused::new(
        StatusCode::FORBIDDEN,
        "not_its_source",
        &detail,
    ))
}

/// Refuses to have a requirement of a source implemented or removed where the settings of its pipeline leave that to people.
pub(crate) async fn must_implement(
    api: &ApiInner,
    who: &AuthenticatedCaller,
    repo: &RepoName,
) -> Result<(), Refused> {
    let source = api.backend.store.source(repo).await?;
    // One without a pipeline is refused by the order itself.
    let rules = source.and_then(|source| source.value.pipeline);
    if rules.is_none_or(|rules| rules.may_implement(&who.actor())) {
        return Ok(());
    }
    let what = format!(
        "have a requirement of {repo} implemented or removed, since its pipeline says `implement = human`: a person gives this order"
    );
    Err(who.people_only(&what))
}
