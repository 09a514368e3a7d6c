//! Where and when a seed kills: the first thirteen between them kill at every moment, later ones wherever the dice fall.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use rand::RngExt;
use rand::rngs::StdRng;

use crate::moment::{KillPlace, Kind, Moment};

/// Among so many seeds, which the test command plays, every moment comes up.
pub(crate) const SEEDS: u64 = 13;

/// Random deaths of one seed, at most.
const RANDOM_DEATHS: usize = 2;

/// When the last of them comes, in seconds of virtual time.
const RANDOM_WITHIN: i64 = 200;

/// Places around the call. A death at one of them leaves an effect unknown, so that it has to be settled.
const AROUND: [KillPlace; 2] = [KillPlace::Before, KillPlace::After];

/// What a seed does to Gaffer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Moments to kill at, each once.
    pub(crate) moments: BTreeSet<Moment>,
    /// Times to kill at, the last one first.
    pub(crate) times: Vec<Timestamp>,
    /// Whether a create is done twice because its answer is lost and no list shows it.
    pub(crate) duplicate: bool,
}

pub(crate) fn of(seed: u64, dice: &mut StdRng, begin: Timestamp) -> Plan {
    let mut cells = assigned(seed);
    let mut moments = BTreeSet::new();
    if cells.is_empty() {
        cells.push(throw(dice));
    }
    if cells.len() == 1 {
        moments.insert(throw(dice));
    }
    for Moment { kind, place } in cells {
        let settling = KillPlace::Settling;
        moments.extend([place, settling].map(|place| Moment { kind, place }));
    }
    let mut times: Vec<Timestamp> = (0..dice.random_range(0..=RANDOM_DEATHS))
        .map(|_| begin + SignedDuration::from_secs(dice.random_range(0..RANDOM_WITHIN)))
        .collect();
    times.sort_by(|one, other| other.cmp(one));
    let duplicate = moments.iter().any(|it| it.kind == Kind::ArchiveDuplicate);
    Plan {
        moments,
        times,
        duplicate,
    }
}

/// The moments around a call that the first seeds share out among themselves; none for later seeds.
fn assigned(seed: u64) -> Vec<Moment> {
    let Some(turn) = seed.checked_sub(1).filter(|turn| *turn < SEEDS) else {
        return Vec::new();
    };
    let of = |kind: &Kind| AROUND.map(|place| Moment { kind: *kind, place });
    let all = (0_u64..).zip(Kind::all().iter().flat_map(of));
    all.filter(|(number, _)| number % SEEDS == turn)
        .map(|(_, moment)| moment)
        .collect()
}

fn throw(dice: &mut StdRng) -> Moment {
    Moment {
        kind: pick(dice, Kind::all()),
        place: pick(dice, &AROUND),
    }
}

fn pick<T: Copy>(dice: &mut StdRng, all: &[T]) -> T {
    all[dice.random_range(0..all.len())]
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    fn plan(seed: u64) -> Plan {
        let mut dice = StdRng::seed_from_u64(seed);
        of(seed, &mut dice, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn the_seeds_of_the_test_command_kill_at_every_moment() {
        let killed: BTreeSet<Moment> = (1..=SEEDS).flat_map(|seed| plan(seed).moments).collect();
        assert!(Moment::all().all(|moment| killed.contains(&moment)));
    }

    #[test]
    fn a_seed_kills_the_same_way_every_time() {
        for seed in [0, 7, 999, u64::MAX] {
            let one = plan(seed);
            assert_eq!(one, plan(seed));
            assert!(one.times.is_sorted_by(|one, other| one >= other));
        }
    }
}
