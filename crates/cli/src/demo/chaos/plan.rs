//! Where and when a seed kills: the first twenty between them kill at every moment, later ones wherever the dice fall.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use rand::RngExt;
use rand::rngs::StdRng;

use super::moment::{Kind, Moment, Place};

/// Random deaths of one seed, at most.
const RANDOM_DEATHS: usize = 2;

/// When the last of them comes, in seconds of virtual time.
const RANDOM_WITHIN: i64 = 200;

/// The moments and times at which a seed kills; times with the last one first.
pub(super) fn of(
    seed: u64,
    dice: &mut StdRng,
    begin: Timestamp,
) -> (BTreeSet<Moment>, Vec<Timestamp>) {
    let kinds = Kind::ALL.len() as u64;
    let places = [Place::Before, Place::After];
    let turn = seed.wrapping_sub(1);
    let (kind, place) = match (usize::try_from(turn / 2), usize::try_from(turn % 2)) {
        (Ok(kind), Ok(place)) if turn < kinds * 2 => (Kind::ALL[kind], places[place]),
        _ => (pick(dice, &Kind::ALL), pick(dice, &places)),
    };
    // A death around its call leaves an effect unknown, so that it has to be settled.
    let settling = Moment {
        kind,
        place: Place::Settling,
    };
    let other = Moment {
        kind: pick(dice, &Kind::ALL),
        place: pick(dice, &places),
    };
    let moments = BTreeSet::from([Moment { kind, place }, settling, other]);
    let mut times: Vec<Timestamp> = (0..dice.random_range(0..=RANDOM_DEATHS))
        .map(|_| begin + SignedDuration::from_secs(dice.random_range(0..RANDOM_WITHIN)))
        .collect();
    times.sort_by(|one, other| other.cmp(one));
    (moments, times)
}

fn pick<T: Copy>(dice: &mut StdRng, all: &[T]) -> T {
    all[dice.random_range(0..all.len())]
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    #[test]
    fn twenty_seeds_kill_at_every_moment() {
        let mut killed = BTreeSet::new();
        for seed in 1..=20 {
            let mut dice = StdRng::seed_from_u64(seed);
            killed.extend(of(seed, &mut dice, Timestamp::UNIX_EPOCH).0);
        }
        assert!(Moment::all().all(|moment| killed.contains(&moment)));
    }

    #[test]
    fn a_seed_kills_the_same_way_every_time() {
        for seed in [0, 7, 999, u64::MAX] {
            let one = of(
                seed,
                &mut StdRng::seed_from_u64(seed),
                Timestamp::UNIX_EPOCH,
            );
            let other = of(
                seed,
                &mut StdRng::seed_from_u64(seed),
                Timestamp::UNIX_EPOCH,
            );
            assert_eq!(one, other);
            assert!(one.1.is_sorted_by(|one, other| one >= other));
        }
    }
}
