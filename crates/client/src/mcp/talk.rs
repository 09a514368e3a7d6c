//! Tools for a job's present state, its conversation and its notes.

use domain::fence::is_invisible;

use super::answers::{JobAnswer, MessageLine, MessagesAnswer, RegisteredAnswer};
use super::arguments;
use super::tool_error::ToolError;
use super::waiting;
use crate::wire::{MessageView, RegisterRequest};
use crate::{Answer, Client};

/// The name of the job registry: a given path is not needed, and nothing is written there.
const REGISTRY: &str = "gaffer";

/// `jules_register_job`.
pub(super) async fn register(
    client: &Client,
    wanted: arguments::RegisterJob,
) -> Result<RegisteredAnswer, ToolError> {
    let arguments::RegisterJob {
        job_id,
        jobs_path,
        metadata,
        repo,
    } = wanted;
    if jobs_path.is_some_and(|path| path.chars().any(is_invisible)) {
        let wrong = "it holds characters that cannot be seen; leave it out, it is not needed";
        return Err(ToolError::argument("jobs_path", wrong));
    }
    let request = RegisterRequest {
        metadata,
        repo,
        agent: None,
    };
    let (registered, job_id) = match client.register(&job_id, &request).await? {
        Answer::Done(done) => (done.registered, done.job_id.to_string()),
        Answer::Later(_) => (false, job_id),
    };
    Ok(RegisteredAnswer {
        registered,
        job_id,
        registry: REGISTRY.to_owned(),
    })
}

/// `jules_get_job`. While Jules is still being read, it shows the stored job.
pub(super) async fn job(
    client: &Client,
    wanted: arguments::GetJob,
) -> Result<JobAnswer, ToolError> {
    if wanted.fresh
        && let Answer::Done(job) = client.fresh_job(&wanted.job_id).await?
    {
        return Ok(JobAnswer::from(&job));
    }
    Ok(JobAnswer::from(&client.job(&wanted.job_id).await?))
}

/// `jules_get_messages`.
pub(super) async fn messages(
    client: &Client,
    wanted: arguments::GetMessages,
) -> Result<MessagesAnswer, ToolError> {
    let cursor = waiting::cursor(wanted.cursor)?;
    let page = client.messages(&wanted.job_id, cursor.as_deref()).await?;
    Ok(match page {
        Answer::Done(page) => MessagesAnswer {
            messages: page.messages.into_iter().map(MessageLine::from).collect(),
            next_cursor: page.next_cursor,
            more: page.more,
            read: true,
        },
        Answer::Later(_) => MessagesAnswer {
            messages: Vec::new(),
            next_cursor: cursor.unwrap_or_default(),
            more: true,
            read: false,
        },
    })
}

impl From<MessageView> for MessageLine {
    fn from(message: MessageView) -> Self {
        Self {
            role: message.role,
            content: message.content,
            created_at: message.created_at,
            tags: message.tags,
        }
    }
}
