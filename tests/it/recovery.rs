//! What outlives a process and a disk: backups that are put back.

mod restores;
