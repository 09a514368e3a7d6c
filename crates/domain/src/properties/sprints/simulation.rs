//! How many ticks a sprint of 22 personas takes when one in five conflicts, over 1,000 seeds, beside 23 personas one after
//! the other.
//!
//! At most five ticks means at most one round of mending: launch, weave, mend, weave are four, and a second round with its
//! weave makes six.
//! So the bar of five holds in every seed if each member that mends comes in with the next weave.
//! The rule `answered` gives that for a change that answers what its mail showed, unless that has changed since: when another
//! member that mends the same place comes in before it, or when one came in at another of its places while it was out.
//! Three worlds are played, and the bar is asserted for all seeds of the first only, because in the others it cannot hold:
//!
//! - no member is part of two conflicts, and each answer holds: four ticks at most;
//! - with whom a member conflicts is drawn among all others, so some are part of two conflicts: six at most, or eight where the
//!   weaver resolves what is left;
//! - of a hundred answers fifteen fall short as well: the same, and the weaver resolves more.
//!
//! Six ticks are the limit of three attempts, and the weaver's job adds two, so eight are the most that any world without a
//! moving target takes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use expect_test::expect;

use super::happenings::{all_left, begun, pull_of, report};
use super::*;
use crate::sprint::{Against, Figures, Landing, Offer, Sights, Way, WeaveVerdict, Work};

const PERSONAS: usize = 22;
const WITH_WEAVER: usize = PERSONAS + 1;
const SEEDS: u64 = 1_000;
const CONFLICTS_PERCENT: u64 = 20;

/// What the issue allows a sprint.
const BAR: u32 = 5;

/// How many ticks the same personas and the weaver take one after the other.
const SEQUENTIAL: u32 = 23;

/// Numbers that follow from a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % sides as u64).unwrap()
    }

    fn percent(&mut self, chance: u64) -> bool {
        (self.below(100) as u64) < chance
    }
}

/// With whom members conflict, and how good their answers are.
#[derive(Debug, Clone, Copy)]
struct Model {
    words: &'static str,
    /// Whether a member or its place may be part of two conflicts.
    shares_places: bool,
    falls_short_percent: u64,
}

const MODELS: [Model; 3] = [
    Model {
        words: "nobody is part of two conflicts, each answer holds",
        shares_places: false,
        falls_short_percent: 0,
    },
    Model {
        words: "partners drawn among all, each answer holds",
        shares_places: true,
        falls_short_percent: 0,
    },
    Model {
        words: "partners drawn among all, 15 of 100 answers fall short",
        shares_places: true,
        falls_short_percent: 15,
    },
];

impl Model {
    /// Who changes whose place too.
    fn pairs(self, dice: &mut Dice) -> Vec<(usize, usize)> {
        let mut drawn = Vec::new();
        let mut free: Vec<usize> = (0..PERSONAS).collect();
        for member in 0..PERSONAS {
            if !dice.percent(CONFLICTS_PERCENT) {
                continue;
            }
            if self.shares_places {
                let other = (member + 1 + dice.below(PERSONAS - 1)) % PERSONAS;
                drawn.push((member, other));
            } else if free.len() >= 2 {
                let one = free.swap_remove(dice.below(free.len()));
                let other = free.swap_remove(dice.below(free.len()));
                drawn.push((one, other));
            }
        }
        drawn
    }
}

/// A repository with a place for each member, which the member that comes in last writes.
struct World {
    dice: Dice,
    model: Model,
    /// The places that each member changes.
    changes: Vec<Vec<usize>>,
    /// What each member answers, by place: who wrote what was there.
    answers: Vec<BTreeMap<usize, usize>>,
    /// What its last conflict showed it.
    shown: Vec<BTreeMap<usize, usize>>,
    heads: Vec<u64>,
}

impl World {
    fn new(seed: u64, model: Model) -> Self {
        let mut dice = Dice(seed);
        // What the weaver resolves is its own: it meets no one.
        let mut changes: Vec<Vec<usize>> = (0..WITH_WEAVER).map(|it| vec![it]).collect();
        for (member, place) in model.pairs(&mut dice) {
            changes[member].push(place);
        }
        Self {
            dice,
            model,
            changes,
            answers: vec![BTreeMap::new(); WITH_WEAVER],
            shown: vec![BTreeMap::new(); WITH_WEAVER],
            heads: vec![1; WITH_WEAVER],
        }
    }

