//! The wire types of Gaffer's HTTP API, a typed client of it, and the tools for coding agents that are made of its
//! calls.
//!
//! Nothing here knows the engine: [`wire`] is what other programs may rely on.

pub mod mcp;
pub mod wire;

mod error;

mod client;
mod plain_words;

pub use client::{
    Answer, CALL_TIMEOUT, Client, EventQuery, JobQuery, Request, Transport, TransportResponse,
};
pub use error::Error;
pub use plain_words::in_plain_words;
pub use wire::{DeliveryQuery, MailOrder};
