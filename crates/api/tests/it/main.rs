//! The door from outside: the real router over an in-memory store, with no dispatcher but where a test plays one.

mod answers;
mod auth;
mod bad_input;
mod logs;
mod merging;
mod ordering;
mod over_the_wire;
mod reading;
mod webhooks;
mod world;
