//! The poller as a function: the schedule or a tick's message invokes it, and it handles all due rows. It reads Jules
//! and writes nothing outside.

use std::sync::Arc;

use domain::tick::TickTrigger;
use engine::backend::Backend;
use engine::machine::SystemClock;
use engine::poller::{Poller, Tick};
use engine::ports::{Clock, Queue, SessionsRead};
use engine::ticks::Ticks;
use engine::usage::Recorder;
use jiff::SignedDuration;
use lambda::{FunctionEnvironment, Unit};
use lambda_runtime::{Context, Error, LambdaEvent};
use serde_json::Value;

/// No more reads with less than this left: one answer of Jules may take as long as a call may, and the results have
/// to be saved.
const KEPT: SignedDuration = SignedDuration::from_secs(35);

/// The poller.
pub struct Function {
    backend: Backend,
    ticks: Ticks,
    /// The name of its figures; empty where they are not recorded.
    stack: String,
    recorder: Option<Recorder>,
}

impl Function {
    /// The poller over a backend, its reader of Jules, and the queue of ticks.
    pub fn new(backend: Backend, sessions: Arc<dyn SessionsRead>, ticks: Arc<dyn Queue>) -> Self {
        let poller = Poller::new(backend.clone(), sessions);
        let ticks = Ticks::new(backend.clone(), poller, ticks);
        Self {
            backend,
            ticks,
            stack: String::new(),
            recorder: None,
        }
    }

    /// The poller that the environment describes, its connections opened.
    pub async fn from_env() -> Result<Self, Error> {
        Self::from_environment(&FunctionEnvironment::from_env()?).await
    }

    /// The poller of a place, its connections opened.
    pub async fn from_environment(environment: &FunctionEnvironment) -> Result<Self, Error> {
        let backend = environment.backend().await?;
        let upstreams = backend.store.upstreams().await?.value;
        let base = environment.settings().jules_base.clone();
        let base = base.or(upstreams.jules_base);
        let base = base.as_deref().unwrap_or(jules::BASE);
        let (settings, warnings) = jules::Settings::at(base)?;
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        let client = jules::Client::new(settings, environment.secrets(), environment.clock())?;
        let sessions = Arc::new(jules::Reader::new(client));
        let function = Self::new(backend, sessions, environment.ticks()?);
        Ok(Self {
            stack: environment.settings().stack.clone(),
            recorder: Some(environment.recorder("poller")),
            ..function
        })
    }

    /// Handles one invocation. A call that fails is not repeated: the schedule finds that the chain broke.
    pub async fn handle(&self, event: LambdaEvent<Value>) -> Result<(), Error> {
        let (event, context) = event.into_parts();
        let trace = context.xray_trace_id.clone();
        aws::within(trace, self.answer(&event, &context)).await
    }

    async fn answer(&self, event: &Value, context: &Context) -> Result<(), Error> {
        let began = self.backend.now();
        let until = lambda::until(context, SystemClock.now(), began, KEPT);
        let mut done = Tick::default();
        for call in calls(event) {
            if let Some(tick) = self.ticks.called(call, until).await? {
                done.polled += tick.polled;
                done.passed_on += tick.passed_on;
                done.failed += tick.failed;
            }
        }
        let now = self.backend.now();
        let took = now.duration_since(began).as_millis();
        let figures = [
            ("AccountsPolled", Unit::Count, u64::from(done.polled)),
            ("RowsPassedOn", Unit::Count, u64::from(done.passed_on)),
            ("RowsFailed", Unit::Count, u64::from(done.failed)),
            (
                "TickTook",
                Unit::Milliseconds,
                u64::try_from(took).unwrap_or(0),
            ),
        ];
        lambda::emit(&self.stack, "poller", now, &figures);
        if let Some(recorder) = &self.recorder {
            let (took_ms, memory_mb) = lambda::used(context, took);
            recorder.invoked(&self.backend, took_ms, memory_mb).await;
        }
        Ok(())
    }
}

/// The calls of an invocation: the messages of a batch, or else the schedule, whatever it sends. A foreign message is
/// logged and dropped.
fn calls(event: &Value) -> Vec<TickTrigger> {
    let Some(records) = event.get("Records").and_then(Value::as_array) else {
        return vec![TickTrigger::Schedule];
    };
    let call = |record: &Value| {
        let body = record.get("body").and_then(Value::as_str);
        let call = body.and_then(|body| serde_json::from_str(body).ok());
        if call.is_none() {
            tracing::error!("a message in the queue of ticks is none of ours, and was dropped");
        }
        call
    };
    records.iter().filter_map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_batch_is_its_messages_and_all_else_the_schedule() {
        assert_eq!(
            calls(&json!({"source": "aws.scheduler"})),
            [TickTrigger::Schedule]
        );
        assert_eq!(calls(&Value::Null), [TickTrigger::Schedule]);
        let batch = json!({"Records": [
            {"messageId": "1", "body": r#"{"tick":"next","gen":7,"version":9}"#},
            {"messageId": "2", "body": "tick"},
            {"messageId": "3"},
        ]});
        let next = TickTrigger::Next {
            generation: 7,
            version: 9,
        };
        assert_eq!(calls(&batch), [next]);
        assert!(calls(&json!({"Records": []})).is_empty());
    }
}
