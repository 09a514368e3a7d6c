//! `gaffer job wait`: polls a job until it has reached a state.

use std::time::Duration;

use anyhow::Result;
use client::Client;
use client::wire::{JobView, Jobs};
use jiff::SignedDuration;
use tokio::time::Instant;

use super::progress::Progress;
use super::show;
use crate::args::job::Until;
use crate::args::value::short;
use crate::error::Error;
use crate::render::Answer;

/// Poll interval of the API: a person does not notice it, and it costs one read of one record.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The API's state of a job whose session is done and whose pull request is open.
const IN_REVIEW: &str = "in-review";

/// The API's state of a pull request that was not read yet.
const UNREAD: &str = "unread";

/// Shown while the API does not answer.
pub(crate) const AWAY: &str = "`gaffer up` does not answer; waiting for it to come back";

/// Whether a read of a job ends the wait.
enum WaitStep {
    /// It has come far enough.
    There,
    /// It will never come so far.
    Never,
    /// It may still come.
    NotYet,
}

/// Waits for all of some jobs, and shows them afterwards; the first one that can never reach the state ends it.
pub(super) async fn all(
    client: &Client,
    names: &[&str],
    wanted: Until,
    within: SignedDuration,
    as_json: bool,
) -> Result<Answer> {
    let [one] = names else {
        let shown = |name| Progress::one_of_several(as_json, name);
        let waits = names
            .iter()
            .map(|name| until(client, name, wanted, within, shown(name)));
        let jobs = futures::future::try_join_all(waits).await?;
        let more = false;
        let next_cursor = None;
        let jobs = Jobs {
            jobs,
            more,
            next_cursor,
        };
        return Ok(show::jobs(&jobs, &[]));
    };
    run(client, one, wanted, within, as_json).await
}

/// Waits, and shows the job afterwards.
pub(super) async fn run(
    client: &Client,
    name: &str,
    wanted: Until,
    within: SignedDuration,
    as_json: bool,
) -> Result<Answer> {
    let progress = Progress::new(as_json);
    Ok(show::job(
        &until(client, name, wanted, within, progress).await?,
    ))
}

/// Waits, and returns the job afterwards.
async fn until(
    client: &Client,
    id: &str,
    until: Until,
    within: SignedDuration,
    mut progress: Progress,
) -> Result<JobView> {
    let end = Instant::now() + within.unsigned_abs();
    let mut name = id.to_owned();
    let mut beat = tokio::time::interval(LOOK_EVERY);
    let mut was_there = false;
    loop {
        beat.tick().await;
        let (job, reached) = match look(client, &name, until).await {
            // It comes back: an API that was never there is reported at once.
            Err(error) if was_there && Instant::now() < end && is_away(&error) => {
                progress.away(AWAY);
                continue;
            }
            looked => looked?,
        };
        was_there = true;
        // What a name such as `latest` means must not change while one waits.
        name = job.job_id.to_string();
        match reached {
            WaitStep::There => return Ok(job),
            WaitStep::Never => return Err(ended(&job).into()),
            WaitStep::NotYet if Instant::now() >= end => return Err(too_long(&job, within).into()),
            WaitStep::NotYet => progress.job(&job),
        }
    }
}

async fn look(
    client: &Client,
    id: &str,
    until: Until,
) -> Result<(JobView, WaitStep), client::Error> {
    let job = client.job(id).await?;
    let reached = match until {
        Until::InReview => in_review(client, &job).await?,
        Until::Merged | Until::Ended | Until::Waiting => seen(&job, until),
    };
    Ok((job, reached))
}

/// Whether the API does not answer, or is being stopped.
pub(crate) fn is_away(error: &client::Error) -> bool {
    match error {
        client::Error::Unreachable { .. } | client::Error::NoAnswer { .. } => true,
        client::Error::Problem(problem) => problem.status == 503,
        client::Error::Base { .. }
        | client::Error::GoogleKey
        | client::Error::Token
        | client::Error::NoTlsProvider
        | client::Error::Http(_)
        | client::Error::Key
        | client::Error::Id(_)
        | client::Error::Foreign { .. } => false,
    }
}

fn seen(job: &JobView, until: Until) -> WaitStep {
    let merged = job.state == "merged";
    match (until, job.ended.is_some()) {
        (Until::Merged | Until::InReview, _) if merged => WaitStep::There,
        (Until::Merged | Until::InReview, true) => WaitStep::Never,
        (Until::Ended | Until::Waiting, true) => WaitStep::There,
        (Until::Waiting, false) if job.waits_for.is_decision() => WaitStep::There,
        (Until::Merged | Until::InReview | Until::Ended | Until::Waiting, false) => {
            WaitStep::NotYet
        }
    }
}

/// Whether its pull request waits for an approval: one that was never read takes none.
async fn in_review(client: &Client, job: &JobView) -> Result<WaitStep, client::Error> {
    let Some(pull) = job.pull_request.as_ref().filter(|_| job.state == IN_REVIEW) else {
        return Ok(seen(job, Until::InReview));
    };
    match client.pull_why(pull).await {
        Ok(why) if why.state == UNREAD => Ok(WaitStep::NotYet),
        Ok(_) => Ok(WaitStep::There),
        // Only its name is known yet.
        Err(client::Error::Problem(_)) => Ok(WaitStep::NotYet),
        Err(error) => Err(error),
    }
}

fn ended(job: &JobView) -> Error {
    let id = &job.job_id;
    let next = format!(
        "see what happened with `gaffer job events {id}`, and what can be done with `gaffer job why {id}`"
    );
    Error::refused("ended", format!("it ended and is {}", job.state), next)
}

fn too_long(job: &JobView, within: SignedDuration) -> Error {
    let what = format!(
        "after {} it is still {}, and waits for {}",
        short(within),
        job.state,
        job.waits_for.sentence
    );
    let next = format!("ask what it waits for with `gaffer job why {}`", job.job_id);
    Error::refused("still_waiting", what, next)
}
