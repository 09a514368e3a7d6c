//! The sweep of some polls: it finds sessions that a lagging list has hidden, and pull requests whose message was lost.

use std::collections::BTreeSet;

use domain::account::{Account, PollCounters};
use domain::ids::PullRef;
use domain::job::Job;
use domain::session::SessionView;
use jiff::{SignedDuration, Timestamp};

use super::Poller;
use crate::backend::Error;
use crate::store::Versioned;
use crate::work::Work;

/// Interval of list reads where single reads would do: they find duplicates, and measure the weight of pages anew.
const LISTS_EVERY: SignedDuration = SignedDuration::from_mins(15);

/// Interval of the search for pull requests that no record follows.
const LINKS_EVERY: SignedDuration = SignedDuration::from_mins(5);

/// Duplicate creates are searched while the job's session is younger than this.
const YOUNG: SignedDuration = SignedDuration::from_hours(2);

/// The clocks of Jules and of this process differ by less.
const CLOCK_SLACK: SignedDuration = SignedDuration::from_mins(10);

/// What a poll searches in addition to its watched sessions.
pub(super) struct Sweep {
    /// Whether the list is read whatever the cadence says.
    pub(super) lists: bool,
    /// Whether it searches for jobs whose pull request no record follows, and reads whether the day's money is spent.
    pub(super) links: bool,
    /// Sessions created before this are no duplicates of a young job.
    since: Timestamp,
}

impl Sweep {
    /// Stores the times of the sweep: a list that is too much for Jules is not requested again at once, and an
    /// unfinished search stays due.
    pub(super) fn marked(
        &self,
        before: &PollCounters,
        came_to_links: bool,
        now: Timestamp,
    ) -> PollCounters {
        let mark = |last: Option<Timestamp>, done: bool| {
            let begun = last.unwrap_or(now);
            Some(if done { now } else { begun })
        };
        PollCounters {
            listed: mark(before.listed, self.lists),
            linked: mark(before.linked, self.links && came_to_links),
            ..before.clone()
        }
    }

    /// Whether later pages cannot contain a result: the page is in order, newest first, and reaches far enough back.
    pub(super) fn is_through(&self, page: &[SessionView]) -> bool {
        let times: Vec<Timestamp> = page.iter().filter_map(|view| view.created_at).collect();
        let descends = times.windows(2).all(|pair| pair[0] >= pair[1]);
        times.len() == page.len() && descends && times.last().is_some_and(|last| *last < self.since)
    }
}

impl Poller {
    /// What a poll searches additionally: whatever it has not searched for a while, however rare the polls are. A new
    /// account gets its first sweep after a while too.
    pub(super) fn sweep(&self, account: &Account, jobs: &[Versioned<Job>]) -> Sweep {
        let now = self.backend.now();
        let is_due = |last: Option<Timestamp>, every: SignedDuration| {
            last.is_some_and(|last| now.duration_since(last).abs() >= every)
        };
        let created = jobs.iter().filter_map(|job| {
            let watch = job.value.watched()?;
            let is_young = now.duration_since(watch.since) < YOUNG;
            is_young.then_some(job.value.created_at)
        });
        // Ended jobs are not read one by one: at this age they may have duplicates too.
        let oldest = created.fold(now - YOUNG, Timestamp::min);
        Sweep {
            lists: is_due(account.counters.listed, LISTS_EVERY),
            links: is_due(account.counters.linked, LINKS_EVERY),
            since: oldest - CLOCK_SLACK,
        }
    }

    /// Reminds of jobs with a pull request that no record follows: its message was lost, or the one about its end
    /// was.
    pub(super) async fn remind_of_pulls(&self, jobs: &[Versioned<Job>]) -> Result<(), Error> {
        let known: Vec<(&Versioned<Job>, &PullRef)> = jobs
            .iter()
            .filter_map(|job| Some((job, job.value.pull()?)))
            .collect();
        if known.is_empty() {
            return Ok(());
        }
        let open = self.backend.store.open_pulls().await?;
        let followed: BTreeSet<&PullRef> =
            open.iter().map(|found| &found.value.pull.pull).collect();
        for (job, pull) in known
            .into_iter()
            .filter(|(_, pull)| !followed.contains(pull))
        {
            let id = job.value.id.clone();
            // Either message may have been lost: the first one about the pull request, or that about its end.
            for work in [
                Work::Pull {
                    pull: pull.clone(),
                    job: Some(id.clone()),
                    received_at: None,
                },
                Work::Job { id: id.clone() },
            ] {
                self.backend
                    .queue
                    .send(&work.to_body(), SignedDuration::ZERO)
                    .await?;
            }
        }
        Ok(())
    }
}
