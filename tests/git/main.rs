//! The weaver beside the real git: the same patches and merges, verdict and bytes compared.
//!
//! Cases are random with a fixed seed; a case that differs is printed whole.

mod applies;
mod dice;
mod git;
mod merges;
