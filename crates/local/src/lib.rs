//! Gaffer on one machine: records and queues in one SQLite file, secrets in files, the machine's clock.
//!
//! Nothing here decides anything; the ports it fills are the engine's.

mod error;

mod backup;
mod database;
mod inspect;
mod lock;
mod migrations;
mod queue;
mod restore;
mod secrets;
mod store;

pub use backup::{BackupInfo, back_up};
pub use database::{Database, prepare_folder};
pub use error::Error;
pub use inspect::inspect;
pub use lock::{FolderLock, LOCK_FILE, is_worked_over, noted};
pub use queue::{DEAD_LETTERS_KEPT, LocalQueue, RECEIVES_MAX};
pub use restore::{DATABASE_FILE, Staged, occupied};
pub use secrets::SecretFiles;
pub use store::Store;
