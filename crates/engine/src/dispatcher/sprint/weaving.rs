//! A weave of a sprint: its members' pull requests become one commit on the sprint's branch, and one pull request.

use std::collections::BTreeMap;

use domain::effect::EffectState;
use domain::failure::{Failure, FailureClass};
use domain::ids::{CommitSha, JobId, RepoName, SprintNumber};
use domain::job;
use domain::outgoing_text::{integration, integration_subject};
use domain::policy::Source;
use domain::sprint::{
    self, Report, Sprint, SprintInput, SprintMember, SprintState, WeaveVerdict, Woven,
};
use weave::weave::Order;

use super::launching::part_of;
use super::texts::{clash_of, reported};
use super::{again, named, pull_of};
use crate::backend::{Error, IndexEntry, UnitOfWork, ignore_conflict};
use crate::dispatcher::Dispatcher;
use crate::dispatcher::effects::{EffectOutcome, Settled, WeaveAttempt};
use crate::keys;
use crate::ports::Expect;
use crate::store::aggregate::runs::SPRINT_KEPT;
use crate::weaving::{self, Ask, Known, Push, Refused, Weave, Weaver, Words, publish};
use crate::work::Work;

/// How often a weave is begun anew because a head moved.
const READ_AGAIN_MAX: u32 = 3;

