//! The daily budget for watching: as it runs short, polls become rarer, and a person is informed once.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::GAP_MAX;
use crate::when::plus;

/// A day, in UTC.
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// The daily budget of an account's polls, and what they have spent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// Requests to Jules in a day; `None` for as many as it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_a_day: Option<u32>,
    /// Until when polls are as rare as they may be, because the money of the day is spent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dear_until: Option<Timestamp>,
    /// Usage on one day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
}

/// Usage on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// When the day began, in UTC.
    pub day: Timestamp,
    /// Requests to Jules so far.
    pub requests: u64,
    /// Requests of the last poll.
    pub last: u64,
    /// Whether an event already announced that no requests are left.
    pub told: bool,
    /// Whether an event already announced that no money is left.
    pub told_money: bool,
}

/// What is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExhaustedBudget {
    /// The requests of the day.
    Requests,
    /// The money of the day.
    Money,
}

/// When the day of a moment began, in UTC.
pub fn day_of(now: Timestamp) -> Timestamp {
    let day = now.to_zoned(TimeZone::UTC).start_of_day();
    day.map_or(now, |day| day.timestamp())
}

impl Budget {
    /// Whether nothing was ever said about it, and nothing counted.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// With the requests of one more poll. Without an allowance nothing is counted: it would only be one more thing to write.
    pub fn with(&self, requests: u64, now: Timestamp) -> Self {
        if self.requests_a_day.is_none() && self.dear_until.is_none() {
            return Self {
                spent: None,
                ..self.clone()
            };
        }
        let today = self.spent_on(day_of(now));
        Self {
            spent: Some(Spent {
                requests: today.requests.saturating_add(requests),
                last: requests,
                ..today
            }),
            dear_until: self.dear_until.filter(|until| *until > now),
            ..self.clone()
        }
    }

    /// Requests of the day so far.
    pub fn requests(&self, now: Timestamp) -> u64 {
        self.spent_on(day_of(now)).requests
    }

    fn spent_on(&self, day: Timestamp) -> Spent {
        let same = self.spent.clone().filter(|spent| spent.day == day);
        same.unwrap_or(Spent {
            day,
            requests: 0,
            last: 0,
            told: false,
            told_money: false,
        })
    }

    /// How long the next poll has to wait at least, so that what is left lasts until the day is over.
    pub(super) fn gap(&self, now: Timestamp) -> SignedDuration {
        let dear = self.dear_until.is_some_and(|until| until > now);
        let dear = if dear { GAP_MAX } else { SignedDuration::ZERO };
        self.requests_gap(now).map_or(dear, |gap| gap.max(dear))
    }

    fn requests_gap(&self, now: Timestamp) -> Option<SignedDuration> {
        let day = day_of(now);
        let (allowed, spent) = (u64::from(self.requests_a_day?), self.spent_on(day));
        let rest = plus(day, DAY).duration_since(now);
        let (cost, left) = (spent.last.max(1), allowed.saturating_sub(spent.requests));
        if left < cost {
            return Some(rest);
        }
        // The first half of the budget is free for work at full pace.
        let is_scarce = left < allowed / 2;
        let share =
            rest.as_secs().saturating_mul(i64::try_from(cost).ok()?) / i64::try_from(left).ok()?;
        is_scarce.then(|| SignedDuration::from_secs(share).min(rest))
    }

    /// Budgets that are used up and not announced today. Returns all of them, since the next poll may be tomorrow's.
    pub(super) fn unannounced(&self, now: Timestamp) -> Vec<ExhaustedBudget> {
        let spent = self.spent_on(day_of(now));
        let dear = self.dear_until.is_some_and(|until| until > now);
        let left = self
            .requests_a_day
            .map(|allowed| u64::from(allowed).saturating_sub(spent.requests));
        let scarce = left.is_some_and(|left| left < spent.last.max(1));
        let money = (dear && !spent.told_money).then_some(ExhaustedBudget::Money);
        let requests = (scarce && !spent.told).then_some(ExhaustedBudget::Requests);
        money.into_iter().chain(requests).collect()
    }

    /// Whether a budget is used up.
    pub fn is_exhausted(&self, now: Timestamp) -> bool {
        let nobody_told = Spent {
            told: false,
            told_money: false,
            ..self.spent_on(day_of(now))
        };
        let untold = Self {
            spent: Some(nobody_told),
            ..self.clone()
        };
        !untold.unannounced(now).is_empty()
    }

