//! Carries out the actions of keys, and reports their outcome.

use client::wire::{ApproveRequest, CancelRequest, MergeRequest};
use client::{Answer, Client, Error};
use domain::ids::JobId;
use domain::page::Page;

use super::cursor::Wish;
use crate::job::browser;

/// Carries out an action on a job; returns a sentence about it.
pub(super) async fn carry_out(client: Client, job: JobId, wish: Wish) -> String {
    let done = done(&client, job.as_str(), &wish).await;
    done.unwrap_or_else(|error| format!("Job {job}: {error}"))
}

async fn done(client: &Client, job: &str, wish: &Wish) -> Result<String, Error> {
    Ok(match wish {
        Wish::Approve => told(
            client.approve(job, &ApproveRequest::default()).await?,
            "The plan is approved.",
        ),
        Wish::Say(text) => told(client.say(job, text, None).await?, "It is said."),
        Wish::Merge => {
            let merge = MergeRequest {
                by: None,
                ..MergeRequest::default()
            };
            told(client.merge(job, &merge).await?, "It is merged.")
        }
        Wish::Cancel => {
            let cancel = CancelRequest {
                by: None,
                ..CancelRequest::default()
            };
            let job = client.cancel(job, &cancel).await?;
            format!("Job {} is {}.", job.job_id, job.state)
        }
        Wish::Open => opened(client, job).await?,
    })
}

fn told<T>(came: Answer<T>, done: &str) -> String {
    match came {
        Answer::Done(_) => done.to_owned(),
        Answer::Later(later) => format!("Not done yet: {}", later.sentence),
    }
}

async fn opened(client: &Client, job: &str) -> Result<String, Error> {
    let job = client.job(job).await?;
    let address = job.pull_request_url.or(job.session_url);
    Ok(match address.as_deref().and_then(Page::told) {
        None => format!("Job {} has no page yet.", job.job_id),
        Some(page) if browser::open(&page) => format!("Opened {}", page.as_str()),
        Some(page) => format!("Nothing here opens pages: {}", page.as_str()),
    })
}
