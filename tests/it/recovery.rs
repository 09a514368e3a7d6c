//! What outlives a process, a disk and a version: backups that are put back, and records that another version wrote.

mod flight;
mod forgetting;
mod goldens;
mod importing;
mod restores;
