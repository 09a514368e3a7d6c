//! Saving settings of sources, and the immediate effects of changes.

mod changes;
mod removal;
mod syncing;
mod unread;

use domain::ids::RepoName;
use domain::intake::Intake;
use domain::policy::Source;
use domain::schedule::Schedule;
use jiff::{SignedDuration, Timestamp};

use crate::backend::{Backend, DECIDE_AGAIN_MAX, Error, UnitOfWork, decide_again, ignore_conflict};
use crate::keys;
use crate::ports::{Expect, Key, Record, Write};
use crate::store::{Aggregate, Versioned};
use crate::work::Work;

pub use changes::SourceRefused;

impl Backend {
    /// Saves a source, new or changed. Where its rules for pull requests changed, each is read again at once; so are
    /// its issues, and the schedule of its pipeline.
    pub async fn save_source(
        &self,
        found: Option<&Versioned<Source>>,
        source: &Source,
    ) -> Result<(), Error> {
        let mut unit = self.unit();
        unit.save(&source.repo, source, found.map(|found| found.version));
        let is_resumed = found.is_some_and(|found| found.value.paused) && !source.paused;
        match &source.deliveries.label {
            Some(_) => self.read_issues_soon(&mut unit, &source.repo).await?,
            // No issue is read at intervals, and what a webhook told during the pause was dropped.
            None if is_resumed => {
                let issues = Work::Intake {
                    repo: source.repo.clone(),
                    number: None,
                    webhook: None,
                };
                unit.enqueue(&keys::source(&source.repo).pk, issues);
            }
            None => {}
        }
        if source.pipeline.is_some() {
            self.read_schedule_soon(&mut unit, &source.repo).await?;
        }
        self.commit(unit).await?;
        // What a crash leaves behind ends at its next look.
        if source.deliveries.label.is_none() {
            self.end_of_source::<Intake>(&source.repo).await?;
        }
        if source.pipeline.is_none() {
            self.end_of_source::<Schedule>(&source.repo).await?;
        }
        if found.is_none_or(|found| found.value.judges_like(source)) {
            return Ok(());
        }
        self.read_pulls_soon(&source.repo).await
    }

    /// Has the issues of a source read at once, and from then on at intervals: in the commit of the source, since
    /// nothing else begins it.
    async fn read_issues_soon(&self, unit: &mut UnitOfWork, repo: &RepoName) -> Result<(), Error> {
        let found = self.store.get_or_initial::<Intake>(repo).await?;
        let now = self.now();
        let due = found.value.due.map_or(now, |due| due.min(now));
        let next = Intake {
            due: Some(due),
            ..found.value
        };
        unit.save(repo, &next, Some(found.version));
        Ok(())
    }

    /// Has the schedule of a source's pipeline read at once, and from then on at intervals.
    async fn read_schedule_soon(
        &self,
        unit: &mut UnitOfWork,
        repo: &RepoName,
    ) -> Result<(), Error> {
        let found = self.store.get_or_initial::<Schedule>(repo).await?;
        let next = found.value.asked_again(self.now());
        unit.save(repo, &next, Some(found.version));
        Ok(())
    }

    /// Forgets what a source has in a row of its own, with the due of its next look.
    pub(crate) async fn end_of_source<T: Aggregate<Id = RepoName>>(
        &self,
        repo: &RepoName,
    ) -> Result<(), Error> {
        decide_again(format!("the {} {repo}", T::KIND), || async move {
            let Some(found) = self.store.get::<T>(repo).await? else {
                return Ok(Some(()));
            };
            let mut unit = self.unit();
            unit.delete(T::key(repo), &found);
            Ok(self.try_commit(unit).await?.then_some(()))
        })
        .await
    }

    /// Makes the pull requests of a source due. One that waits for its turn to merge stays unread until that comes.
    pub async fn read_pulls_soon(&self, repo: &RepoName) -> Result<(), Error> {
        let now = self.now();
        for found in self.store.open_pulls().await? {
            let pull = &found.value.pull;
            if pull.pull.repo == *repo && pull.may_be_decided_anew(now) {
                self.bring_forward(&keys::pull(&pull.pull), now).await?;
            }
        }
        Ok(())
    }

    /// Makes a row due later than it was. A settled one, which has no due, stays so.
    pub(crate) async fn put_off(&self, key: &Key, wait: SignedDuration) -> Result<(), Error> {
        let records = self.store.records();
        let Some(record) = records.get(key).await? else {
            return Ok(());
        };
        if record.due.is_none() {
            return Ok(());
        }
        let expect = Expect::Version(record.version);
        let record = Record {
            due: Some(self.now() + wait),
            ..record
        };
        let write = Write::Put { record, expect };
        ignore_conflict(records.commit(vec![write]).await.map_err(Error::from))
    }

    /// Makes a row due earlier than it was. A settled one, which has no due, stays so.
    pub(crate) async fn bring_forward(&self, key: &Key, at: Timestamp) -> Result<(), Error> {
        let records = self.store.records();
        for _ in 0..DECIDE_AGAIN_MAX {
            let Some(record) = records.get(key).await? else {
                return Ok(());
            };
            if record.due.is_none_or(|due| due <= at) {
                return Ok(());
            }
            let expect = Expect::Version(record.version);
            let record = Record {
                due: Some(at),
                ..record
            };
            let write = Write::Put { record, expect };
            match records.commit(vec![write]).await.map_err(Error::from) {
                // A concurrent commit may rest on the state before.
                Err(error) if error.is_conflict() => {}
                outcome => return outcome,
            }
        }
        Ok(())
    }
}
