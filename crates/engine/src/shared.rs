//! One answer for all who ask at the same time.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;

use crate::backend::{Backend, Error};
use crate::metrics::Metrics;
use crate::status::Status;

/// Maximum age of a shared answer: too short to notice, and it bounds the cost of any number of readers.
pub(crate) const SHARED_FOR: SignedDuration = SignedDuration::from_secs(1);

/// The last answer to one question, or why there was none. Who asks while it is being found waits for it and asks nothing.
#[derive(Debug)]
pub(crate) struct Shared<T>(Mutex<Option<(Timestamp, Result<T, Error>)>>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone> Shared<T> {
    /// The last answer if it is young enough, else a new one. One from a time that has not come is from a clock that was ahead.
    async fn get(
        &self,
        now: impl Fn() -> Timestamp,
        find: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let mut last = self.0.lock().await;
        if let Some((at, answer)) = last.as_ref() {
            let age = now().duration_since(*at);
            if !age.is_negative() && age < SHARED_FOR {
                return answer.clone();
            }
        }
        let answer = find.await;
        *last = Some((now(), answer.clone()));
        answer
    }
}

/// What is asked for by many at once.
#[derive(Debug, Default)]
pub(crate) struct SharedAnswers {
    status: Shared<Status>,
    figures: Shared<Metrics>,
}

impl Backend {
    /// The status of the last second: many callers at once share one answer.
    pub async fn shared_status(&self) -> Result<Status, Error> {
        let answers = Arc::clone(&self.answers);
        let find = self.status();
        answers.status.get(|| self.now(), find).await
    }

    /// Figures of the moment, likewise.
    pub async fn shared_figures(&self) -> Result<Metrics, Error> {
        let answers = Arc::clone(&self.answers);
        let find = self.metrics();
        Box::pin(answers.figures.get(|| self.now(), find)).await
    }
}
