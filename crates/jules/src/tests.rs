//! The adapter against a service that answers as scripted.

mod errors;
mod keys;
mod paging;
mod reading;
mod service;
mod writing;