impl Dispatcher {
    /// Asks for the weave that a sprint is at: its effect is saved once.
    pub(super) async fn ask_for_weave(
        &self,
        sprint: &Sprint,
        source: &Source,
    ) -> Result<(), Error> {
        let now = self.backend.now();
        let Some(found) = self.backend.store.job(&sprint.integration).await? else {
            let title = format!("Sprint {}: Integrated Changes", sprint.number);
            let prompt = "Gaffer weaves what the personas of this sprint made.".to_owned();
            let place = (&sprint.integration, &sprint.target);
            let part = part_of(sprint, None);
            let new = self.part_job(source, place, (&title, prompt), part);
            let step = job::integrate(new, sprint.number, sprint.weaves, now)?;
            return self.save_new(step, &named(sprint), now).await;
        };
        if found.value.is_ended() {
            // A person called the job off, and with it the sprint.
            let by = named(sprint);
            let reason = format!("its job {} is over", sprint.integration);
            tracing::warn!(sprint = %by, "{reason}");
            let failed = SprintInput::WeaveFailed {
                weave: sprint.weaves,
                reason,
                may_pass: false,
            };
            return self.decide_now(sprint, &failed).await;
        }
        let step = job::weave_again(&found.value, sprint.number, sprint.weaves);
        let mut unit = self.backend.unit();
        self.backend
            .save_job(&mut unit, Some(&found), &step)
            .await?;
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// Decides about a sprint as it is stored now.
    async fn decide_now(&self, sprint: &Sprint, input: &SprintInput) -> Result<(), Error> {
        let id = (sprint.repo.clone(), sprint.number);
        if let Some(found) = self.backend.store.get::<Sprint>(&id).await? {
            self.decide(&found, std::slice::from_ref(input)).await?;
            self.backend.commit(again(&self.backend, sprint)).await?;
        }
        Ok(())
    }

    /// Why a weave is not wanted any more.
    pub(in crate::dispatcher) async fn not_woven(
        &self,
        repo: &RepoName,
        number: SprintNumber,
        weave: u32,
    ) -> Result<Option<String>, Error> {
        let found = self
            .backend
            .store
            .get::<Sprint>(&(repo.clone(), number))
            .await?;
        let is_wanted = found.is_some_and(|found| {
            found.value.state == SprintState::Integrating && found.value.weaves == weave
        });
        Ok((!is_wanted).then(|| "its sprint does not wait for this weave any more".to_owned()))
    }

    /// Weaves what the members of a sprint made, and pushes it.
    pub(in crate::dispatcher) async fn weave_sprint(
        &self,
        repo: &RepoName,
        number: SprintNumber,
    ) -> Result<EffectOutcome, Error> {
        let sprint = self.backend.must_sprint(repo, Some(number)).await?.value;
        match self.woven_and_pushed(&sprint).await {
            Ok(report) => Ok(EffectOutcome::Woven(Box::new(report))),
            // A weave that broke off is begun anew, whatever of it was pushed: what was woven before is woven again.
            Err(Error::Outside(failure)) => Ok(EffectOutcome::Failed(failure.never_sent())),
            Err(error) => Err(error),
        }
    }

    async fn woven_and_pushed(&self, sprint: &Sprint) -> Result<Report, Error> {
        let weaver = Weaver {
            pulls: &*self.readers.pulls,
            git: &*self.readers.git,
            // A session opens drafts, and one that nothing else stands in the way of is ready.
            with_drafts: true,
        };
        let (weave, moved) = self.woven_at_offers(&weaver, sprint).await?;
        let mut verdicts = reported(&weave);
        let moved = moved.into_iter();
        verdicts.extend(moved.map(|number| (number, WeaveVerdict::Moved)));
        let mut report = Report {
            weave: sprint.weaves,
            woven: None,
            verdicts,
            held: self.held_by(&weaver, sprint, &weave).await?,
        };
        report.fit();
        let push = self.push_of(sprint, &report, &weave.base);
        if let Some(why) = self
            .not_woven(&sprint.repo, sprint.number, sprint.weaves)
            .await?
        {
            return Err(Failure::new(FailureClass::Precondition, why).into());
        }
        match publish(&*self.readers.git, &*self.writers.git, &weave, &push).await {
            Ok(published) => {
                report.woven = published.pull.map(|pull| Woven {
                    weave: sprint.weaves,
                    base: weave.base.clone(),
                    commit: published.commit,
                    pull,
                });
                Ok(report)
            }
            // No member is in, or all that they changed is on the target already.
            Err(Refused::Nothing) => Ok(report),
            Err(Refused::Outside(failure)) => Err(failure.into()),
            Err(Refused::NotOurs(..)) => {
                Err(Failure::new(FailureClass::Invalid, sprint::FOREIGN_COMMIT).into())
            }
            Err(
                refused @ (Refused::Same(_)
                | Refused::Default(_)
                | Refused::OtherBase(..)
                | Refused::Path(..)),
            ) => Err(Failure::new(FailureClass::Invalid, refused.to_string()).into()),
        }
    }

    /// Weaves the pull requests whose heads are those that were judged, and names the others.
    async fn woven_at_offers(
        &self,
        weaver: &Weaver<'_>,
        sprint: &Sprint,
    ) -> Result<(Weave, Vec<u64>), Error> {
        let mut moved: Vec<u64> = Vec::new();
        for _ in 0..READ_AGAIN_MAX {
            let now = self.backend.now();
            let weave = self.woven_in_order(weaver, sprint, &moved).await?;
            let mut others: Vec<u64> = weave
                .taken
                .iter()
                .filter(|taken| !is_offered_at(sprint, taken))
                .map(|taken| taken.number)
                .collect();
            if others.is_empty() {
                let found = weaver.moved(&sprint.repo, &weave, now).await;
                let found = found.map_err(engine_error)?;
                others.extend(found.into_iter().map(|it| it.number));
            }
            if others.is_empty() {
                return Ok((weave, moved));
            }
            moved.append(&mut others);
        }
        let why = "the pull requests of a sprint move while they are read";
        Err(Failure::new(FailureClass::Unavailable, why)
            .never_sent()
            .into())
    }

    /// A member that asked to go first does so if no member that is in falls out by it.
    async fn woven_in_order(
        &self,
        weaver: &Weaver<'_>,
        sprint: &Sprint,
        moved: &[u64],
    ) -> Result<Weave, Error> {
        let now = self.backend.now();
        if sprint
            .offered()
            .iter()
            .any(|it| it.first && it.place.is_none())
        {
            let ask = asked(sprint, moved, true);
            let weave = weaver.weave(&ask, now).await.map_err(engine_error)?;
            if !falls_out(sprint, &weave) {
                return Ok(weave);
            }
        }
        let ask = asked(sprint, moved, false);
        weaver.weave(&ask, now).await.map_err(engine_error)
    }

    fn push_of(&self, sprint: &Sprint, report: &Report, base: &CommitSha) -> Push {
        // The text counts as if the weave were pushed and saved already; it names neither commit nor pull request of it.
        let pushed = Woven {
            weave: sprint.weaves,
            base: base.clone(),
            commit: base.clone(),
            pull: pull_of(sprint, 0),
        };
        let pushed = Report {
            woven: Some(pushed),
            ..report.clone()
        };
        let woven = SprintInput::Woven(Box::new(pushed));
        let after = sprint::apply(sprint, &woven, self.backend.now());
        let (title, body) = integration(&after, report);
        Push {
            repo: sprint.repo.clone(),
            base: sprint.target.clone(),
            default: sprint.target.clone(),
            branch: sprint.number.branch(),
            pull: true,
            words: Some(Words {
                subject: integration_subject(sprint.number),
                title,
                body,
            }),
        }
    }

    /// A weave is done, or never will be.
    pub(in crate::dispatcher) async fn apply_weave(
        &self,
        unit: &mut UnitOfWork,
        attempt: WeaveAttempt<'_>,
        settled: Settled<'_>,
    ) -> Result<(), Error> {
        let Settled {
            effect, outcome, ..
        } = settled;
        let id = (attempt.repo.clone(), attempt.sprint);
        let Some(found) = self.backend.store.get::<Sprint>(&id).await? else {
            return Ok(());
        };
        let now = self.backend.now();
        let next = match outcome {
            EffectOutcome::Woven(report) => {
                self.keep_report(unit, &found.value, report);
                let input = SprintInput::Woven(report.clone());
                let after = sprint::apply(&found.value, &input, now);
                let after = sprint::woven_meanwhile(&after, report, now);
                self.keep_commit(unit, attempt.job, &after, report).await?;
                after
            }
            EffectOutcome::Failed(failure)
                if matches!(effect.state, EffectState::Failed { .. }) =>
            {
                let failed = SprintInput::WeaveFailed {
                    weave: attempt.weave,
                    reason: failure.to_string(),
                    may_pass: failure.class.may_pass(),
                };
                sprint::apply(&found.value, &failed, now)
            }
            EffectOutcome::Failed(_)
            | EffectOutcome::Created(_)
            | EffectOutcome::Proposed(_)
            | EffectOutcome::Merged(_)
            | EffectOutcome::Done => return Ok(()),
        };
        if next != found.value {
            // It is looked at at once, and at its due should the message be lost.
            unit.save_at(&id, &next, Some(found.version), Some(now));
            let key = keys::sprint_pk(attempt.repo, attempt.sprint);
            unit.enqueue(&key, crate::sprints::work(&next));
        }
        Ok(())
    }

    fn keep_report(&self, unit: &mut UnitOfWork, sprint: &Sprint, report: &Report) {
        let key = keys::sprint_weave(&sprint.repo, sprint.number, report.weave);
        let place = IndexEntry::until(unit.now(), SPRINT_KEPT);
        unit.put_if(key, report, Expect::Any, place);
        // What is left out was ready when it was last read, and is not any more.
        let is_skipped = |it: &&(u64, WeaveVerdict)| matches!(it.1, WeaveVerdict::Skipped { .. });
        for (number, _) in report.verdicts.iter().filter(is_skipped) {
            unit.enqueue_hint(Work::of_pull(pull_of(sprint, *number)));
        }
    }

    /// The job of the one pull request keeps which commit is ours, and puts the labels of conflicts on and takes them off.
    async fn keep_commit(
        &self,
        unit: &mut UnitOfWork,
        job: &JobId,
        after: &Sprint,
        report: &Report,
    ) -> Result<(), Error> {
        if let Some(found) = self.backend.store.job(job).await? {
            let woven = report.woven.as_ref();
            let pushed = woven.map(|woven| (&woven.pull, &woven.commit));
            let mut step = job::weave_done(&found.value, pushed);
            step.effects = self.labels_of(after, report.weave).await?;
            self.backend.save_job(unit, Some(&found), &step).await?;
        }
        Ok(())
    }
}

/// Those that were in and are not in this weave.
fn falls_out(sprint: &Sprint, weave: &Weave) -> bool {
    let was_in = sprint.offered().into_iter().filter(|it| it.place.is_some());
    let mut numbers = was_in.filter_map(SprintMember::number);
    let verdicts = reported(weave);
    numbers.any(|number| {
        let verdict = verdicts.iter().find(|(it, _)| *it == number);
        !matches!(verdict, Some((_, WeaveVerdict::In { .. })))
    })
}

/// What is woven: all that is offered, but those that moved. Who asked to go first may be put before those that were in.
fn asked(sprint: &Sprint, moved: &[u64], with_first: bool) -> Ask {
    let offered = sprint.offered();
    let known = offered.iter().filter_map(|member| {
        let known = Known {
            was_in: place_of(member, with_first),
            begins_on: begins_on(sprint, member),
            refused: member
                .refusal
                .iter()
                .flat_map(|refusal| &refusal.clashes)
                .filter_map(clash_of)
                .collect(),
        };
        Some((member.number()?, known))
    });
    let numbers = offered.iter().filter_map(|it| it.number());
    Ask {
        repo: sprint.repo.clone(),
        base: sprint.target.clone(),
        numbers: numbers.filter(|it| !moved.contains(it)).collect(),
        order: Order::Planned,
        known: known.collect::<BTreeMap<_, _>>(),
    }
}

/// The place of a member among those that go first.
fn place_of(member: &SprintMember, with_first: bool) -> Option<usize> {
    let place = member.place.and_then(|place| usize::try_from(place).ok());
    match (with_first, place) {
        (false, place) => place,
        (true, Some(place)) => Some(place + 1),
        (true, None) => member.first.then_some(0),
    }
}

/// Of a job that began on what is woven, only what it changed there is its own.
pub(super) fn begins_on(sprint: &Sprint, member: &SprintMember) -> Option<CommitSha> {
    let woven = sprint.woven.as_ref().filter(|_| member.begins_on_woven());
    woven.map(|woven| woven.commit.clone())
}

/// Whether a pull request was woven at the head that was judged.
fn is_offered_at(sprint: &Sprint, taken: &weaving::Taken) -> bool {
    let offered = sprint
        .offered()
        .into_iter()
        .filter_map(|it| it.offer.as_ref());
    let mut its_own = offered.filter(|offer| offer.pull == taken.number);
    its_own.any(|offer| offer.head == taken.head)
}

fn engine_error(error: weaving::WeavingError) -> Error {
    match error {
        weaving::WeavingError::Outside(failure) => failure.into(),
        weaving::WeavingError::NoBranch(..) | weaving::WeavingError::Excess(_) => {
            Failure::new(FailureClass::Invalid, error.to_string()).into()
        }
    }
}
