//! Seeded races of a merge through the whole engine: pushes, checks that flip, approvals that are dismissed, a base that
//! moves or is another one, and verdicts of older heads, also right before the merge is sent.

use std::collections::BTreeSet;

use domain::ids::CommitSha;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use sandbox::Scenario;
use sandbox::github::{CheckState, Conclusion, GitHub, PullState, RepoSetup};

use super::*;

/// How many seeds are raced, unless the environment asks for more by [`MORE`].
const RACES: u64 = 50;

/// The variable that says how many seeds are raced.
const MORE: &str = "GAFFER_RACES";

/// So many of these come in one race, since every push begins the review anew.
const DISTURBANCES_MAX: usize = 4;

/// What others do to a pull request.
#[derive(Clone, Copy, Debug)]
enum Disturbance {
    Push,
    CheckFlips,
    Dismissal,
    BaseMoves,
    Retarget,
}

const ALL: [Disturbance; 5] = [
    Disturbance::Push,
    Disturbance::CheckFlips,
    Disturbance::Dismissal,
    Disturbance::BaseMoves,
    Disturbance::Retarget,
];

/// The base that the job asked for, and another one.
const BASES: [&str; 2] = ["main", "release"];

fn disturb(github: &GitHub, now: jiff::Timestamp, number: u64, what: Disturbance) {
    let Some(pull) = github.pull(REPO, number) else {
        return;
    };
    let failed = CheckState::Completed(Conclusion::Failure);
    match what {
        Disturbance::Push => drop(github.push(now, REPO, &pull.head_ref, "More", "jules")),
        Disturbance::CheckFlips => github.set_check(now, REPO, (&pull.head_sha, "build"), failed),
        Disturbance::Dismissal => github.review(now, REPO, number, ("acme", "DISMISSED", "")),
        Disturbance::BaseMoves => drop(github.push(now, REPO, BASES[0], "Another one", "ann")),
        Disturbance::Retarget => {
            if github.branch(REPO, BASES[1]).is_none() {
                drop(github.push(now, REPO, BASES[1], "A branch", "ann"));
            }
            github.retarget(now, REPO, number, BASES[1]);
        }
    }
}

/// One race, and what its end is judged by.
struct Race {
    world: World,
    number: u64,
    dice: StdRng,
    heads: Vec<CommitSha>,
    passed: BTreeSet<CommitSha>,
    left: usize,
}

impl Race {
    async fn begin(seed: u64) -> Self {
        let source = taking(|rules| {
            rules.checkpoints = Checkpoints::none();
            rules.review_by = Some(ReviewBy::Agent);
        });
        let repo = RepoSetup {
            reviews_required: 1,
            ..RepoSetup::new(REPO).with_ci(ci(tests::world::green_checks()))
        };
        let world = World::hearing(
            Scenario {
                repos: vec![repo],
                ..Scenario::default()
            },
            source,
            seed.is_multiple_of(2),
        )
        .await;
        let number = open_issue(&world, "Add a test", "");
        until(&world, number, "review/running").await;
        Self {
            world,
            number,
            dice: StdRng::seed_from_u64(seed),
            heads: Vec::new(),
            passed: BTreeSet::new(),
            left: DISTURBANCES_MAX,
        }
    }

    /// One disturbance, now or right before the merge is sent.
    async fn disturbed(&mut self) {
        let Some(pull) = delivery(&self.world, self.number)
            .await
            .and_then(|it| it.task.pull)
        else {
            return;
        };
        if self.left == 0 || !self.dice.random_bool(0.4) {
            return;
        }
        self.left -= 1;
        let what = ALL[self.dice.random_range(0..ALL.len())];
        let (github, now) = (self.world.sandbox.github().clone(), self.world.clock.now());
        if self.dice.random_bool(0.5) {
            disturb(&github, now, pull.number, what);
        } else {
            let later = async move { disturb(&github, now, pull.number, what) };
            self.world.fate.before_next("merge", later);
        }
    }

    /// The reviewer lets pass the newest head that it knows, or an older one.
    async fn reviewed(&mut self) {
        let Some(found) = delivery(&self.world, self.number).await else {
            return;
        };
        if let Some(head) = found.head().filter(|head| !self.heads.contains(head)) {
            self.heads.push(head.clone());
        }
        let last = self.heads.len().saturating_sub(1);
        let at = match self.dice.random_bool(0.25) {
            true => self.dice.random_range(0..=last),
            false => last,
        };
        let Some(head) = self.heads.get(at).cloned() else {
            return;
        };
        let command = Command {
            id: format!("verdict:{head}:{}", self.world.backend.ulid()),
            by: Actor::agent("helper"),
            act: Act::Verdict(ReviewResult {
                verdict: Verdict::Pass,
                head: head.clone(),
                summary: None,
                feedback: None,
            }),
        };
        let id = id_of(self.number);
        if self
            .world
            .backend
            .command_delivery(&id, &command)
            .await
            .is_ok()
        {
            self.passed.insert(head);
        }
    }

    /// The person whose approval the base demands gives it, and the base is the right one again.
    fn comes_right(&mut self, pull: u64) {
        let (github, now) = (self.world.sandbox.github(), self.world.clock.now());
        github.retarget(now, REPO, pull, BASES[0]);
        github.review(now, REPO, pull, ("acme", "APPROVED", "Yes"));
    }
}

/// Plays until the pull request is merged, or an hour has passed. Returns whether it was.
async fn raced(seed: u64) -> bool {
    let mut race = Race::begin(seed).await;
    for look in 0..40 {
        race.disturbed().await;
        race.reviewed().await;
        let wait = race.dice.random_range(5..90);
        race.world.pass(SECOND * wait).await;
        let task = delivery(&race.world, race.number)
            .await
            .and_then(|it| it.task.pull);
        let Some(pull) = task else {
            continue;
        };
        if look % 4 == 0 {
            race.comes_right(pull.number);
        }
        let shown = race.world.pull(pull.number);
        if shown.state != PullState::Merged {
            continue;
        }
        let sha = shown.merged_sha.expect("the head that was merged");
        let evidence = race.world.evidence(pull.number, &sha).await;
        assert!(evidence.is_some(), "seed {seed}: {sha} was not judged");
        let head: CommitSha = sha.parse().expect("a SHA");
        assert!(
            race.passed.contains(&head),
            "seed {seed}: {sha} was not reviewed"
        );
        // GitHub's merge call does not name the base, so another one cannot be ruled out; it is told.
        if shown.base_ref != BASES[0] {
            race.world.pass(MINUTE * 5).await;
            let told = race.world.all_events().await;
            let is_told = told.iter().any(|event| event == "error/wrong_base");
            assert!(is_told, "seed {seed}: {sha} went astray: {told:?}");
        }
        return true;
    }
    false
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "a test has no main that could read it"
)]
async fn no_sha_is_merged_through_the_engine_that_was_not_judged_and_reviewed() {
    let more = std::env::var(MORE).ok();
    let races = more.map_or(RACES, |more| more.parse().expect("a number of races"));
    let mut merged = 0;
    for seed in 0..races {
        merged += u64::from(Box::pin(raced(seed)).await);
    }
    assert!(merged > races / 2, "{merged} of {races}");
}
