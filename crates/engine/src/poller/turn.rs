//! Which sessions a poll reads, and in which order: not all of them when there are many, and only the first when
//! Jules stops answering.

use std::collections::{BTreeMap, BTreeSet};

use domain::account::{Account, Health};
use domain::cadence::{self, READS_MAX};
use domain::ids::SessionId;
use domain::job::{Job, JobPhase, Watch};
use domain::priority::{self, ReadCandidate};

use super::poll_data::PollData;
use super::{Poller, activity};
use crate::backend::Error;
use crate::store::Versioned;

/// A job with its watch.
pub(super) type Watched<'a> = (&'a Versioned<Job>, &'a Watch);

impl Poller {
    /// The jobs to handle: first those that cost no request, then those whose turn it is. Others are skipped until a
    /// later poll.
    pub(super) async fn in_turn<'a>(
        &self,
        account: &Account,
        jobs: &'a [Versioned<Job>],
        gathered: &mut PollData,
    ) -> Result<Vec<Watched<'a>>, Error> {
        let (mut looked_at, mut asking) = (Vec::new(), Vec::new());
        for found in jobs {
            let JobPhase::Watching(watch) = &found.value.phase else {
                continue;
            };
            // Unless it is read in this poll, it was last read when it was.
            let last_read = account.activity_reads.get(&watch.session);
            let last_read = last_read.map(|at| (watch.session.clone(), *at));
            gathered.reads.extend(last_read);
            let is_seen = gathered.views.contains_key(&watch.session);
            if gathered.resting.contains(&watch.session) && !is_seen {
                continue;
            }
            if self.costs(account, (found, watch), gathered).await? {
                asking.push((found, watch.as_ref()));
            } else {
                looked_at.push((found, watch.as_ref()));
            }
        }
        let before = &account.passed_over;
        let waiting: Vec<ReadCandidate> = asking.iter().map(|one| waiting(*one, before)).collect();
        let order = priority::reads(&waiting, READS_MAX);
        let turns = order.iter().filter_map(|at| asking.get(*at));
        looked_at.extend(turns.copied());
        // A session that is read is removed from this; the rest was skipped when the poll ends.
        let passed = asking.iter().zip(&waiting);
        gathered.passed_over = passed
            .map(|((_, watch), one)| (watch.session.clone(), one.passed_over.saturating_add(1)))
            .collect();
        Ok(looked_at)
    }

    /// The sessions that this poll can skip, since Jules pushes their news. After an error an account reads all of
    /// its own: only an answer shows that the error is over.
    pub(super) async fn resting(
        &self,
        account: &Account,
        jobs: &[Versioned<Job>],
        gathered: &mut PollData,
    ) -> Result<BTreeSet<SessionId>, Error> {
        let mut resting = BTreeSet::new();
        let (gap, last) = (activity::gap(account, jobs), account.counters.last);
        let now = self.backend.now();
        for found in jobs {
            let pushed = found.value.watched().filter(|it| it.is_pushed(now));
            if let Some(watch) = pushed.filter(|_| account.health == Health::Working) {
                let rules = self.rules_in_poll(&found.value, gathered).await?;
                if cadence::rests_on_pushes(watch, gap, last, now, &rules.timing) {
                    resting.insert(watch.session.clone());
                }
            }
        }
        Ok(resting)
    }

    /// Whether looking at a session takes a request of its own.
    async fn costs(
        &self,
        account: &Account,
        (found, watch): Watched<'_>,
        gathered: &mut PollData,
    ) -> Result<bool, Error> {
        let rules = self.rules_in_poll(&found.value, gathered).await?;
        let Some(view) = gathered.views.get(&watch.session) else {
            return Ok(true);
        };
        let last_read = account.activity_reads.get(&watch.session).copied();
        let now = self.backend.now();
        Ok(cadence::wants_activities(
            watch,
            view,
            last_read,
            now,
            &rules.timing,
        ))
    }
}

fn waiting((found, watch): Watched<'_>, before: &BTreeMap<SessionId, u32>) -> ReadCandidate {
    ReadCandidate {
        priority: found.value.priority,
        passed_over: before.get(&watch.session).copied().unwrap_or(0),
    }
}
