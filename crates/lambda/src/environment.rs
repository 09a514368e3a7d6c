//! The backend over AWS, from a function's settings.

use std::sync::Arc;

use aws::{Counters, Parameters, SqsQueue, Table};
use aws_config::SdkConfig;
use engine::backend::Backend;
use engine::machine::{RandomIds, SystemClock};
use engine::ports::{Clock, Queue, Records, Secrets};
use engine::store::Store;
use engine::usage::Recorder;

use crate::aws_environment;
use crate::settings::{QueueAddress, Settings, SettingsError};

/// Why a function could not begin.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A required setting is missing.
    #[error(
        "beginning: this function needs {0}, which its deployment does not name; deploy it again with its stack"
    )]
    Unnamed(&'static str),
    /// The table does not answer.
    #[error("beginning: which installation this is could not be read: {0}")]
    Backend(#[from] engine::backend::Error),
}

/// Where a function works.
pub struct FunctionEnvironment {
    config: SdkConfig,
    settings: Settings,
    counters: Counters,
    /// The queue of wake-ups, one for all who ask: what warms it warms it for them.
    work: SqsQueue,
}

impl FunctionEnvironment {
    /// The place that the settings name.
    pub fn new(config: SdkConfig, settings: Settings) -> Self {
        let counters = Counters::default();
        let work = sqs(&config, &settings.work, &counters);
        Self {
            config,
            settings,
            counters,
            work,
        }
    }

    /// The place that the environment of this process describes.
    #[expect(
        clippy::disallowed_methods,
        reason = "called once by a function's main, as the settings are"
    )]
    pub fn from_env() -> Result<Self, SettingsError> {
        let settings = Settings::from_env()?;
        let surroundings = aws_environment::aws_environment(|name| std::env::var(name).ok())?;
        Ok(Self::new(aws::connect_inside(surroundings), settings))
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Stores what this role uses, now and then.
    pub fn recorder(&self, role: &'static str) -> Recorder {
        Recorder::new(role, Arc::new(self.counters.clone()))
    }

    /// The time.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(SystemClock)
    }

    /// Secrets of this stack, within the rights of the function's role.
    pub fn secrets(&self) -> Arc<dyn Secrets> {
        Arc::new(Parameters::new(&self.config, &self.settings.stack))
    }

    /// The queue of wake-ups.
    pub fn work(&self) -> Arc<dyn Queue> {
        Arc::new(self.work.clone())
    }

    /// Opens the connection to the queue of wake-ups.
    pub async fn warm_work(&self) {
        self.work.warm().await;
    }

    /// The queue of ticks.
    pub fn ticks(&self) -> Result<Arc<dyn Queue>, OpenError> {
        let ticks = self.settings.ticks.as_ref();
        let ticks = ticks.ok_or(OpenError::Unnamed("the queue of ticks"))?;
        Ok(Arc::new(sqs(&self.config, ticks, &self.counters)))
    }

    /// Opens store, queue, time and ids. Reading the installation's id also opens the connection to the table before
    /// the first invocation needs it.
    pub async fn backend(&self) -> Result<Backend, OpenError> {
        let table = self.settings.table.as_ref();
        let table = table.ok_or(OpenError::Unnamed("the table"))?;
        let records: Arc<dyn Records> =
            Arc::new(Table::metered(&self.config, table, self.counters.clone()));
        let clock = self.clock();
        let store = Store::new(records.clone());
        let installation =
            engine::installation::load_or_create(&store, &RandomIds, clock.now()).await?;
        let backend = Backend::new(
            records,
            self.work(),
            clock,
            Arc::new(RandomIds),
            installation,
        );
        Ok(backend.observe_only(self.settings.observe_only))
    }
}

/// A queue at its address, whose calls are counted.
fn sqs(config: &SdkConfig, address: &QueueAddress, counters: &Counters) -> SqsQueue {
    SqsQueue::metered(config, &address.url, &address.dead_url, counters.clone())
}
