//! What is wrong with webhooks, for people.

use super::{LogStatus, RedeliveryState, WebhookLog};

/// The problem with the webhooks of a log, as a sentence; `None` when there is none.
pub fn problem(repair: &RedeliveryState) -> Option<String> {
    let of = match &repair.log {
        WebhookLog::App => "the GitHub App".to_owned(),
        WebhookLog::Repo(repo) => repo.to_string(),
    };
    let right = match &repair.log {
        WebhookLog::App => "check its id and its key",
        WebhookLog::Repo(_) => {
            "give the token the right to read and write webhooks, or use a GitHub App"
        }
    };
    match (repair.status, repair.unanswered_since) {
        (LogStatus::Forbidden { since }, _) => Some(format!(
            "since {since} the webhook deliveries of {of} may not be read or asked for again; {right}; until then lost ones are made up for by reading at intervals"
        )),
        (LogStatus::Unread { since }, _) => Some(format!(
            "since {since} the webhook deliveries of {of} could not be read; it is tried again by itself"
        )),
        (LogStatus::Read, Some(since)) => Some(format!(
            "since {since} no webhook delivery of {of} has got through; the doctor looks why, and what failed is asked for again once one does"
        )),
        (LogStatus::Read | LogStatus::NoHook, _) => None,
    }
}
