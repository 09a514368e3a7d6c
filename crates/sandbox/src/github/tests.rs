//! Tests of the small GitHub over real sockets, with a clock that moves only when it is set.

mod access;
mod ci;
mod conversation;
mod deploying;
mod issues;
mod merging;
mod moves;
mod reading;
mod shapes;
pub(crate) mod stand;

use stand::Stand;
