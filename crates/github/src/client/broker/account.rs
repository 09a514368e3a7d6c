//! The budgets of one credential: the hour's requests by resource, the minute's points, the pace of writes, and how long
//! GitHub asked to stay away.

use std::collections::{BTreeMap, VecDeque};

use domain::github_access::GitHubBudget;
use http::HeaderMap;
use jiff::{SignedDuration, Timestamp};

use super::{BudgetExhausted, Spending};
use crate::client::refusal::{SECONDARY_WAIT, WAIT_MAX, asked_wait, word};
use crate::text::line;

/// GitHub names about a dozen kinds of budget; more than this is not kept.
const RESOURCES_MAX: usize = 32;

/// Reads stop when only this part of the hour's requests is left: the rest is for pull requests that are about to be merged.
const KEPT_FOR_MERGES: u64 = 10;

/// Readings for a merge stop when only this part is left: the rest is for the writes that follow.
const KEPT_FOR_WRITES: u64 = 100;

/// GitHub allows 900 points a minute, of which a read costs 1 and a write 5. Others may use the same credential.
const READ_POINTS_MAX: u32 = 700;
const KEPT_READ_POINTS_MAX: u32 = 750;
const WRITE_POINTS_MAX: u32 = 850;
const READ_POINTS: u32 = 1;
const WRITE_POINTS: u32 = 5;

/// The window in which points are counted, in gaps between writes: on GitHub a minute.
const GAPS_PER_WINDOW: i32 = 60;

/// Time without a secondary limit after which the next one counts as the first.
const CALM: SignedDuration = SignedDuration::from_mins(15);

/// Longest time that a turn to write is kept ahead, and after it has come: a clock that was set back must not hold anything up.
const TURN_KEPT: SignedDuration = SignedDuration::from_mins(2);

/// A write that has waited this long, since late ones were made in its turns, goes before all that have one: behind them it would never
/// be made while a write a second is asked for.
const DISPLACED_MAX: SignedDuration = SignedDuration::from_secs(30);

/// GitHub allows 500 writes an hour that create content; all of ours are counted as such.
const WRITES_PER_HOUR_MAX: usize = 500;

/// The length of the window in which writes are counted.
const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// The hour's requests of one resource, as of the last answer that named it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rate {
    limit: u64,
    remaining: u64,
    reset: Timestamp,
}

/// The turn of a write that came too early.
#[derive(Debug, Clone, Copy)]
struct WriteTurn {
    /// When it may be made.
    at: Timestamp,
    /// Since when it waits.
    since: Timestamp,
}

/// One credential's budgets.
#[derive(Debug)]
pub(super) struct CredentialBudgets {
    /// How far writes are apart; on GitHub a second.
    between_writes: SignedDuration,
    rates: BTreeMap<String, Rate>,
    /// Since when, and until when, GitHub asked to stay away.
    stay_away: Option<(Timestamp, Timestamp)>,
    /// Secondary limits in a row.
    refusals: u32,
    /// Since when points are counted, and how many there are.
    points: Option<(Timestamp, u32)>,
    /// When there were writes, in the last hour.
    writes: VecDeque<Timestamp>,
    /// The turns of those that came too early: several that wait come back one after the other, not all at once.
    turns: BTreeMap<String, WriteTurn>,
}

impl CredentialBudgets {
    /// Nothing is known yet.
    pub(super) fn new(between_writes: SignedDuration) -> Self {
        Self {
            between_writes,
            rates: BTreeMap::new(),
            stay_away: None,
            refusals: 0,
            points: None,
            writes: VecDeque::new(),
            turns: BTreeMap::new(),
        }
    }

    /// Spends, or returns when it can. `what` identifies the write, so that a postponed one finds its turn again.
    pub(super) fn spend(
        &mut self,
        resource: &str,
        what: &str,
        spend: Spending,
        now: Timestamp,
    ) -> Result<(), BudgetExhausted> {
        if let Some(until) = self.away_until(now) {
            let why = "GitHub asked to stay away";
            return Err(BudgetExhausted { until, why });
        }
        self.enough_requests(resource, spend, now)?;
        let points = self.enough_points(spend, now)?;
        match spend {
            Spending::Read | Spending::KeptRead => {}
            Spending::Write => {
                self.pace(what, now)?;
                self.writes.push_back(now);
            }
            Spending::FollowUp => self.writes.push_back(now),
        }
        self.points = Some(points);
        Ok(())
    }

    /// Until when to wait. A wait that was set by a clock that was ahead is over.
    fn away_until(&self, now: Timestamp) -> Option<Timestamp> {
        let (_, until) = self
            .stay_away
            .filter(|(since, until)| *since <= now && now < *until)?;
        Some(until)
    }

    fn enough_requests(
        &self,
        resource: &str,
        spend: Spending,
        now: Timestamp,
    ) -> Result<(), BudgetExhausted> {
        let Some(rate) = self.rates.get(resource).filter(|rate| now < rate.reset) else {
            return Ok(());
        };
        let (kept, why) = match spend {
            Spending::Read => (
                rate.limit / KEPT_FOR_MERGES,
                "what is left of GitHub's budget is kept for merges",
            ),
            Spending::KeptRead => (
                rate.limit / KEPT_FOR_WRITES,
                "what is left of GitHub's budget is kept for writes",
            ),
            Spending::Write | Spending::FollowUp => (0, "GitHub's budget is used up"),
        };
        if rate.remaining > kept {
            return Ok(());
        }
        let until = rate.reset.min(now + WAIT_MAX);
        Err(BudgetExhausted { until, why })
    }