    fn ready(&self, member: usize) -> Work {
        Work::Ready(Offer {
            pull: pull_of(member),
            head: self.head(member),
        })
    }

    fn head(&self, member: usize) -> CommitSha {
        format!("{:020}{:020}", member, self.heads[member])
            .parse()
            .unwrap()
    }

    /// The places where a member meets another one that it does not answer.
    fn refused(&self, member: usize, holders: &BTreeMap<usize, usize>) -> BTreeMap<usize, usize> {
        let changed = self.changes[member].iter();
        let met = changed.filter_map(|place| Some((*place, *holders.get(place)?)));
        met.filter(|(place, holder)| self.answers[member].get(place) != Some(holder))
            .collect()
    }

    /// What becomes of each, in the order in which they are offered.
    fn weave(&mut self, offered: &[usize]) -> Vec<(u64, WeaveVerdict)> {
        let mut holders: BTreeMap<usize, usize> = BTreeMap::new();
        let mut verdicts = Vec::new();
        for member in offered {
            let refused = self.refused(*member, &holders);
            let head = self.head(*member);
            let verdict = if refused.is_empty() {
                holders.extend(self.changes[*member].iter().map(|place| (*place, *member)));
                WeaveVerdict::In {
                    head,
                    way: Way::Taken,
                    files: 1,
                }
            } else {
                let with = refused.values().map(|it| pull_of(*it)).collect();
                WeaveVerdict::Out {
                    head,
                    against: Against::Members(with),
                    clashes: Vec::new(),
                    others: 0,
                }
            };
            self.shown[*member] = refused;
            verdicts.push((pull_of(*member), verdict));
        }
        verdicts
    }

    /// A member pushes again; its answer holds or falls short.
    fn mend(&mut self, member: usize) {
        self.heads[member] += 1;
        if !self.dice.percent(self.model.falls_short_percent) {
            self.answers[member].extend(self.shown[member].clone());
        }
    }

    /// What happens next to a sprint.
    fn next(&mut self, sprint: &Sprint) -> Vec<SprintInput> {
        match sprint.state {
            SprintState::Working => vec![self.sees(sprint, 0..PERSONAS)],
            SprintState::Integrating => {
                let place = |it: &SprintMember| usize::try_from(it.number()? - pull_of(0)).ok();
                let offered: Vec<usize> = sprint.offered().into_iter().filter_map(place).collect();
                let verdicts = self.weave(&offered);
                let mut report = report(sprint.weaves, verdicts);
                report.held = all_left(sprint);
                vec![SprintInput::Woven(Box::new(report))]
            }
            SprintState::Fixing => {
                let members = sprint.members.iter().enumerate();
                let awaited = members.filter(|(_, it)| it.is_awaited()).map(|(at, _)| at);
                let awaited: Vec<usize> = awaited.collect();
                let told = awaited.iter().map(|at| SprintInput::Told {
                    persona: sprint.members[*at].persona.clone(),
                    shown: Vec::new(),
                });
                let mut inputs: Vec<SprintInput> = told.collect();
                for at in &awaited {
                    self.mend(*at);
                }
                inputs.push(self.sees(sprint, awaited));
                inputs
            }
            SprintState::Verifying
            | SprintState::Done { .. }
            | SprintState::PartiallyDone { .. }
            | SprintState::Aborted { .. } => vec![SprintInput::Seen(Sights {
                members: Vec::new(),
                landing: Some(Landing::Merged),
                ..Sights::default()
            })],
        }
    }

    fn sees(&self, sprint: &Sprint, members: impl IntoIterator<Item = usize>) -> SprintInput {
        let sight = |member: usize| {
            let sight = crate::sprint::tests::made(self.ready(member), None);
            (sprint.members[member].job.clone(), sight)
        };
        SprintInput::Seen(Sights {
            members: members.into_iter().map(sight).collect(),
            landing: None,
            ..Sights::default()
        })
    }
}

