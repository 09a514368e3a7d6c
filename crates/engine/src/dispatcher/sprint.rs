//! A sprint: makes the jobs of its members, reads how they are, weaves what they made, and sends conflicts back.

mod conflicts;
mod ending;
mod labels;
mod launching;
mod mailing;
mod outboxes;
mod resolving;
mod texts;
mod weaving;

use domain::failure::Hindrance;
use domain::ids::{CommitSha, JobId, PullRef, RepoName, SprintNumber};
use domain::job::Job;
use domain::policy::{Source, Timing};
use domain::sprint::{self, Landing, Sights, Sprint, SprintInput, SprintSight, SprintState};

use super::Dispatcher;
use super::dues::is_due_kept;
use crate::backend::{Backend, Error};
use crate::settings::TrackedPull;
use crate::store::Versioned;
use crate::weaving::is_weave_of;

/// How many decisions one message leads to.
const LOOKS_MAX: u32 = 16;

/// What came of a part of a look.
enum Progress {
    /// The sprint changed, so it is looked at anew.
    Changed,
    /// It did not; what kept files from being read.
    Through(Option<Hindrance>),
}

impl Progress {
    fn from_change(is_changed: bool) -> Self {
        match is_changed {
            true => Self::Changed,
            false => Self::Through(None),
        }
    }
}

