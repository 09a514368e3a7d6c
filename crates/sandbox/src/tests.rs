//! Tests of the whole sandbox over real sockets.

mod agents;
mod contents;
mod control;
mod faults;
mod running;
mod scenarios;
pub(crate) mod stand;
