//! The GitHub adapter: reads and writes pull requests over octocrab, and parses signed webhooks.
//!
//! [`Reader`] and [`Writer`] share one [`Client`]; only a `Writer` can change anything on GitHub.
//! The `webhook` module needs none of them.
//!
//! TLS: the process is expected to install a rustls provider (ring) before the first call; without one, octocrab
//! takes ring by itself.
//! Octocrab's own waiting, retries, redirects and caching are all off.

mod app;
mod client;
mod facts;
mod graph;
mod hooks;
mod manifest;
mod probe;
mod reader;
mod text;
pub mod webhook;
mod wire;
mod writer;

pub use app::{Account, AppMaker, Installed, NewApp};
pub use client::{BETWEEN_WRITES, Client, Error, Settings};
pub use manifest::{EVENTS, PERMISSIONS, Wanted, form_address, manifest};
pub use probe::Probe;
pub use reader::Reader;
pub use writer::Writer;
