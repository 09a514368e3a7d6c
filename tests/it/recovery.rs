//! Data that outlives a process, a disk and a version: restored backups, and records that another version wrote.

mod flight;
mod forgetting;
mod goldens;
mod importing;
mod restores;
