//! Test support.

pub mod clock;
