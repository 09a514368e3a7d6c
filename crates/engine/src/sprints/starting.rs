//! The start of a sprint: who takes part, by the files of the repository, and how it goes, by the settings of its source.

use std::time::Duration;

use domain::advice::Advice;
use domain::governor::{self, Limits, Room};
use domain::ids::{BranchName, CommitSha, PersonaName, RepoName, SprintNumber};
use domain::policy::Source;
use domain::refusal::NotNow;
use domain::sprint::{self, Integration, MemberState, NewSprint, Sprint, SprintMember, SprintMode};

use super::choosing::chosen;
use super::{LIST_MAX, SprintOrder, work};
use crate::backend::{Backend, Error, IndexEntry, decide_again};
use crate::jobs::{IdempotencyKey, IdempotentOrder, reused};
use crate::readings::ReadPersonas;
use crate::slots::SlotCheck;
use crate::store::Versioned;
use crate::work::Work;
use crate::{keys, retention};

/// How much higher than the last number a new one may be: the numbers after a mistyped one would all be past.
const AHEAD_MAX: u32 = 1_000;

/// Longest name of who starts one, in characters.
const BY_CHARS_MAX: usize = 80;

/// What a sprint would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SprintPlan {
    /// The repository.
    pub repo: RepoName,
    /// Its number.
    pub number: SprintNumber,
    /// The branch that everything goes to.
    pub target: BranchName,
    /// The branch that its members are woven into.
    pub branch: BranchName,
    /// The commit whose files say who the personas are.
    pub personas_at: CommitSha,
    /// Who takes part.
    pub personas: Vec<PersonaName>,
    /// How many of them begin when others are through, or when a pause ends.
    pub pending: u32,
    /// How it would go.
    pub mode: SprintMode,
    /// Files of personas that cannot be used.
    pub faults: Vec<String>,
    /// What the account has left.
    pub room: Room,
}

/// A sprint that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedSprint {
    /// The sprint.
    pub sprint: Sprint,
    /// Files of personas that cannot be used, and so take no part.
    pub faults: Vec<String>,
}

impl Backend {
    /// What a sprint would be: nothing is created. The files of the personas are read for it, awaited at most `within`.
    pub async fn plan_sprint(
        &self,
        order: &SprintOrder,
        within: Duration,
    ) -> Result<SprintPlan, Error> {
        let (source, _) = self.source_of_sprint(&order.repo).await?;
        let number = self.number_of_sprint(order).await?;
        let read = self.personas_of(&source.value, number, within).await?;
        self.plan_sprint_as_read(order, read).await
    }

    /// The same after the files of the personas were read.
    async fn plan_sprint_as_read(
        &self,
        order: &SprintOrder,
        read: ReadPersonas,
    ) -> Result<SprintPlan, Error> {
        let (source, target) = self.source_of_sprint(&order.repo).await?;
        let number = self.number_of_sprint(order).await?;
        let (personas_at, personas) = chosen(order, &target, &read)?;
        let mode = source.value.sprints.mode(number);
        must_have_free_branch(&order.repo, number, mode, &read)?;
        let new = NewSprint {
            repo: source.value.repo.clone(),
            number,
            account: source.value.account.clone(),
            target: target.clone(),
            personas_at: personas_at.clone(),
            personas,
            mode,
            by: String::new(),
        };
        // The plan is what the start makes of it.
        let members = sprint::start(new, self.now())?.members;
        let is_held = !self.pauses(&source.value.repo).await?.is_empty();
        let is_later = |it: &SprintMember| is_held || it.state == MemberState::Pending;
        let pending = members.iter().filter(|it| is_later(it));
        Ok(SprintPlan {
            pending: u32::try_from(pending.count()).unwrap_or(u32::MAX),
            mode,
            repo: source.value.repo.clone(),
            number,
            branch: number.branch(),
            target,
            personas_at,
            personas: members.into_iter().map(|it| it.persona).collect(),
            faults: read.faults,
            room: self.room_of(&source.value).await?,
        })
    }

    /// Starts a sprint. Only one of a repository is under way at a time.
    pub async fn start_sprint(
        &self,
        order: &SprintOrder,
        within: Duration,
        by: &str,
    ) -> Result<StartedSprint, Error> {
        let plan = self.plan_sprint(order, within).await?;
        self.start_planned(&plan, by, None).await
    }

