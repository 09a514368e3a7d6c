//! `gaffer job wait`: looks at a job until it has come far enough.

use std::time::Duration;

use anyhow::Result;
use client::Client;
use client::wire::{JobView, Jobs};
use jiff::SignedDuration;
use tokio::time::Instant;

use super::show;
use crate::args::job::Until;
use crate::args::value::short;
use crate::error::Error;
use crate::render::Answer;

/// How often the door is asked: a person does not notice it, and it costs one read of one record.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The state of a job whose session is done and whose pull request is open, as the door tells it.
const IN_REVIEW: &str = "in-review";

/// The state of a pull request that was not read yet, as the door tells it.
const UNREAD: &str = "unread";

/// How a look at a job ends the wait.
enum Seen {
    /// It has come far enough.
    There,
    /// It will never come so far.
    Never,
    /// It may still come.
    NotYet,
}

/// Waits for all of some jobs, and shows them as they are then; the first that can never come so far ends it.
pub(super) async fn all(
    client: &Client,
    names: &[&str],
    what: (Until, SignedDuration),
) -> Result<Answer> {
    let [one] = names else {
        let waits = names.iter().map(|name| until(client, name, what));
        let jobs = futures::future::try_join_all(waits).await?;
        let more = false;
        let next_cursor = None;
        return Ok(show::jobs(&Jobs {
            jobs,
            more,
            next_cursor,
        }));
    };
    run(client, one, what).await
}

/// Waits, and shows the job as it is then.
pub(super) async fn run(
    client: &Client,
    name: &str,
    what: (Until, SignedDuration),
) -> Result<Answer> {
    Ok(show::job(&until(client, name, what).await?))
}

/// Waits, and answers the job as it is then.
async fn until(
    client: &Client,
    id: &str,
    (until, within): (Until, SignedDuration),
) -> Result<JobView> {
    let end = Instant::now() + within.unsigned_abs();
    let mut name = id.to_owned();
    let mut beat = tokio::time::interval(LOOK_EVERY);
    loop {
        beat.tick().await;
        let job = client.job(&name).await?;
        // What a name such as `latest` means must not change while one waits.
        name = job.job_id.to_string();
        let reached = match until {
            Until::InReview => in_review(client, &job).await?,
            Until::Merged | Until::Ended | Until::Waiting => seen(&job, until),
        };
        match reached {
            Seen::There => return Ok(job),
            Seen::Never => return Err(ended(&job).into()),
            Seen::NotYet if Instant::now() >= end => return Err(too_long(&job, within).into()),
            Seen::NotYet => {}
        }
    }
}

fn seen(job: &JobView, until: Until) -> Seen {
    let merged = job.state == "merged";
    match (until, job.ended.is_some()) {
        (Until::Merged | Until::InReview, _) if merged => Seen::There,
        (Until::Merged | Until::InReview, true) => Seen::Never,
        (Until::Ended | Until::Waiting, true) => Seen::There,
        (Until::Waiting, false) if job.waits_for.is_decision() => Seen::There,
        (Until::Merged | Until::InReview | Until::Ended | Until::Waiting, false) => Seen::NotYet,
    }
}

/// Whether its pull request waits for somebody's word: one that was never read takes none.
async fn in_review(client: &Client, job: &JobView) -> Result<Seen> {
    let Some(pull) = job.pull_request.as_ref().filter(|_| job.state == IN_REVIEW) else {
        return Ok(seen(job, Until::InReview));
    };
    match client.pull_why(pull).await {
        Ok(why) if why.state == UNREAD => Ok(Seen::NotYet),
        Ok(_) => Ok(Seen::There),
        // It is known by its name only.
        Err(client::Error::Problem(_)) => Ok(Seen::NotYet),
        Err(error) => Err(error.into()),
    }
}

fn ended(job: &JobView) -> Error {
    let next = format!(
        "see what happened with `gaffer job events {id}`, or give it another session with `gaffer job retry {id}`",
        id = job.job_id
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
