//! A thousand seeded races of a merge against everything that may move meanwhile.

use std::collections::BTreeSet;

use super::*;
use crate::facts::fixture::{check, green_facts};
use crate::facts::{CheckOutcome, Demands, Fact, Pass, PullFacts, Review, ReviewVerdict};
use crate::ids::CommitSha;
use crate::merge::{Judgement, MergeContext, Owner, SessionStatus, judge};
use crate::policy::{MergePolicy, Policy, Timing};

const RACES: u64 = 1_000;

/// What happens in one race before it is given up: far more than a merge takes.
const LOOKS_MAX: usize = 60;

/// The digits of which heads are made.
const HEADS: [char; 8] = ['a', 'b', 'c', 'd', 'e', 'f', '1', '2'];

/// Numbers that follow from a seed (splitmix64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }
}

/// The pull request as GitHub has it: each head with its checks, the base, and what its reviewer said last.
struct Hub {
    heads: Vec<(CommitSha, CheckOutcome)>,
    /// Heads whose checks have passed at some time.
    green: BTreeSet<CommitSha>,
    pushed: i64,
    base: &'static str,
    tip: char,
    said: ReviewVerdict,
}

impl Hub {
    fn head(&self) -> &CommitSha {
        &self.heads.last().unwrap().0
    }

    /// The check of the head ends, or runs again and ends otherwise.
    fn turn(&mut self, outcome: CheckOutcome) {
        let head = self.heads.last_mut().unwrap();
        head.1 = outcome;
        if matches!(outcome, CheckOutcome::Passed(_)) {
            self.green.insert(head.0.clone());
        }
    }

    /// GitHub merges the head that was named, if it still is the head.
    fn merge(&self, sha: &CommitSha) -> bool {
        self.head() == sha
    }
}

/// One race with everything that its end is judged by.
struct Race {
    dice: Dice,
    world: World,
    hub: Hub,
    policy: Policy,
    timing: Timing,
    /// Heads that a reviewer let pass.
    passed: BTreeSet<CommitSha>,
    /// Merges that GitHub refused.
    refused: u32,
}

impl Race {
    fn new(seed: u64) -> Self {
        Self {
            dice: Dice(seed),
            world: World::in_review(rules(&[], "verify", ReviewBy::Agent)),
            hub: Hub {
                heads: vec![(sha('a'), CheckOutcome::Passed(Pass::Success))],
                green: BTreeSet::from([sha('a')]),
                pushed: 0,
                base: "main",
                tip: '0',
                said: ReviewVerdict::Approved,
            },
            policy: Policy {
                merge: MergePolicy::OnGreen,
                ..Policy::default()
            },
            timing: Timing::default(),
            passed: BTreeSet::new(),
            refused: 0,
        }
    }

    fn wait(&mut self, sides: u64) {
        self.world.second += i64::try_from(self.dice.below(sides)).unwrap();
    }

    /// What others do between two acts of ours; most of the time nothing.
    fn others(&mut self) {
        let second = self.world.second;
        match self.dice.below(36) {
            0 | 1 => {
                if let Some(next) = HEADS.get(self.hub.heads.len()) {
                    self.hub.heads.push((sha(*next), CheckOutcome::Pending));
                    self.hub.pushed = second;
                }
            }
            2 | 3 => {
                let flips = match self.hub.heads.last().unwrap().1 {
                    CheckOutcome::Pending | CheckOutcome::Failed => {
                        CheckOutcome::Passed(Pass::Success)
                    }
                    CheckOutcome::Passed(_) | CheckOutcome::ActionRequired => CheckOutcome::Failed,
                };
                self.hub.turn(flips);
            }
            4 => self.hub.said = ReviewVerdict::Dismissed,
            5 => self.hub.tip = '3',
            6 => self.hub.base = "next",
            7 | 8 => {
                let heads = self.hub.heads.len() as u64;
                let of = self.dice.below(heads);
                self.verdict(usize::try_from(of).unwrap());
            }
            _ => {}
        }
        self.wait(3);
    }

    /// The reviewer lets one of the heads so far pass.
    fn verdict(&mut self, at: usize) {
        let digit = HEADS[at];
        let act = verdict(Verdict::Pass, digit);
        if self.world.orders(zai(), act).is_ok() {
            self.passed.insert(sha(digit));
        }
    }

