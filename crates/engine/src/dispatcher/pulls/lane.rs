//! Turns to merge into one branch: ready pull requests queue unread, and one that leaves the lane wakes the next.

use domain::effect::{Action, PullAction};
use domain::facts::PullFacts;
use domain::ids::{BranchName, CommitSha, RepoName};
use domain::policy::Source;
use domain::pull::{Lane, Pull, PullPhase};
use domain::step::Step;
use jiff::{SignedDuration, Timestamp};

use super::PullWakeup;
use super::merging::keep_evidence;
use crate::backend::{Error, IndexEntry, UnitOfWork};
use crate::dispatcher::Dispatcher;
use crate::keys;
use crate::ports::Key;
use crate::settings::TrackedPull;
use crate::store::Versioned;
use crate::work::Work;

/// How often a waiting pull request checks whether the lane was given up silently. Its turn wakes it sooner.
const LANE_LOOK: SignedDuration = SignedDuration::from_secs(60);

/// Delay before the next one is read after a merge: GitHub asks for a second between writes, and an earlier reading
/// is repeated.
const AFTER_MERGE: SignedDuration = SignedDuration::from_secs(1);

/// A lane as stored; `None` while no one merges into its branch.
type StoredLane = Option<Versioned<Lane>>;

impl Dispatcher {
    /// Whether a pull request is ready and another one has its turn: then it queues, and reading it now would decide nothing.
    pub(super) async fn waits_for_turn(
        &self,
        found: &Versioned<TrackedPull>,
        wakeup: &PullWakeup<'_>,
    ) -> Result<bool, Error> {
        let pull = &found.value.pull;
        let now = self.backend.now();
        let is_quiet = wakeup.received_at.is_none() && matches!(pull.phase, PullPhase::Open);
        let ready = pull
            .ready
            .as_ref()
            .filter(|ready| is_quiet && now >= ready.from);
        let Some(ready) = ready else {
            return Ok(false);
        };
        let lane = self.lane(&pull.pull.repo, &ready.base).await?;
        let Some(lane) = lane.filter(|lane| !lane.value.is_open_to(&pull.pull, now)) else {
            return Ok(false);
        };
        let mut unit = self.backend.unit();
        let queued = Lane::enter(Some(&lane.value), &pull.pull, now);
        let key = keys::lane(&pull.pull.repo, ready.base.as_str());
        put(&mut unit, key, &queued, &Some(lane));
        match self.backend.commit(unit).await {
            Err(error) if error.is_conflict() => self.again_soon(&pull.pull, None).await?,
            outcome => outcome?,
        }
        self.backend
            .put_off(&keys::pull(&pull.pull), LANE_LOOK)
            .await?;
        Ok(true)
    }

    /// Takes the turn of a pull request that is to be merged, or queues it; one that is no longer ready leaves the
    /// lane. Returns the head that may be merged now.
    pub(super) async fn take_turn(
        &self,
        unit: &mut UnitOfWork,
        step: &mut Step<Pull>,
        facts: &PullFacts,
        source: &Source,
    ) -> Result<Option<CommitSha>, Error> {
        let now = self.backend.now();
        let lane = self.lane(&source.repo, &facts.base.branch).await?;
        let key = keys::lane(&source.repo, facts.base.branch.as_str());
        let pull = step.aggregate.pull.clone();
        // While an earlier merge is unsettled nothing is decided again, and its evidence stays unchanged.
        let Some(sha) = wished(step) else {
            if !keeps_turn(&step.aggregate, lane.as_ref(), now) {
                leave(unit, key, &step.aggregate, &lane, now);
            }
            return Ok(None);
        };
        let entered = Lane::enter(lane.as_ref().map(|lane| &lane.value), &pull, now);
        put(unit, key, &entered, &lane);
        if entered.holder != pull {
            step.aggregate.phase = PullPhase::Open;
            step.effects.retain(|action| !is_merge(action));
            step.due = Some(now + LANE_LOOK);
            return Ok(None);
        }
        keep_evidence(unit, step, &sha, facts, source);
        Ok(Some(sha))
    }

    async fn lane(&self, repo: &RepoName, base: &BranchName) -> Result<StoredLane, Error> {
        Ok(self.backend.store.lane(repo, base.as_str()).await?)
    }
}

fn is_merge(action: &Action) -> bool {
    matches!(action, Action::Pull(PullAction::Merge { .. }))
}

/// The head that was decided to be merged just now.
fn wished(step: &Step<Pull>) -> Option<CommitSha> {
    match &step.aggregate.phase {
        PullPhase::Merging { sha, .. } if step.effects.iter().any(is_merge) => Some(sha.clone()),
        PullPhase::Merging { .. }
        | PullPhase::Open
        | PullPhase::Closed { .. }
        | PullPhase::Settled { .. } => None,
    }
}

/// Whether a pull request that is not merged now stays in the lane: while its merge is unsettled, and while it is
/// ready and its turn is not over.
fn keeps_turn(pull: &Pull, lane: Option<&Versioned<Lane>>, now: Timestamp) -> bool {
    let is_over =
        |lane: &Versioned<Lane>| lane.value.holder == pull.pull && now >= lane.value.until;
    let is_merging = matches!(pull.phase, PullPhase::Merging { .. });
    is_merging || (pull.ready.is_some() && !lane.is_some_and(is_over))
}

fn put(unit: &mut UnitOfWork, key: Key, lane: &Lane, found: &StoredLane) {
    if found.as_ref().is_some_and(|found| found.value == *lane) {
        return;
    }
    let version = found.as_ref().map(|found| found.version);
    unit.put(key, lane, version, IndexEntry::default());
}

/// Wakes the next one in the lane. If that message is lost, it checks by itself.
fn leave(unit: &mut UnitOfWork, key: Key, pull: &Pull, found: &StoredLane, now: Timestamp) {
    let Some(lane) = found.as_ref() else { return };
    let Some(next) = lane.value.leave(&pull.pull, now) else {
        return unit.delete(key, lane);
    };
    if next.holder != lane.value.holder {
        let delay = if pull.is_settled() {
            AFTER_MERGE
        } else {
            SignedDuration::ZERO
        };
        let look = Work::of_pull(next.holder.clone());
        unit.enqueue_hint_later(look, delay);
    }
    put(unit, key, &next, found);
}
