//! What people and agents may do with sprints. Nothing here talks to anyone: the dispatcher reads files, makes jobs and
//! weaves.

mod choosing;
mod starting;

use domain::advice::{Advice, NO_NEWEST};
use domain::delivery::DeliveryReason;
use domain::ids::{JobId, PersonaName, PullRef, RepoName, SprintNumber};
use domain::policy::Source;
use domain::refusal::NotNow;
use domain::sprint::{self, Report, Sprint};
use jiff::Timestamp;

use crate::backend::{Backend, Error, decide_again};
use crate::keys;
use crate::store::{Versioned, decode};
use crate::work::Work;

pub use starting::{SprintPlan, StartedSprint};

/// How many sprints one list shows at most.
pub const LIST_MAX: usize = 200;

/// What a sprint is asked to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SprintOrder {
    /// The repository, which has to be a source.
    pub repo: RepoName,
    /// Its number; the next one without it.
    pub number: Option<SprintNumber>,
    /// Who takes part; all that are in the batch without any.
    pub personas: Vec<PersonaName>,
}

impl Backend {
    /// A sprint that has to be stored; the newest one without a number.
    pub async fn must_sprint(
        &self,
        repo: &RepoName,
        number: Option<SprintNumber>,
    ) -> Result<Versioned<Sprint>, Error> {
        if let Some(number) = number {
            return self.must::<Sprint>(&(repo.clone(), number)).await;
        }
        if let Some(newest) = self.newest_sprint(repo).await? {
            return Ok(newest);
        }
        // Where there is no source, no first sprint can be started either.
        self.must::<Source>(repo).await?;
        Err(Error::NoSuch {
            what: "sprint",
            name: format!("{NO_NEWEST}{repo}"),
        })
    }

    /// The newest sprint of a repository, if it is still stored.
    pub(crate) async fn newest_sprint(
        &self,
        repo: &RepoName,
    ) -> Result<Option<Versioned<Sprint>>, Error> {
        let key = keys::sprint_turn(repo);
        let Some(turn) = self.store.read::<SprintNumber>(&key).await? else {
            return Ok(None);
        };
        Ok(self
            .store
            .get::<Sprint>(&(repo.clone(), turn.value))
            .await?)
    }

    /// The sprint of a repository that is under way.
    pub(crate) async fn sprint_under_way(
        &self,
        repo: &RepoName,
    ) -> Result<Option<SprintNumber>, Error> {
        let newest = self.newest_sprint(repo).await?.map(|found| found.value);
        let under_way = newest.filter(|newest| !newest.is_over());
        Ok(under_way.map(|newest| newest.number))
    }

    /// The newest sprints of a repository first, at most `limit`.
    pub async fn sprints(&self, repo: &RepoName, limit: usize) -> Result<Vec<Sprint>, Error> {
        let list = keys::sprints_of(repo);
        let records = self.store.records();
        let page = records.list(&list, true, None, limit.min(LIST_MAX)).await?;
        page.records
            .iter()
            .map(|it| Ok(decode(it)?.value))
            .collect()
    }

    /// The reports of a sprint's weaves, in order.
    pub async fn sprint_weaves(&self, sprint: &Sprint) -> Result<Vec<Report>, Error> {
        let mut reports = Vec::new();
        for weave in 1..=sprint.weaves {
            let key = keys::sprint_weave(&sprint.repo, sprint.number, weave);
            let found = self.store.read::<Report>(&key).await?;
            reports.extend(found.map(|found| found.value));
        }
        Ok(reports)
    }

    /// The pull requests of a sprint's members, as far as their jobs know any.
    pub async fn sprint_pulls(&self, sprint: &Sprint) -> Result<Vec<(JobId, PullRef)>, Error> {
        let mut pulls = Vec::new();
        for member in &sprint.members {
            let job = self.store.job(&member.job).await?;
            let pull = job.and_then(|found| found.value.pull().cloned());
            pulls.extend(pull.map(|pull| (member.job.clone(), pull)));
        }
        Ok(pulls)
    }

