//! Loads, asks `domain` what to do, saves, performs; and defines the ports to the outside.
//!
//! Three roles share one [`desk::Desk`]: orders and queries ([`jobs`]), the [`poller::Poller`] that reads Jules, and
//! the [`dispatcher::Dispatcher`], the only one that writes outside.

pub mod ports;

pub mod keys;
pub mod store;
pub mod work;

mod ahead;
pub mod counts;
pub mod dead;
pub mod desk;
pub mod doctor;
mod save;

pub mod dossier;
pub mod events;
pub mod figures;
pub mod forget;
pub mod journal;

mod gap;
pub mod import;

pub mod poller;
pub mod ticks;

pub mod dispatcher;

pub mod hooks;
pub mod inbox;
pub mod installation;
pub mod jobs;
pub mod machine;
pub mod readings;
mod resume;
pub mod settings;
mod shared;
mod slots;
mod sources;
pub mod status;
mod tokens;
pub mod usage;
pub mod wait;
pub mod waits;
pub mod wakes;
pub mod why;