    /// Starts a sprint under a name, once: the same name with the same order returns the same sprint, also when that is over.
    pub async fn start_sprint_once(
        &self,
        order: &SprintOrder,
        once: &IdempotencyKey,
        within: Duration,
        by: &str,
    ) -> Result<StartedSprint, Error> {
        if let Some(started) = self.started_before(&order.repo, once).await? {
            return Ok(started);
        }
        let begun = async {
            let plan = self.plan_sprint(order, within).await?;
            self.start_planned(&plan, by, Some(once)).await
        };
        match Box::pin(begun).await {
            Ok(started) => Ok(started),
            // The same order may have come twice at once.
            Err(error) => match self.started_before(&order.repo, once).await? {
                Some(started) => Ok(started),
                None => Err(error),
            },
        }
    }

    /// The sprint that was started under this name; another order under it is refused. What is wrong with files is told again
    /// while the personas of no other commit were read.
    async fn started_before(
        &self,
        repo: &RepoName,
        once: &IdempotencyKey,
    ) -> Result<Option<StartedSprint>, Error> {
        let key = keys::once(&once.name);
        let Some(carried) = self.store.read::<IdempotentOrder>(&key).await? else {
            return Ok(None);
        };
        if carried.value.order != once.order {
            return Err(reused().into());
        }
        let mut sprints = self.sprints(repo, LIST_MAX).await?.into_iter();
        let Some(sprint) = sprints.find(|it| it.integration == carried.value.job) else {
            return Ok(None);
        };
        let key = keys::personas_read(repo);
        let read = self.store.read::<ReadPersonas>(&key).await?;
        let its_own = read.filter(|it| it.value.commit.as_ref() == Some(&sprint.personas_at));
        let faults = its_own.map(|it| it.value.faults).unwrap_or_default();
        Ok(Some(StartedSprint { sprint, faults }))
    }

    /// Starts the sprint after one that is over, unless a person was first. Returns whether it was started here.
    pub(crate) async fn start_next_sprint(
        &self,
        last: &Sprint,
        read: ReadPersonas,
    ) -> Result<bool, Error> {
        let order = SprintOrder {
            repo: last.repo.clone(),
            number: Some(last.number.next()),
            personas: Vec::new(),
        };
        let newest = self.must_sprint(&last.repo, None).await?.value.number;
        if newest != last.number {
            return Ok(false);
        }
        let plan = self.plan_sprint_as_read(&order, read).await?;
        let by = format!("sprint {}", last.number);
        self.start_planned(&plan, &by, None).await.map(|_| true)
    }

    async fn start_planned(
        &self,
        plan: &SprintPlan,
        by: &str,
        once: Option<&IdempotencyKey>,
    ) -> Result<StartedSprint, Error> {
        decide_again(format!("a sprint of {}", plan.repo), || async {
            let (source, _) = self.source_of_sprint(&plan.repo).await?;
            let turn = self.free_turn(&plan.repo, plan.number).await?;
            let now = self.now();
            let new = NewSprint {
                repo: plan.repo.clone(),
                number: plan.number,
                account: source.value.account.clone(),
                target: plan.target.clone(),
                personas_at: plan.personas_at.clone(),
                personas: plan.personas.clone(),
                mode: plan.mode,
                by: domain::fence::clip(by, BY_CHARS_MAX),
            };
            let new = sprint::start(new, now)?;
            let mut unit = self.unit();
            let id = (plan.repo.clone(), plan.number);
            unit.save_at(&id, &new, None, Some(now));
            let key = keys::sprint_turn(&plan.repo);
            unit.put(key, &plan.number, turn, IndexEntry::default());
            if let Some(once) = once {
                let carried = IdempotentOrder {
                    order: once.order.clone(),
                    job: new.integration.clone(),
                };
                let place = IndexEntry::until(now, retention::ONCE);
                unit.put(keys::once(&once.name), &carried, None, place);
            }
            // A source that is removed meanwhile would leave the sprint without one.
            unit.check(keys::source(&plan.repo), source.version);
            unit.enqueue(&keys::sprint_pk(&id.0, id.1), work(&new));
            let faults = plan.faults.clone();
            let started = StartedSprint {
                sprint: new,
                faults,
            };
            Ok(self.try_commit(unit).await?.then_some(started))
        })
        .await
    }

