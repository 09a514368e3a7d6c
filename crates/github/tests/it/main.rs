//! The client, reader and writer against a small scripted server on a real socket.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod auth;
mod calls;
mod demands;
mod facts;
mod logs;
mod reads;
mod sandbox;
mod server;
mod world;
mod writes;
