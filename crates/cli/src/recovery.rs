//! What is stored, taken out and put back: backups, exports, imports.

pub(crate) mod backup;
pub(crate) mod export;
pub(crate) mod import;
