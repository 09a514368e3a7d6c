//! Test support: a hand-moved clock, and a whole Gaffer around the sandbox on it.

pub mod clock;
pub mod world;
