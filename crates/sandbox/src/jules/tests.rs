//! Tests of the small Jules over real sockets: each trap and each switch has one that fails when it breaks.

mod consistency;
mod lists;
mod messages;
mod plans;
mod quota;
mod refusals;
mod shapes;
mod stories;
