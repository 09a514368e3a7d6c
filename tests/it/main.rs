//! Integration tests over the whole of Gaffer.

mod contract;
mod faults;
mod invariants;
mod outsiders;
mod races;
mod stories;
mod tidy;
mod webhooks;
