//! Poller and dispatcher without an API and without loops: the caller runs what is due, and no more.

use std::time::Duration;

use anyhow::{Context, Result};
use engine::dispatcher::Dispatcher;
use engine::poller::{Poller, Tick};
use futures::future::join_all;
use tokio::sync::watch;

use super::{Base, Settings, WORKERS, adapters, take_over};

/// Most rounds of one pass: what is due again and again is left to the next.
const ROUNDS_MAX: u32 = 200;

/// Longest wait for news while another process works on the request.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// The poller and the dispatcher.
pub struct Runner {
    backend: engine::backend::Backend,
    poller: Poller,
    dispatcher: Dispatcher,
}

impl Runner {
    /// Over a data folder whose lock the caller holds.
    pub async fn new(base: &Base, settings: &Settings) -> Result<Self> {
        let (readers, writers) = adapters(base, settings)?;
        let backend = base.backend.clone().observe_only(settings.observe_only);
        if let Some(queue) = &base.bell {
            take_over(queue, &backend).await?;
        }
        Ok(Self {
            poller: Poller::new(backend.clone(), readers.sessions.clone()),
            dispatcher: Dispatcher::new(backend.clone(), readers, writers).without_webhooks(),
            backend,
        })
    }

    /// Does everything that is due, until nothing is any more or the process is to stop.
    pub async fn pass(&self, stopped: &watch::Receiver<bool>) -> Result<()> {
        for _ in 0..ROUNDS_MAX {
            if *stopped.borrow() {
                return Ok(());
            }
            let tick = self.poller.tick().await.context("looking what is due")?;
            let handled = self.drain().await?;
            if tick == Tick::default() && handled == 0 {
                return Ok(());
            }
        }
        tracing::warn!("something is due again and again; the rest is left to the next pass");
        Ok(())
    }

    /// Runs pass after pass until a future that waits for their results is done. A pass is never cancelled: work that
    /// it began would be found again only after a while.
    pub async fn pass_during<T>(
        &self,
        something: impl Future<Output = T>,
        stopped: &watch::Receiver<bool>,
    ) -> Result<T> {
        let (done, mut is_done) = watch::channel(false);
        let something = async {
            let came = something.await;
            done.send_replace(true);
            came
        };
        let passes = async {
            while !*is_done.borrow() {
                self.pass(stopped).await?;
                tokio::select! {
                    () = self.backend.saved() => {}
                    _ = tokio::time::timeout(LOOK_AGAIN, is_done.wait_for(|done| *done)) => {}
                }
            }
            Ok(())
        };
        let (came, passed): (T, Result<()>) = tokio::join!(something, passes);
        passed.map(|()| came)
    }

    /// Handles one batch for each worker: one slow call must not hold up the others.
    async fn drain(&self) -> Result<usize> {
        let batches = (0..WORKERS).map(|_| self.dispatcher.drain());
        let mut handled = 0;
        for batch in join_all(batches).await {
            handled += batch.context("taking messages")?;
        }
        Ok(handled)
    }
}
