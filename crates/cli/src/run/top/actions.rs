//! Carries out the actions of keys, and reports their outcome.

use client::wire::{ApproveRequest, CancelRequest, MergeRequest};
use client::{Answer, Client, Error};
use domain::ids::JobId;
use domain::web_page::WebPage;

use super::cursor::TopAction;
use crate::job::{browser, pending_words};

/// Carries out an action on a job; returns a sentence about it.
pub(super) async fn carry_out(client: Client, job: JobId, action: TopAction) -> String {
    let done = done(&client, job.as_str(), &action).await;
    done.unwrap_or_else(|error| format!("Job {job}: {error}"))
}

async fn done(client: &Client, job: &str, action: &TopAction) -> Result<String, Error> {
    Ok(match action {
        TopAction::Approve => outcome_line(
            client.approve(job, &ApproveRequest::default()).await?,
            "The plan is approved.",
        ),
        TopAction::Say(text) => outcome_line(client.say(job, text, None).await?, "It is said."),
        TopAction::Merge => {
            let merge = MergeRequest {
                by: None,
                ..MergeRequest::default()
            };
            outcome_line(client.merge(job, &merge).await?, "It is merged.")
        }
        TopAction::Cancel => {
            let cancel = CancelRequest {
                by: None,
                ..CancelRequest::default()
            };
            let job = client.cancel(job, &cancel).await?;
            format!("Job {} is {}.", job.job_id, job.state)
        }
        TopAction::Open => opened(client, job).await?,
    })
}

fn outcome_line<T>(came: Answer<T>, done: &str) -> String {
    match came {
        Answer::Done(_) => done.to_owned(),
        Answer::Later(later) => pending_words(&later),
    }
}

async fn opened(client: &Client, job: &str) -> Result<String, Error> {
    let job = client.job(job).await?;
    let address = job.pull_request_url.or(job.session_url);
    Ok(match address.as_deref().and_then(WebPage::from_service) {
        None => format!("Job {} has no page yet.", job.job_id),
        Some(page) if browser::open(&page) => format!("Opened {}", page.as_str()),
        Some(page) => format!("Nothing here opens pages: {}", page.as_str()),
    })
}
