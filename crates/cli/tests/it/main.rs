//! The built `gaffer` on data folders of its own: what it prints, stores and ends with.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod accounts;
mod agents;
mod deliveries;
mod demo;
mod doctor;
mod files;
mod first_hour;
mod github_setup;
mod init;
mod jobs;
mod mail;
mod mcp;
mod operations;
mod outside;
mod pipelines;
mod processes;
mod recovery;
mod scaffold;
mod secrets;
mod sources;
mod sprints;
mod switches;
mod tokens;
mod top;
mod usage;
mod waits;
mod walk;
mod weave;
mod world;
mod wrong;
