//! What the simulated sessions do: when they come, how long they work, and what they then want. Seeded, so that every run plays the same.

use jiff::SignedDuration;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp, LogNormal};

/// One seed for all: rates and weights differ in nothing else.
const SEED: u64 = 20_261_122;

/// Half of all sessions want something within this many minutes.
pub(crate) const MEDIAN_MINUTES: f64 = 15.0;

/// How far the others are from it: the deviation of the logarithm.
const SIGMA: f64 = 0.8;

/// What a session comes to want.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wants {
    /// An answer.
    Answer,
    /// A look at its pull request.
    Review,
    /// A decision about its failure.
    Care,
}

/// One session's life.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    /// When its job is handed over, after the simulation began.
    pub(crate) comes: SignedDuration,
    /// How long after its creation it wants something.
    pub(crate) decides_after: SignedDuration,
    pub(crate) wants: Wants,
}

/// The lives of some sessions that come at a rate, independently of each other, and of which half want something within some minutes.
pub(crate) fn lives(jobs: u32, an_hour: u32, median_minutes: f64) -> Vec<Life> {
    let mut dice = StdRng::seed_from_u64(SEED);
    // Both are positive constants, so neither distribution can be refused; an empty list would be reported.
    let (Ok(gaps), Ok(times)) = (
        Exp::new(f64::from(an_hour) / 3_600.0),
        LogNormal::new((median_minutes * 60.0).ln(), SIGMA),
    ) else {
        return Vec::new();
    };
    let mut now = 0.0;
    (0..jobs)
        .map(|_| {
            now += gaps.sample(&mut dice);
            Life {
                comes: SignedDuration::try_from_secs_f64(now).unwrap_or(SignedDuration::MAX),
                decides_after: SignedDuration::try_from_secs_f64(times.sample(&mut dice))
                    .unwrap_or(SignedDuration::MAX),
                wants: match dice.random_range(0..10) {
                    0..4 => Wants::Answer,
                    4..9 => Wants::Review,
                    _ => Wants::Care,
                },
            }
        })
        .collect()
}
