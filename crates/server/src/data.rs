//! The data folder: opens the store, the queue and the secrets of one Gaffer on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use engine::backend::Backend;
use engine::machine::{RandomIds, SystemClock};
use engine::ports::{Clock, Records, Secrets};
use engine::store::Store;
use local::{Database, LocalQueue, SecretFiles};
use secrecy::SecretString;

/// The queue of wake-ups.
pub const WORK_QUEUE: &str = "work";

/// Everything that one data folder holds, opened.
pub struct Data {
    /// The folder.
    pub folder: PathBuf,
    /// Store, queue, time and ids.
    pub backend: Backend,
    /// The records beneath the store, for layers in between.
    pub records: Arc<dyn Records>,
    /// The queue, for tasks that wait for messages in this process.
    pub queue: Arc<LocalQueue>,
    /// Secrets by name.
    pub secrets: Arc<dyn Secrets>,
    /// The machine's clock.
    pub clock: Arc<dyn Clock>,
}

/// Opens a data folder, creating it when it is new. Secrets from the environment override files of the same name.
pub async fn open(folder: &Path, overlay: BTreeMap<String, SecretString>) -> Result<Data> {
    open_by(folder, overlay, Arc::new(SystemClock)).await
}

/// The same by another clock than the machine's.
pub async fn open_by(
    folder: &Path,
    overlay: BTreeMap<String, SecretString>,
    clock: Arc<dyn Clock>,
) -> Result<Data> {
    local::prepare_folder(folder)
        .with_context(|| format!("preparing the data folder {}", folder.display()))?;
    let path = folder.join(local::DATABASE_FILE);
    let database = Database::open(&path).with_context(|| format!("opening {}", path.display()))?;
    let records: Arc<dyn Records> = Arc::new(local::Store::new(&database));
    let queue = Arc::new(LocalQueue::new(&database, WORK_QUEUE, clock.clone()));
    let secrets: Arc<dyn Secrets> = Arc::new(SecretFiles::new(&folder.join("secrets"), overlay));
    let store = Store::new(records.clone());
    let installation = engine::installation::load_or_create(&store, &RandomIds, clock.now())
        .await
        .context("finding out which installation this is")?;
    let backend = Backend::new(
        records.clone(),
        queue.clone(),
        clock.clone(),
        Arc::new(RandomIds),
        installation,
    );
    Ok(Data {
        folder: folder.to_owned(),
        backend,
        records,
        queue,
        secrets,
        clock,
    })
}

/// Everything of a copy that is not worked with yet. Its installation is the one it was made of.
pub async fn of_copy(path: &Path) -> Result<Backend> {
    let database = Database::open(path).with_context(|| format!("opening {}", path.display()))?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let records = Arc::new(local::Store::new(&database));
    let queue = Arc::new(LocalQueue::new(&database, WORK_QUEUE, clock.clone()));
    let known = Store::new(records.clone())
        .installation()
        .await
        .context("reading which installation the backup is of")?;
    let Some(known) = known else {
        anyhow::bail!(
            "the backup names no installation: it was made of a data folder that was never used"
        );
    };
    Ok(Backend::new(
        records,
        queue,
        clock,
        Arc::new(RandomIds),
        known.id,
    ))
}
