//! The API from outside: the real router over an in-memory store, with no dispatcher but where a test plays one.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod advice;
mod answers;
mod auth;
mod bad_input;
mod deliveries;
mod delivery_agents;
mod events;
mod inbox;
mod instead;
mod mail;
mod matrix;
mod mcp;
mod merging;
mod metrics;
mod naming;
mod openapi;
mod ordering;
mod over_the_wire;
mod pages;
mod pipelines;
mod pushing;
mod reading;
mod registering;
mod runs;
mod sources;
mod sprints;
mod tokens;
mod webhooks;
mod world;
