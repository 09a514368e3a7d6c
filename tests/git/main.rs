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
mod history;
mod index;
mod merges;
mod weaves;

/// How many cases of a kind there are: some seconds of git, or all of them with `GAFFER_CASES=all`.
fn cases(some: usize, all: usize) -> usize {
    let wanted = std::env::var_os("GAFFER_CASES");
    if wanted.is_some_and(|it| it == "all") {
        all
    } else {
        some
    }
}
