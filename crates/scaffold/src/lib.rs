//! The files of a repository that agents work by: what they are, where they lie, and what is wrong with them.
//!
//! Nothing here reads a disk, a network or a clock: every function depends on its arguments alone.
//! A repository is a [`tree::Tree`] that the caller has read.

pub mod assets;
pub mod commits;
pub mod config;
pub mod doctor;
mod engine;
pub mod exchange;
pub mod fault;
pub mod inspection;
pub mod kit;
pub mod layout;
pub mod migration;
pub mod mock;
pub mod persona;
pub mod pin;
pub mod prompt;
pub mod roles;
pub mod scope;
pub mod setup;
pub mod timetable;
pub mod tree;
pub mod yaml;