    /// Marks the shortage as announced today.
    pub(super) fn announced(&self, short: ExhaustedBudget, now: Timestamp) -> Self {
        let mut spent = self.spent_on(day_of(now));
        match short {
            ExhaustedBudget::Requests => spent.told = true,
            ExhaustedBudget::Money => spent.told_money = true,
        }
        Self {
            spent: Some(spent),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// So many seconds after a midnight in UTC.
    fn at(second: i64) -> Timestamp {
        Timestamp::constant(1_772_323_200, 0) + SignedDuration::from_secs(second)
    }

    fn budget_of(requests: u32) -> Budget {
        Budget {
            requests_a_day: Some(requests),
            ..Budget::default()
        }
    }

    #[test]
    fn without_an_allowance_nothing_is_counted_and_nothing_waits() {
        let budget = Budget::default().with(7, at(0));
        assert!(budget.is_empty());
        assert_eq!(budget.gap(at(0)), SignedDuration::ZERO);
        assert_eq!(budget.unannounced(at(0)), []);
    }

    #[test]
    fn the_second_half_is_spread_over_the_rest_of_the_day() {
        let noon = at(12 * 3_600);
        let half = budget_of(1_000).with(500, noon);
        assert_eq!(half.gap(noon), SignedDuration::ZERO);
        let more = half.with(2, noon);
        // 498 left for 12 hours, two at a time.
        assert_eq!(more.gap(noon), SignedDuration::from_secs(43_200 * 2 / 498));
        assert_eq!(more.unannounced(noon), []);
    }

    #[test]
    fn when_nothing_is_left_polls_wait_for_the_next_day_and_that_is_told_once() {
        let evening = at(20 * 3_600);
        let spent = budget_of(100).with(99, evening).with(2, evening);
        assert_eq!(spent.gap(evening), SignedDuration::from_hours(4));
        assert_eq!(spent.unannounced(evening), [ExhaustedBudget::Requests]);
        let told = spent.announced(ExhaustedBudget::Requests, evening);
        assert_eq!(told.unannounced(evening), []);
        let tomorrow = at(24 * 3_600);
        assert_eq!(spent.requests(tomorrow), 0);
        assert_eq!(told.with(2, tomorrow).gap(tomorrow), SignedDuration::ZERO);
    }

    #[test]
    fn when_the_money_is_spent_polls_are_as_rare_as_they_may_be_until_it_is_over() {
        let dear = Budget {
            dear_until: Some(at(60)),
            ..Budget::default()
        };
        assert_eq!(
            (dear.gap(at(0)), dear.unannounced(at(0))),
            (GAP_MAX, vec![ExhaustedBudget::Money])
        );
        assert_eq!(
            (dear.gap(at(60)), dear.unannounced(at(60))),
            (SignedDuration::ZERO, vec![])
        );
        assert!(dear.with(1, at(60)).dear_until.is_none());
    }

    #[test]
    fn each_of_the_two_is_told_once_a_day_whatever_came_first() {
        let evening = at(20 * 3_600);
        let both = Budget {
            dear_until: Some(at(24 * 3_600)),
            ..budget_of(100).with(99, evening).with(2, evening)
        };
        assert_eq!(
            both.unannounced(evening),
            [ExhaustedBudget::Money, ExhaustedBudget::Requests]
        );
        let (money, requests) = (ExhaustedBudget::Money, ExhaustedBudget::Requests);
        assert_eq!(
            both.announced(money, evening).unannounced(evening),
            [requests]
        );
        assert_eq!(
            both.announced(requests, evening).unannounced(evening),
            [money]
        );
        let told = both.announced(money, evening).announced(requests, evening);
        assert_eq!(told.with(1, evening).unannounced(evening), []);
    }

    proptest! {
        /// An account that keeps to the gaps never overspends by more than one poll.
        #[test]
        fn a_day_keeps_to_its_allowance(allowed in 10_u32..5_000, cost in 1_u64..9, tick in 5_i64..60) {
            let (mut budget, mut now) = (budget_of(allowed), at(0));
            while now < at(24 * 3_600) {
                budget = budget.with(cost, now);
                now += budget.gap(now).max(SignedDuration::from_secs(tick));
            }
            let spent = budget.spent.clone().map_or(0, |spent| spent.requests);
            prop_assert!(spent <= u64::from(allowed).max(cost), "{spent} of {allowed}");
        }
    }
}
