//! The state of a deployment: stacks, versions, addresses and queues.

use aws_sdk_cloudformation::types::StackStatus;
use aws_sdk_sqs::types::QueueAttributeName;

use crate::cloud::Cloud;
use crate::error::Error;
use crate::function::Function;

/// The queues, as the foundation names them.
const QUEUES: [&str; 4] = ["WorkQueue", "WorkDeadQueue", "TicksQueue", "TicksDeadQueue"];

impl Cloud {
    /// Prints the state of the stack, one line for each part.
    pub async fn status(&self) -> Result<(), Error> {
        for name in [self.stack.to_string(), self.stack.triggers()] {
            let stack = self.stack(&name).await?;
            let status = stack.as_ref().and_then(|it| it.stack_status.as_ref());
            let status = status.map_or("not there", StackStatus::as_str);
            self.say(format!("stack {name}: {status}"));
        }
        for function in Function::ALL {
            let line = self.function_status(function).await?;
            self.say(line);
        }
        if let Some(endpoints) = self.endpoints().await? {
            self.say(format!("webhook: {}github/webhook", endpoints.webhook));
            self.say(format!("api: {}", endpoints.api));
        }
        self.queues().await
    }

    async fn function_status(&self, function: Function) -> Result<String, Error> {
        let name = function.name(self);
        let versions = self.versions(&name).await?;
        if versions.is_empty() {
            return Ok(format!("function {name}: not there"));
        }
        let versions: Vec<String> = versions.iter().map(u64::to_string).collect();
        let versions = versions.join(", ");
        Ok(match self.live(function).await? {
            None => format!("function {name}: versions {versions}, none live"),
            Some(live) => {
                let back = live.mark.before.map_or_else(
                    || "no way back".to_owned(),
                    |before| format!("back to {before}"),
                );
                format!(
                    "function {name}: versions {versions}, live {}, {back}",
                    live.version
                )
            }
        })
    }

    async fn queues(&self) -> Result<(), Error> {
        let Some(outputs) = self.outputs(self.stack.as_str()).await? else {
            return Ok(());
        };
        let client = aws_sdk_sqs::Client::new(&self.config);
        for queue in QUEUES {
            let url = outputs.get(queue)?;
            let ask = client.get_queue_attributes().queue_url(&url);
            let told = ask.attribute_names(QueueAttributeName::All).send().await;
            let told = told.map_err(|error| {
                Error::aws(
                    format!("asking the queue {url}"),
                    &error.into_service_error(),
                )
            })?;
            let count = |name| {
                let all = told.attributes.as_ref();
                all.and_then(|it| it.get(&name)).map_or("?", String::as_str)
            };
            let waiting = count(QueueAttributeName::ApproximateNumberOfMessages);
            let taken = count(QueueAttributeName::ApproximateNumberOfMessagesNotVisible);
            let later = count(QueueAttributeName::ApproximateNumberOfMessagesDelayed);
            let name = url.rsplit('/').next().unwrap_or(&url);
            self.say(format!(
                "queue {name}: {waiting} waiting, {taken} being handled, {later} for later"
            ));
        }
        Ok(())
    }
}
