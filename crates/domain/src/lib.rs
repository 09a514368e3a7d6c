//! Decides what to do next about jobs, pull requests, accounts and wakes.
//!
//! Nothing here waits, reads a clock, draws a random number, logs or talks to anyone: every function depends on its arguments alone.
//! Modules are in the best order for reading.
//! Files depend on each other in one direction only, apart from a file and those below it: ids and plain types are at the bottom, what
//! speaks of several records is on top.

mod address;
mod by_text;
pub mod ids;
pub mod layer;
pub mod nearest;
pub mod when;

pub mod failure;
pub mod session;

pub mod facts;

pub mod notes;
pub mod policy;
pub mod web_page;

pub mod event;

pub mod effect;

pub mod advice;
pub mod reasoned;
pub mod refusal;
pub mod step;

pub mod marker;

pub mod job;

pub mod link;

pub mod merge;

pub mod pull;

pub mod pipeline;
pub mod schedule;
pub mod sprint;

pub mod delivery;
pub mod intake;

pub mod acceptance;

pub mod account;
pub mod clock_rollback;

pub mod governor;

pub mod priority;

pub mod cadence;
pub mod tick;
pub mod token;

pub mod wake;

pub mod mail;

pub mod fence;
pub mod github_access;
pub mod outgoing_text;
pub mod redact;
pub mod redelivery;
pub mod webhook_activity;

pub mod conversation;
pub mod doctor;
pub mod status;
pub mod why;

#[cfg(feature = "schema")]
pub mod schema;

#[cfg(test)]
mod properties;