/// Plays one sprint to its end.
fn played(seed: u64, model: Model) -> Sprint {
    let mut world = World::new(seed, model);
    let mut sprint = begun(PERSONAS, at(0));
    let mut seconds = 0;
    while !sprint.is_over() {
        for input in world.next(&sprint) {
            seconds += 1;
            sprint = apply(&sprint, &input, at(seconds));
        }
        assert!(seconds < 1_000, "{sprint:?}");
    }
    sprint
}

/// What came of all seeds.
#[derive(Default)]
struct Outcome {
    /// How many sprints took so many ticks.
    ticks: BTreeMap<u32, u32>,
    conflicts: u32,
    left_out: u32,
    /// Members whose conflicts the weaver resolved.
    resolved: u32,
    /// Sessions: one for each member and for the weaver, and one more for a last attempt in a new one.
    tasks: u32,
}

impl Outcome {
    fn of(model: Model) -> Self {
        let mut outcome = Self::default();
        for seed in 0..SEEDS {
            let sprint = played(seed, model);
            let figures = Figures::of_sprint(&sprint);
            assert_eq!(figures.integrated + figures.skipped, figures.members);
            assert_eq!(figures.merged, figures.integrated);
            outcome.resolved += u32::try_from(sprint.delegated().count()).unwrap();
            *outcome.ticks.entry(sprint.ticks).or_default() += 1;
            outcome.conflicts += figures.conflicts;
            outcome.left_out += figures.skipped;
            let members = sprint.members.iter();
            let again = members.filter(|it| it.attempts == ATTEMPTS_MAX);
            let sessions = sprint.members.len() + again.count();
            outcome.tasks += u32::try_from(sessions).unwrap();
        }
        outcome
    }

    fn most(&self) -> u32 {
        self.ticks.keys().next_back().copied().unwrap_or_default()
    }

    /// How many of a thousand sprints met the bar.
    fn within_bar(&self) -> u32 {
        self.ticks.range(..=BAR).map(|(_, count)| count).sum()
    }

    fn told(&self, words: &str) -> String {
        let members = f64::from(u32::try_from(SEEDS).unwrap()) * PERSONAS as f64;
        let mut told = format!("{words}\n");
        for (ticks, count) in &self.ticks {
            let _ = writeln!(told, "  {ticks} ticks: {count} sprints");
        }
        let percent = |count: u32| 100.0 * f64::from(count) / members;
        let _ = writeln!(
            told,
            "  conflicts {:.1} %, resolved by the weaver {:.2} %, left out {:.2} %, tasks per member {:.3}",
            percent(self.conflicts),
            percent(self.resolved),
            percent(self.left_out),
            f64::from(self.tasks) / members,
        );
        told
    }
}

#[test]
fn a_sprint_of_22_takes_few_ticks_where_23_take_one_each() {
    let outcomes = MODELS.map(|model| (model, Outcome::of(model)));
    let told: String = outcomes
        .iter()
        .map(|(model, it)| it.told(model.words))
        .collect();
    let told = format!("{told}one after the other\n  {SEQUENTIAL} ticks\n");
    let [(_, own), (_, drawn), (_, short)] = &outcomes;
    assert!(own.most() <= BAR);
    assert_eq!(u64::from(own.within_bar()), SEEDS);
    assert_eq!(own.left_out, 0);
    for outcome in [drawn, short] {
        assert!(outcome.most() <= 2 * ATTEMPTS_MAX + 2);
        assert_eq!(outcome.left_out, 0);
    }
    expect![[r#"
        nobody is part of two conflicts, each answer holds
          2 ticks: 6 sprints
          4 ticks: 994 sprints
          conflicts 19.9 %, resolved by the weaver 0.00 %, left out 0.00 %, tasks per member 1.000
        partners drawn among all, each answer holds
          2 ticks: 6 sprints
          4 ticks: 563 sprints
          6 ticks: 357 sprints
          8 ticks: 74 sprints
          conflicts 17.6 %, resolved by the weaver 0.35 %, left out 0.00 %, tasks per member 1.029
        partners drawn among all, 15 of 100 answers fall short
          2 ticks: 6 sprints
          4 ticks: 339 sprints
          6 ticks: 446 sprints
          8 ticks: 209 sprints
          conflicts 17.6 %, resolved by the weaver 1.06 %, left out 0.00 %, tasks per member 1.055
        one after the other
          23 ticks
    "#]]
    .assert_eq(&told);
}
