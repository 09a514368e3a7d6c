//! A deployed stack by its name: its table, queues and parameters, as `infra/foundation.yaml` calls them.

use aws_config::SdkConfig;
use aws_sdk_sqs::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::operation::get_queue_url::GetQueueUrlError;

use crate::{Parameters, SqsQueue, Table};

/// Everything of one stack.
#[derive(Debug, Clone)]
pub struct Stack {
    config: SdkConfig,
    name: String,
    work: [String; 2],
    ticks: [String; 2],
}

/// Why a stack could not be found.
#[derive(Debug, thiserror::Error)]
#[error(
    "looking for the queue `{queue}` of the stack: {message}; check the stack's name, AWS_REGION and the credentials"
)]
pub struct StackError {
    /// The queue's name.
    pub queue: String,
    /// What AWS said.
    pub message: String,
}

/// AWS's own message; the whole error only where there is none.
fn said(error: &SdkError<GetQueueUrlError>) -> String {
    let told = error
        .as_service_error()
        .and_then(ProvideErrorMetadata::message);
    told.map_or_else(|| DisplayErrorContext(error).to_string(), str::to_owned)
}

impl Stack {
    /// Finds the queues of the stack of this name.
    pub async fn find(config: SdkConfig, name: &str) -> Result<Self, StackError> {
        let client = aws_sdk_sqs::Client::new(&config);
        let queue = async |end: &str| {
            let queue = format!("{name}-{end}");
            let answer = client.get_queue_url().queue_name(&queue).send().await;
            let found = match answer {
                Ok(answer) => answer
                    .queue_url
                    .ok_or_else(|| "it has no address".to_owned()),
                Err(error) => Err(said(&error)),
            };
            found.map_err(|message| StackError { queue, message })
        };
        let work = [queue("work").await?, queue("work-dead").await?];
        let ticks = [queue("ticks").await?, queue("ticks-dead").await?];
        Ok(Self {
            work,
            ticks,
            name: name.to_owned(),
            config,
        })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its records.
    pub fn table(&self) -> Table {
        Table::new(&self.config, &self.name)
    }

    /// Its queue of wake-ups, with its dead letters.
    pub fn work(&self) -> SqsQueue {
        let [url, dead] = &self.work;
        SqsQueue::new(&self.config, url, dead)
    }

    /// Its queue of ticks, with its dead letters.
    pub fn ticks(&self) -> SqsQueue {
        let [url, dead] = &self.ticks;
        SqsQueue::new(&self.config, url, dead)
    }

    /// Its secrets.
    pub fn parameters(&self) -> Parameters {
        Parameters::new(&self.config, &self.name)
    }
}
