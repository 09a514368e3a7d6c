//! Tools for a job's present state, its conversation and its notes.

use domain::fence::is_invisible;
use serde_json::Value;

use super::answers::{JobAnswer, MessageLine, MessagesAnswer, RegisteredAnswer, to_value};
use super::arguments::{GetJob, GetMessages, RegisterJob, read};
use super::tool_error::ToolError;
use super::waiting;
use crate::wire::{MessageView, RegisterRequest};
use crate::{Answer, Client};

/// The name of the job registry: a given path is not needed, and nothing is written there.
const REGISTRY: &str = "gaffer";

/// `jules_register_job`.
pub(super) async fn register(client: &Client, given: Value) -> Result<Value, ToolError> {
    let RegisterJob {
        job_id,
        jobs_path,
        metadata,
        repo,
    } = read(given)?;
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
    to_value(RegisteredAnswer {
        registered,
        job_id,
        registry: REGISTRY.to_owned(),
    })
}

/// `jules_get_job`. While Jules is still being read, it shows the stored job.
pub(super) async fn job(client: &Client, given: Value) -> Result<Value, ToolError> {
    let GetJob { job_id, fresh } = read(given)?;
    if fresh && let Answer::Done(job) = client.fresh_job(&job_id).await? {
        return to_value(JobAnswer::from(&job));
    }
    to_value(JobAnswer::from(&client.job(&job_id).await?))
}

/// `jules_get_messages`.
pub(super) async fn messages(client: &Client, given: Value) -> Result<Value, ToolError> {
    let GetMessages { job_id, cursor } = read(given)?;
    let cursor = waiting::cursor(cursor)?;
    let page = client.messages(&job_id, cursor.as_deref()).await?;
    to_value(match page {
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
