//! Integration tests over the whole of Gaffer.

mod contract;
mod stories;
mod tidy;
mod webhooks;
