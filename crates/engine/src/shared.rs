//! One answer for all who ask at the same time.

use domain::status::Status;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;

use crate::backend::Error;
use crate::metrics::Metrics;

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
    pub(crate) async fn get(
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
    pub(crate) status: Shared<Status>,
    pub(crate) figures: Shared<Metrics>,
}
