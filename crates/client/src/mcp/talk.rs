//! Tools for a job's present state, its conversation and its notes.

use domain::fence::is_invisible;

use super::answers::{Job, Line, Messages, Registered};
use super::arguments;
use super::calls::Failed;
use super::waiting;
use crate::wire::{MessageView, RegisterRequest};
use crate::{Answer, Client};

/// The name of the job registry: a given path is not needed, and nothing is written there.
const REGISTRY: &str = "gaffer";

/// `jules_register_job`.
pub(super) async fn register(
    door: &Client,
    wanted: arguments::RegisterJob,
) -> Result<Registered, Failed> {
    let arguments::RegisterJob {
        job_id,
        jobs_path,
        metadata,
        repo,
    } = wanted;
    if jobs_path.is_some_and(|path| path.chars().any(is_invisible)) {
        let wrong = "it holds characters that cannot be seen; leave it out, it is not needed";
        return Err(Failed::argument("jobs_path", wrong));
    }
    let request = RegisterRequest {
        metadata,
        repo,
        agent: None,
    };
    let (registered, job_id) = match door.register(&job_id, &request).await? {
        Answer::Done(done) => (done.registered, done.job_id.to_string()),
        Answer::Later(_) => (false, job_id),
    };
    Ok(Registered {
        registered,
        job_id,
        registry: REGISTRY.to_owned(),
    })
}

/// `jules_get_job`. While Jules is still being read, it shows the stored job.
pub(super) async fn job(door: &Client, wanted: arguments::GetJob) -> Result<Job, Failed> {
    if wanted.fresh
        && let Answer::Done(job) = door.fresh_job(&wanted.job_id).await?
    {
        return Ok(Job::from(&job));
    }
    Ok(Job::from(&door.job(&wanted.job_id).await?))
}

/// `jules_get_messages`.
pub(super) async fn messages(
    door: &Client,
    wanted: arguments::GetMessages,
) -> Result<Messages, Failed> {
    let cursor = waiting::cursor(wanted.cursor)?;
    let page = door.messages(&wanted.job_id, cursor.as_deref()).await?;
    Ok(match page {
        Answer::Done(page) => Messages {
            messages: page.messages.into_iter().map(Line::from).collect(),
            next_cursor: page.next_cursor,
            more: page.more,
            read: true,
        },
        Answer::Later(_) => Messages {
            messages: Vec::new(),
            next_cursor: cursor.unwrap_or_default(),
            more: true,
            read: false,
        },
    })
}

impl From<MessageView> for Line {
    fn from(message: MessageView) -> Self {
        Self {
            role: message.role,
            content: message.content,
            created_at: message.created_at,
            tags: message.tags,
        }
    }
}
