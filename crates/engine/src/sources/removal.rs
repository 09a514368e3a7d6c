//! Removing a source: only one in which nothing is open that holds it.

use domain::advice::{Advice, Next};
use domain::ids::RepoName;
use domain::intake::Intake;
use domain::policy::Source;
use domain::redelivery::WebhookLog;
use domain::schedule::Schedule;

use crate::backend::{Backend, Error, decide_again, ignore_conflict};
use crate::in_use::SourceInUse;
use crate::keys;
use crate::open_work::OpenWork;
use crate::settings::Switches;
use crate::store::Aggregate;

impl Backend {
    /// Removes a source and the state of its repository; its ended jobs, its closed deliveries and their events stay.
    /// Returns its name as it was stored.
    ///
    /// # Errors
    /// With [`Error::NoSuch`] for a source that there is not.
    pub async fn remove_source(
        &self,
        repo: &RepoName,
    ) -> Result<Result<RepoName, SourceInUse>, Error> {
        let removed = match self.remove_unused(repo).await? {
            Ok(removed) => removed,
            Err(used) => return Ok(Err(used)),
        };
        // What was created between the look and the removal needs its source.
        if let Some(used) = self.use_of(repo).await? {
            // Or it was added again meanwhile.
            ignore_conflict(self.save_source(None, &removed).await)?;
            return Ok(Err(used));
        }
        Ok(Ok(removed.repo))
    }

    async fn remove_unused(&self, repo: &RepoName) -> Result<Result<Source, SourceInUse>, Error> {
        decide_again(format!("source {repo}"), async || {
            let found = self.must::<Source>(repo).await?;
            if let Some(used) = self.use_of(repo).await? {
                return Ok(Some(Err(used)));
            }
            let mut unit = self.unit();
            unit.delete(keys::source(repo), &found);
            let reach = self.store.reach(repo).await?;
            if reach.version > 0 {
                unit.delete(keys::repository_access(repo), &reach);
            }
            let log = WebhookLog::Repo(repo.clone());
            if let Some(repair) = self.store.repair(&log).await? {
                unit.delete(keys::hook_log(&log), &repair);
            }
            if let Some(intake) = self.store.get::<Intake>(repo).await? {
                unit.delete(Intake::key(repo), &intake);
            }
            if let Some(schedule) = self.store.get::<Schedule>(repo).await? {
                unit.delete(Schedule::key(repo), &schedule);
            }
            let is_saved = self.try_commit(unit).await?;
            Ok(is_saved.then_some(Ok(found.value)))
        })
        .await
    }

    /// What is open in a source and keeps it.
    async fn use_of(&self, repo: &RepoName) -> Result<Option<SourceInUse>, Error> {
        let open = self.open_work(Some(repo)).await?.into_iter();
        let mut open = open.filter(|entry| entry.holds_source).map(|it| it.what);
        let Some(first) = open.next() else {
            return Ok(None);
        };
        let others: Vec<OpenWork> = open.collect();
        let switches = self.store.switches().await?.value;
        Ok(Some(SourceInUse {
            first,
            others,
            observes: self.observe_only || switches.observe_only,
            pauses: self.ends_of_pauses(repo, &switches).await?,
        }))
    }

    /// What ends the pauses of a source.
    async fn ends_of_pauses(
        &self,
        repo: &RepoName,
        switches: &Switches,
    ) -> Result<Vec<Next>, Error> {
        let source = self.store.source(repo).await?;
        let of_all = switches.paused_since.map(|_| Advice::Resume.about(repo));
        let is_paused = source.is_some_and(|source| source.value.paused);
        let of_source = is_paused.then(|| Advice::ResumeSource.about(repo));
        Ok(of_all.into_iter().chain(of_source).collect())
    }
}
