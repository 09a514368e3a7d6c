//! Waiting for a change that another task or process saves.

use std::future::pending;
use std::time::Duration;

use tokio::time::timeout;

use crate::backend::Backend;

/// Interval of the checks while waiting, since another process may have saved something.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitState<T> {
    /// The awaited result.
    Enough(T),
    /// The state while it is not there.
    NotYet(T),
}

impl<T> WaitState<T> {
    /// Enough, if it is.
    pub fn if_enough(value: T, is_enough: bool) -> Self {
        if is_enough {
            Self::Enough(value)
        } else {
            Self::NotYet(value)
        }
    }
}

impl Backend {
    /// Checks again whenever something may have changed, until the result is enough or `waiting` ends: then it returns the present state.
    pub async fn look_while<T, E, F>(
        &self,
        waiting: impl Future<Output = ()> + Send,
        mut look: impl FnMut() -> F + Send,
    ) -> Result<T, E>
    where
        F: Future<Output = Result<WaitState<T>, E>> + Send,
    {
        let mut waiting = std::pin::pin!(waiting);
        let mut interval = tokio::time::interval(LOOK_AGAIN);
        loop {
            let so_far = match look().await? {
                WaitState::Enough(value) => return Ok(value),
                WaitState::NotYet(value) => value,
            };
            tokio::select! {
                biased;
                () = &mut waiting => return Ok(so_far),
                () = self.saved() => {}
                _ = interval.tick() => {}
            }
        }
    }

    /// The same with a time limit, for the API.
    pub async fn look_within<T, E, F>(
        &self,
        within: Duration,
        look: impl FnMut() -> F + Send,
    ) -> Result<T, E>
    where
        F: Future<Output = Result<WaitState<T>, E>> + Send,
    {
        let over = async move {
            drop(timeout(within, pending::<()>()).await);
        };
        self.look_while(over, look).await
    }
}
