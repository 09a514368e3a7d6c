//! The weaver beside the real git: the same patches and merges, verdict and bytes compared.
//!
//! Cases are random with a fixed seed; a case that differs is printed whole.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(
    clippy::print_stdout,
    reason = "how many cases there were, for who asks with --nocapture"
)]

mod applies;
mod dice;
mod git;
mod merges;
mod weaves;