    /// Calls a sprint off: its jobs are cancelled, and branches and pull requests stay.
    pub async fn abort_sprint(
        &self,
        repo: &RepoName,
        number: Option<SprintNumber>,
        by: &str,
    ) -> Result<Sprint, Error> {
        self.decide_sprint(repo, number, |it, now| sprint::abort(it, by, now))
            .await
    }

    /// Weaves what there is; `without_waiting` also while members work, who are waited for no more. Not in a pause: what members
    /// finished since it began would be left out.
    pub async fn integrate_sprint(
        &self,
        repo: &RepoName,
        number: Option<SprintNumber>,
        without_waiting: bool,
    ) -> Result<Sprint, Error> {
        let pauses = self.pauses(repo).await?;
        let decide = |it: &Sprint, now| {
            sprint::must_go_on(it)?;
            // No end of a pause would change this refusal.
            sprint::must_be_woven(it)?;
            must_see_members(repo, &pauses)?;
            match without_waiting {
                true => sprint::integrate_now(it, now),
                false => sprint::integrate(it, now),
            }
        };
        self.decide_sprint(repo, number, decide).await
    }

    /// Has a sprint and its pull requests looked at now. Not in a pause: the sprint would decide nothing.
    pub async fn tick_sprint(
        &self,
        repo: &RepoName,
        number: Option<SprintNumber>,
    ) -> Result<Sprint, Error> {
        let found = self.must_sprint(repo, number).await?.value;
        sprint::must_go_on(&found)?;
        must_see_members(repo, &self.pauses(repo).await?)?;
        let mut unit = self.unit();
        unit.enqueue(&keys::sprint_pk(&found.repo, found.number), work(&found));
        let of_members = self.sprint_pulls(&found).await?.into_iter();
        let woven = found.woven.as_ref().map(|woven| woven.pull.clone());
        for pull in of_members.map(|(_, pull)| pull).chain(woven) {
            unit.enqueue_hint(Work::of_pull(pull));
        }
        self.commit(unit).await?;
        Ok(found)
    }

    /// Decides about a sprint, saves it and has it looked at.
    async fn decide_sprint(
        &self,
        repo: &RepoName,
        number: Option<SprintNumber>,
        decide: impl Fn(&Sprint, Timestamp) -> Result<Sprint, NotNow>,
    ) -> Result<Sprint, Error> {
        decide_again(format!("a sprint of {repo}"), || async {
            let found = self.must_sprint(repo, number).await?;
            let now = self.now();
            let next = decide(&found.value, now)?;
            let mut unit = self.unit();
            let id = (next.repo.clone(), next.number);
            // What follows from it is carried out at its due, should the message be lost.
            unit.save_at(&id, &next, Some(found.version), Some(now));
            unit.enqueue(&keys::sprint_pk(&id.0, id.1), work(&next));
            Ok(self.try_commit(unit).await?.then_some(next))
        })
        .await
    }
}

/// Refuses what is decided by how far members are while a pause keeps the sprint from seeing that.
fn must_see_members(repo: &RepoName, pauses: &[DeliveryReason]) -> Result<(), NotNow> {
    let Some(first) = pauses.first() else {
        return Ok(());
    };
    let told: Vec<&str> = pauses.iter().map(|it| it.sentence.as_str()).collect();
    let sentence = format!(
        "What members finished is seen only once writing goes on. {}",
        told.join(" ")
    );
    let ends = |pause: &DeliveryReason| match pause.code {
        "paused" => Some(Advice::Resume.about(&"")),
        "source_paused" => Some(Advice::ResumeSource.about(repo)),
        _ => None,
    };
    let refused = NotNow::new(first.code, sentence);
    let ends = pauses.iter().filter_map(ends);
    Err(ends.fold(refused, NotNow::advising))
}

/// What has a sprint looked at.
pub(crate) fn work(sprint: &Sprint) -> Work {
    Work::Sprint {
        repo: sprint.repo.clone(),
        number: sprint.number,
    }
}
