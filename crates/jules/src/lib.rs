//! The adapter to Jules's REST API `v1alpha`: [`Reader`] and [`Writer`] over one [`Client`].
//!
//! Nothing here retries, waits or decides: a call is made once and its failure is put into a class of `domain::failure`.
//! The process must have installed a rustls crypto provider before it builds a [`Client`], also when the base is plain HTTP.

mod error;
mod settings;

mod keys;

mod client;
mod wire;

mod probe;
mod reader;
mod writer;

#[cfg(test)]
mod tests;

pub use client::Client;
pub use error::Error;
pub use probe::Probe;
pub use reader::{ACTIVITY_PAGES_MAX, LIST_PAGES_MAX, PATCH_BYTES_MAX, Reader, SOURCE_PAGES_MAX};
pub use settings::{BASE, BODY_BYTES_MAX, Settings, Warning};
pub use writer::Writer;