    async fn source_of_sprint(
        &self,
        repo: &RepoName,
    ) -> Result<(Versioned<Source>, BranchName), Error> {
        let source = self.must::<Source>(repo).await?;
        let target = source.value.branch.clone().ok_or_else(|| {
            let sentence = format!(
                "source {repo} names no branch, and a sprint goes to one: have the source name it"
            );
            NotNow::new("branch_missing", sentence).about("branch")
        })?;
        Ok((source, target))
    }

    /// The number that a sprint gets.
    async fn number_of_sprint(&self, order: &SprintOrder) -> Result<SprintNumber, Error> {
        let turn = keys::sprint_turn(&order.repo);
        let last = self.store.read::<SprintNumber>(&turn).await?;
        let next = last.map_or(SprintNumber::FIRST, |last| last.value.next());
        let number = order.number.unwrap_or(next);
        self.free_turn(&order.repo, number).await?;
        Ok(number)
    }

    /// The version of the record that says which sprint is the newest. Refuses a number that is past or far ahead, and any while
    /// a sprint is under way.
    async fn free_turn(&self, repo: &RepoName, number: SprintNumber) -> Result<Option<u64>, Error> {
        let key = keys::sprint_turn(repo);
        let turn = self.store.read::<SprintNumber>(&key).await?;
        let last = turn.as_ref().map(|turn| turn.value);
        if number.number()
            > last
                .map_or(0, SprintNumber::number)
                .saturating_add(AHEAD_MAX)
        {
            let sentence = format!(
                "sprint {number} of {repo} is far ahead of the last one: a number is at most {AHEAD_MAX} higher"
            );
            return Err(NotNow::new("far_number", sentence).about("number").into());
        }
        let Some(last) = last else {
            return Ok(None);
        };
        if self.sprint_under_way(repo).await?.is_some() {
            let sentence = format!(
                "sprint {last} of {repo} is under way already: wait for its end, or abort it"
            );
            let refused = NotNow::new("already_running", sentence)
                .advising(Advice::WhySprint.about(repo))
                .advising(Advice::AbortSprint.about(repo));
            return Err(refused.into());
        }
        if number <= last {
            let sentence = format!(
                "sprint {number} of {repo} is past: leave the number out, or give one from {} on",
                last.next()
            );
            return Err(NotNow::new("past_number", sentence).about("number").into());
        }
        Ok(turn.map(|turn| turn.version))
    }

    async fn personas_of(
        &self,
        source: &Source,
        number: SprintNumber,
        within: Duration,
    ) -> Result<ReadPersonas, Error> {
        let repo = source.repo.clone();
        let key = keys::personas_read(&repo);
        let work = Work::Personas { repo, number };
        let read = self.read_anew::<ReadPersonas>(key, work, within).await?;
        let read = read.ok_or_else(|| {
            let sentence = format!(
                "the personas of {} were not read in time: check that Gaffer runs, and try again",
                source.repo
            );
            NotNow::new("personas_unread", sentence)
        })?;
        match &read.failure {
            Some(failure) => {
                let sentence = format!("the personas of {} cannot be read: {failure}", source.repo);
                Err(NotNow::new("personas_unread", sentence).into())
            }
            None => Ok(read),
        }
    }

    async fn room_of(&self, source: &Source) -> Result<Room, Error> {
        let now = self.now();
        // As the queue does: a slot is recorded until the next job wants it, also that of a job that is over.
        let held = self.store.slots_held(&source.account, SlotCheck::All, now);
        let slots = held.await?.value;
        let account = self.store.account(&source.account).await?;
        let limits = account.map_or_else(Limits::default, |it| it.value.limits);
        Ok(governor::room(&slots, limits, now))
    }
}

/// Refuses a sprint whose branch ends with a commit of another hand: it would end at its first weave, after all its sessions.
fn must_have_free_branch(
    repo: &RepoName,
    number: SprintNumber,
    mode: SprintMode,
    read: &ReadPersonas,
) -> Result<(), NotNow> {
    let is_woven = match mode.integration {
        Integration::Consolidated => true,
        Integration::Individual => false,
    };
    if !is_woven || read.taken != Some(number) {
        return Ok(());
    }
    let (branch, next) = (number.branch(), number.next());
    let sentence = format!(
        "the branch `{branch}` of {repo} ends with a commit that no weave of sprint {number} made: delete it with `git push origin --delete {branch}`, or give another number, such as {next}"
    );
    Err(NotNow::new("branch_taken", sentence))
}