    /// The points after this is spent.
    fn enough_points(
        &self,
        spend: Spending,
        now: Timestamp,
    ) -> Result<(Timestamp, u32), BudgetExhausted> {
        let window = self.between_writes * GAPS_PER_WINDOW;
        let running = self
            .points
            .filter(|(since, _)| is_within(*since, now, window));
        let (since, spent) = running.unwrap_or((now, 0));
        let (price, most) = match spend {
            Spending::Read => (READ_POINTS, READ_POINTS_MAX),
            Spending::KeptRead => (READ_POINTS, KEPT_READ_POINTS_MAX),
            Spending::Write | Spending::FollowUp => (WRITE_POINTS, WRITE_POINTS_MAX),
        };
        if spent + price <= most {
            return Ok((since, spent + price));
        }
        let why = "this minute's requests to GitHub are used up";
        Err(BudgetExhausted {
            until: since + window,
            why,
        })
    }

    fn pace(&mut self, what: &str, now: Timestamp) -> Result<(), BudgetExhausted> {
        self.writes.retain(|at| is_within(*at, now, HOUR));
        if let Some(first) = self
            .writes
            .front()
            .filter(|_| self.writes.len() >= WRITES_PER_HOUR_MAX)
        {
            let until = *first + HOUR;
            let why = "this hour's writes to GitHub are used up";
            return Err(BudgetExhausted { until, why });
        }
        let turn = self.turn_of(what, now);
        if turn.at <= now {
            return Ok(());
        }
        self.turns.insert(what.to_owned(), turn);
        let (until, why) = (turn.at, "writes to GitHub are a second apart");
        Err(BudgetExhausted { until, why })
    }

    /// When a write may be made: at its turn, and a second after the last write. One without a turn comes after all that have one, and
    /// so does one in whose turn a late write was made: a second later it would meet the next one, and so on. Once it has waited for
    /// long it meets them all the same.
    fn turn_of(&mut self, what: &str, now: Timestamp) -> WriteTurn {
        let kept = |at: Timestamp| now.duration_since(at).abs() <= TURN_KEPT;
        self.turns.retain(|_, turn| kept(turn.at));
        let gap = self.between_writes;
        let last = self
            .writes
            .back()
            .filter(|last| is_within(**last, now, gap));
        let rested = last.map_or(now, |last| *last + gap);
        let own = self.turns.remove(what);
        if let Some(turn) = own.filter(|turn| rested <= now.max(turn.at)) {
            return turn;
        }
        let since = own.map_or(now, |turn| turn.since);
        let mut at = rested;
        if now.duration_since(since) < DISPLACED_MAX {
            let turns = self.turns.values().map(|turn| turn.at + gap);
            at = turns.max().map_or(rested, |after| after.max(rested));
        }
        WriteTurn { at, since }
    }

    /// Records the budget in an answer.
    pub(super) fn see(&mut self, headers: &HeaderMap) {
        let Some(rate) = rate(headers) else { return };
        let resource = line(word(headers, "x-ratelimit-resource").unwrap_or("core"), 40);
        if self.rates.len() < RESOURCES_MAX || self.rates.contains_key(&resource) {
            self.rates.insert(resource, rate);
        }
    }

    /// Handles a refusal by a limit: returns how long to wait. GitHub's own wait counts, then the reset of a used-up
    /// budget; else the wait doubles each time.
    pub(super) fn refused(&mut self, headers: &HeaderMap, now: Timestamp) -> SignedDuration {
        if let Some(until) = self.away_until(now) {
            // It was on its way when an earlier one was refused.
            return until.duration_since(now);
        }
        let spent = rate(headers)
            .filter(|rate| rate.remaining == 0)
            .map(|rate| rate.reset.duration_since(now));
        let doubled = SECONDARY_WAIT.saturating_mul(1 << self.refusals.min(6));
        let wait = asked_wait(headers).or(spent).unwrap_or(doubled);
        let wait = wait.clamp(SignedDuration::from_secs(1), WAIT_MAX);
        if spent.is_none() {
            self.refusals = self.refusals.saturating_add(1);
            self.stay_away = Some((now, now + wait));
        } else if asked_wait(headers).is_some() {
            self.stay_away = Some((now, now + wait));
        }
        wait
    }

    /// A row of secondary limits is over once calls succeed this long after the last one; earlier, those could be
    /// reads between refused writes.
    pub(super) fn answered(&mut self, now: Timestamp) {
        let is_calm = |(since, until): (Timestamp, Timestamp)| now < since || now >= until + CALM;
        if self.stay_away.is_none_or(is_calm) {
            self.refusals = 0;
        }
    }

    /// For people.
    pub(super) fn budgets(&self, owner: &str) -> Vec<GitHubBudget> {
        let budget = |(resource, rate): (&String, &Rate)| GitHubBudget {
            owner: owner.to_owned(),
            resource: resource.clone(),
            limit: rate.limit,
            remaining: rate.remaining,
            reset: rate.reset,
            stay_away: self.stay_away.map(|(_, until)| until),
        };
        self.rates.iter().map(budget).collect()
    }
}

/// Whether a time lies less than this far back; one that lies ahead, since the clock was set back, does not.
fn is_within(at: Timestamp, now: Timestamp, window: SignedDuration) -> bool {
    let ago = now.duration_since(at);
    !ago.is_negative() && ago < window
}

/// The budget in an answer.
fn rate(headers: &HeaderMap) -> Option<Rate> {
    let number = |name| word(headers, name)?.parse::<u64>().ok();
    let reset = i64::try_from(number("x-ratelimit-reset")?).ok()?;
    Some(Rate {
        limit: number("x-ratelimit-limit")?,
        remaining: number("x-ratelimit-remaining")?,
        reset: Timestamp::from_second(reset).ok()?,
    })
}
