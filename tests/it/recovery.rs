//! Data that outlives a process, a disk and a version: restored backups, and records that another version wrote.

mod deliveries;
mod flight;
mod forgetting;
mod goldens;
mod importing;
mod restores;