impl Dispatcher {
    /// Handles a sprint: goes on until it has to wait.
    pub(super) async fn sprint(&self, repo: &RepoName, number: SprintNumber) -> Result<(), Error> {
        let id = (repo.clone(), number);
        for _ in 0..LOOKS_MAX {
            let Some(found) = self.backend.store.get::<Sprint>(&id).await? else {
                return Ok(());
            };
            let may_follow = match found.value.is_over() {
                true => Box::pin(self.end_sprint(&found)).await?,
                false => self.decide_next(&found).await?,
            };
            if !may_follow {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Makes one decision, unless there is a pause, and returns whether another one may follow at once.
    async fn decide_next(&self, found: &Versioned<Sprint>) -> Result<bool, Error> {
        let source = self.source(&found.value.repo).await?;
        if self.hold(&source).await?.is_some() {
            // Nothing begins now; the row is due again.
            let held = sprint::held(&found.value, self.backend.now());
            self.save_sprint(found, held, None).await?;
            return Ok(false);
        }
        if found.value.held_at.is_some() {
            let resumed = sprint::resumed(&found.value, self.backend.now());
            return self.save_sprint(found, resumed, None).await;
        }
        Box::pin(self.go_on_with(found, &source)).await
    }

    /// Makes one decision, and returns whether another one may follow at once.
    async fn go_on_with(&self, found: &Versioned<Sprint>, source: &Source) -> Result<bool, Error> {
        let landing = self.sprint_landing(&found.value).await?;
        if landing == Some(Landing::Foreign) {
            // It ends before anything more is begun, or sent to sessions, for it.
            let sights = Sights {
                landing,
                ..Sights::default()
            };
            return self.decide(found, &[SprintInput::Seen(sights)]).await;
        }
        let hindrance = match self.launch(found, source).await? {
            Progress::Changed => return Ok(true),
            Progress::Through(hindrance) => hindrance,
        };
        if self.tell_mail(found).await? || self.mark_shown(found).await? {
            return Ok(true);
        }
        let mut sights = self.sprint_sights(&found.value, &source.timing).await?;
        sights.hindrance = hindrance;
        sights.landing = landing;
        if self.collect(found, &mut sights).await? || self.tell_conflicts(found).await? {
            return Ok(true);
        }
        if self.ask_for_pulls(found, &sights).await? {
            return Ok(true);
        }
        self.read_again(&found.value, &sights.unread).await?;
        let now = self.backend.now();
        let soon = sprint::soon(&sights, now);
        let mut next = sprint::apply(&found.value, &SprintInput::Seen(sights.clone()), now);
        if sprint::begins_weave(&found.value, &next) {
            sights.mail = self.mail_before_weave(&next).await?;
            next = sprint::apply(&found.value, &SprintInput::Seen(sights), now);
        }
        let is_integrating = next.state == SprintState::Integrating;
        let changed = self.save_sprint(found, next.clone(), soon).await?;
        if !changed && is_integrating {
            self.ask_for_weave(&next, source).await?;
        }
        Ok(changed)
    }

    /// Saves a sprint with its due. Returns whether another decision may follow at once: it moved on, or changed meanwhile.
    async fn save_sprint(
        &self,
        found: &Versioned<Sprint>,
        next: Sprint,
        soon: Option<jiff::Timestamp>,
    ) -> Result<bool, Error> {
        let now = self.backend.now();
        let due = match next.is_over() {
            // What its end asks for is carried out at once, and then it is due no more.
            true => Some(now),
            false => sprint::due(&next, now).into_iter().chain(soon).min(),
        };
        let is_same = next == found.value;
        if is_same && is_due_kept(found.due, due, now) {
            return Ok(false);
        }
        let mut unit = self.backend.unit();
        let id = (next.repo.clone(), next.number);
        unit.save_at(&id, &next, Some(found.version), due);
        for number in sprint::released(&found.value, &next) {
            unit.enqueue_hint(reading(pull_of(&next, number)));
        }
        let is_saved = self.backend.try_commit(unit).await?;
        // What was not read is read again at its due, and not at once.
        Ok(!is_saved || next.has_moved_since(&found.value))
    }

    /// Decides about a sprint and saves it, unless it was changed meanwhile. Returns whether another decision may follow.
    async fn decide(
        &self,
        found: &Versioned<Sprint>,
        inputs: &[SprintInput],
    ) -> Result<bool, Error> {
        let now = self.backend.now();
        let decided = |so_far: Sprint, input: &SprintInput| sprint::apply(&so_far, input, now);
        let next = inputs.iter().fold(found.value.clone(), decided);
        self.save_sprint(found, next, None).await
    }

    /// What a sprint can see of its members.
    async fn sprint_sights(&self, sprint: &Sprint, timing: &Timing) -> Result<Sights, Error> {
        let mut sights = Sights::default();
        for member in &sprint.members {
            for id in member.jobs() {
                let Some(job) = self.backend.store.job(id).await? else {
                    continue;
                };
                sights.tasks += job.value.sessions();
                if *id == member.job {
                    let (mut sight, pull) = self.sprint_sight(&job.value, timing).await?;
                    let read_at = pull.as_ref().and_then(|it| it.read_at);
                    if sprint::must_be_read(member, &mut sight, read_at, self.backend.now()) {
                        sights.unread.extend(pull.map(|it| it.pull.pull.number));
                    }
                    sights.members.push((id.clone(), sight));
                }
            }
        }
        Ok(sights)
    }

    /// What a sprint can see of its one pull request. A head that no weave of its own made is foreign.
    async fn sprint_landing(&self, sprint: &Sprint) -> Result<Option<Landing>, Error> {
        let Some(woven) = &sprint.woven else {
            return Ok(None);
        };
        let Some(found) = self.backend.store.pull(&woven.pull).await? else {
            return Ok(None);
        };
        let pull = &found.value.pull;
        let landing = sprint::landing(pull, woven);
        let is_foreign = match (landing, &pull.head) {
            (Landing::Open | Landing::Stale | Landing::Red, Some(head)) => {
                head.sha != woven.commit && self.is_foreign(sprint, &head.sha).await?
            }
            (
                Landing::Open
                | Landing::Stale
                | Landing::Red
                | Landing::Foreign
                | Landing::Merged
                | Landing::MergedOlder
                | Landing::Closed,
                _,
            ) => false,
        };
        Ok(Some(match is_foreign {
            true => Landing::Foreign,
            false => landing,
        }))
    }

    /// Whether a head is no weave of this sprint. One that was pushed is in no report before its effect is saved, and never if its effect
    /// broke off between: the commit itself says that it is ours.
    async fn is_foreign(&self, sprint: &Sprint, head: &CommitSha) -> Result<bool, Error> {
        let weaves = self.backend.sprint_weaves(sprint).await?;
        let mut commits = weaves.iter().filter_map(|report| report.woven.as_ref());
        if commits.any(|woven| woven.commit == *head) {
            return Ok(false);
        }
        // What cannot be read is not known to be foreign, and holds up nothing else.
        let is_weave = is_weave_of(&*self.readers.git, &sprint.repo, sprint.number, head).await;
        Ok(is_weave.is_ok_and(|is_weave| !is_weave))
    }

    async fn sprint_sight(
        &self,
        job: &Job,
        timing: &Timing,
    ) -> Result<(SprintSight, Option<TrackedPull>), Error> {
        let pull = match job.pull() {
            Some(pull) => self.backend.store.pull(pull).await?,
            None => None,
        };
        let pull = pull.map(|found| found.value);
        let its = pull.as_ref().map(|it| &it.pull);
        let sight = sprint::sight(job, its, timing, self.backend.now());
        Ok((sight, pull))
    }

    /// Has pull requests read that a decision about a sprint rests on.
    async fn read_again(&self, sprint: &Sprint, numbers: &[u64]) -> Result<(), Error> {
        let mut unit = self.backend.unit();
        for number in numbers {
            unit.enqueue_hint(reading(pull_of(sprint, *number)));
        }
        self.backend.commit(unit).await
    }
}

/// What a sprint sees of a member whose job can never be made.
fn refused(job: JobId, reason: String) -> SprintInput {
    SprintInput::Seen(sprint::never_made(job, reason))
}

/// What a sprint calls itself where it gives orders.
fn named(sprint: &Sprint) -> String {
    format!("sprint {}", sprint.number)
}

/// A pull request of the repository of a sprint.
fn pull_of(sprint: &Sprint, number: u64) -> PullRef {
    PullRef {
        repo: sprint.repo.clone(),
        number,
    }
}

/// The message that has a pull request read.
fn reading(pull: PullRef) -> crate::work::Work {
    crate::work::Work::of_pull(pull)
}

/// What has the same sprint looked at again.
fn again(backend: &Backend, sprint: &Sprint) -> crate::backend::UnitOfWork {
    let mut unit = backend.unit();
    let pk = crate::keys::sprint_pk(&sprint.repo, sprint.number);
    unit.enqueue(&pk, crate::sprints::work(sprint));
    unit
}
