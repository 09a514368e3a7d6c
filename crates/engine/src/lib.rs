//! Loads, asks `domain` what to do, saves, performs; and defines the ports to the outside.
//!
//! Three roles share one [`backend::Backend`]: orders and queries ([`jobs`]), the [`poller::Poller`] that reads Jules, and
//! the [`dispatcher::Dispatcher`], the only one that writes outside.

pub mod ports;

pub mod keys;
pub mod store;
pub mod work;

pub mod backend;
mod clock_rollback;
pub mod counts;
pub mod dead_letters;
pub mod deliveries;
pub mod doctor;
mod save;

pub mod events;
pub mod job_export;
pub mod journal;
pub mod metrics;
pub mod retention;

pub mod import;
mod restore;

pub mod pipelines;
pub mod poller;
pub mod ticks;

pub mod dispatcher;

pub mod in_use;
pub mod inbox;
pub mod installation;
pub mod job_state;
pub mod jobs;
pub mod machine;
pub mod mail;
pub mod open_work;
pub mod readings;
mod resume;
pub mod settings;
mod shared;
mod slots;
pub mod sources;
pub mod sprints;
mod status;
mod tokens;
pub mod usage;
pub mod wait;
pub mod waits;
pub mod wakes;
pub mod weaving;
pub mod webhook_logs;
pub mod why;
