//! Samples of one quantity: their mean, median and 99th percentile.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::figure::{Figure, Target};

/// How samples are spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spread {
    pub(crate) mean: f64,
    /// Half of them are no more than this.
    pub(crate) p50: f64,
    /// All but a hundredth of them are no more than this.
    pub(crate) p99: f64,
}

impl Spread {
    /// The spread of some samples; all zero for none.
    pub(crate) fn from_samples(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        let at = |share: usize| {
            let place = (samples.len() * share).div_ceil(100).saturating_sub(1);
            samples.get(place).copied().unwrap_or(0.0)
        };
        let count = u32::try_from(samples.len()).unwrap_or(u32::MAX).max(1);
        Self {
            mean: samples.iter().sum::<f64>() / f64::from(count),
            p50: at(50),
            p99: at(99),
        }
    }

    /// Three figures; the mean carries the target.
    pub(crate) fn figures(
        self,
        section: &'static str,
        name: &str,
        unit: &'static str,
        target: Option<Target>,
    ) -> Vec<Figure> {
        let figure =
            |what: &str, value| Figure::new(section, format!("{name}, {what}"), value, unit);
        let mut mean = figure("mean", self.mean);
        mean.target = target;
        vec![mean, figure("p50", self.p50), figure("p99", self.p99)]
    }
}

/// A duration in microseconds.
pub(crate) fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Does something often and tells how many microseconds each time took; the first tenth warms up and is left out.
pub(crate) fn time_each(times: usize, mut act: impl FnMut()) -> Spread {
    let mut samples = Vec::with_capacity(times);
    for turn in 0..times + times / 10 {
        let began = Instant::now();
        act();
        let took = micros(began.elapsed());
        if turn >= times / 10 {
            samples.push(took);
        }
    }
    Spread::from_samples(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_tells_its_samples() {
        let spread = Spread::from_samples((1..=200).rev().map(f64::from).collect());
        assert_eq!((spread.mean, spread.p50, spread.p99), (100.5, 100.0, 198.0));
        let none = Spread::from_samples(Vec::new());
        assert_eq!((none.mean, none.p50, none.p99), (0.0, 0.0, 0.0));
    }
}
