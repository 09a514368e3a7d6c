//! Backups, exports and imports.

pub(crate) mod backup;
pub(crate) mod export;
pub(crate) mod import;