    /// In the end all comes right: checks pass, the base is ours, and the reviewer approves.
    fn comes_right(&mut self) {
        self.hub.turn(CheckOutcome::Passed(Pass::Success));
        (self.hub.base, self.hub.said) = ("main", ReviewVerdict::Approved);
        self.verdict(self.hub.heads.len() - 1);
        self.wait(90);
    }

    /// Reads it like the adapter: the head first, then what belongs to that head, one request after the other.
    fn read(&mut self) -> PullFacts {
        let mut facts = green_facts();
        facts.read_at = at(self.world.second);
        facts.head.sha = self.hub.head().clone();
        facts.base.branch = self.hub.base.parse().unwrap();
        facts.base.sha = sha(self.hub.tip);
        self.others();
        let of_head = self.hub.heads.iter().find(|it| it.0 == facts.head.sha);
        facts.checks = Fact::Known(vec![check("build", of_head.unwrap().1)]);
        self.others();
        facts.reviews = Fact::Known(vec![Review {
            reviewer: 7,
            person: None,
            commit: None,
            verdict: self.hub.said,
        }]);
        facts.demands = Fact::Known(Demands {
            approvals: 1,
            ..Demands::default()
        });
        facts
    }

    /// One look: read, shown to the delivery or not yet, judged, and merged if the judgement says so. Returns what was merged.
    fn look(&mut self) -> Option<(CommitSha, PullFacts)> {
        let facts = self.read();
        let Fact::Known(checks) = &facts.checks else {
            return None;
        };
        let seen = match checks[0].outcome {
            CheckOutcome::Pending | CheckOutcome::ActionRequired => Checks::Running,
            CheckOutcome::Passed(_) => Checks::Passed,
            CheckOutcome::Failed => Checks::Failed,
        };
        // What was read is told to the delivery by a message, which may come after the judgement.
        if self.dice.below(2) == 0 {
            self.world.reads(PullGlimpse {
                head: Some(facts.head.sha.clone()),
                ..pull('a', seen)
            });
        }
        self.others();
        let context = self.context(&facts);
        let now = at(self.world.second);
        let Judgement::Merge { sha, .. } = judge(&facts, &context, &self.policy, &self.timing, now)
        else {
            return None;
        };
        self.others();
        if self.hub.merge(&sha) {
            return Some((sha, facts));
        }
        self.refused += 1;
        None
    }

    fn context(&self, facts: &PullFacts) -> MergeContext {
        MergeContext {
            owner: Owner::Created,
            session: SessionStatus::Resting,
            wanted_base: "main".parse().unwrap(),
            approved: None,
            gate: gate(&self.world.delivery, &facts.head.sha),
            sprint_gate: None,
            plan_unreviewed: false,
            unexpected: None,
            head_since: at(self.hub.pushed),
            refused: None,
            merges_today: 0,
            merge_day_ends: None,
            hold: None,
        }
    }
}

#[test]
fn no_sha_is_merged_that_was_not_judged_and_reviewed() {
    let (mut merged, mut refused, mut moved) = (0, 0, 0);
    for seed in 0..RACES {
        let mut race = Race::new(seed);
        for look in 0..LOOKS_MAX {
            if look % 8 == 7 {
                race.comes_right();
            }
            let Some((sha, facts)) = race.look() else {
                continue;
            };
            let told = format!("seed {seed}, look {look}: {sha}");
            assert_eq!(&sha, race.hub.head(), "{told} is not the head");
            assert_eq!(sha, facts.head.sha, "{told} was not judged");
            assert!(race.hub.green.contains(&sha), "{told} was never green");
            assert_eq!(facts.base.branch.as_str(), "main", "{told}: another base");
            let approved = ReviewVerdict::Approved;
            let said = facts.reviews.known().unwrap()[0].verdict;
            assert_eq!(said, approved, "{told}: its approval was dismissed");
            assert!(race.passed.contains(&sha), "{told} was not reviewed");
            merged += 1;
            moved += u32::from(race.hub.heads.len() > 1);
            break;
        }
        refused += race.refused;
    }
    // Most end merged, many after a push, and some lose the race in its last moment.
    assert!(merged > 900, "{merged}");
    assert!(moved > 200 && refused > 20, "{moved} {refused}");
}
