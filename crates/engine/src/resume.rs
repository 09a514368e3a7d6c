//! The begin and the end of a pause: sprints are looked at, and what was held is handled at once, not only when it is due.

use std::collections::BTreeSet;

use domain::ids::RepoName;
use domain::policy::Source;
use jiff::SignedDuration;

use crate::backend::{Backend, Error};
use crate::settings::Switches;
use crate::work::Work;

impl Backend {
    /// Notes down whether this process only observes, for those who only look at the store. What an observer before it
    /// held goes on at once.
    pub async fn note_observing(&self) -> Result<(), Error> {
        let observes = self.observe_only;
        let before = self.store.switches().await?.value.observe_only;
        if before == observes {
            return Ok(());
        }
        self.update_or_initial(&(), |switches: &Switches| {
            let next = Switches {
                observe_only: observes,
                ..switches.clone()
            };
            Ok::<_, Error>((next, ()))
        })
        .await?;
        match observes {
            true => Ok(()),
            false => self.go_on(None).await,
        }
    }

    /// Requests a look at the sprints that a pause holds, of one source or all: their members are waited for up to that look.
    pub async fn hold_sprints(&self, of: Option<&RepoName>) -> Result<(), Error> {
        for source in self.store.sources().await? {
            let repo = source.value.repo;
            if of.is_some_and(|of| *of != repo) {
                continue;
            }
            if let Some(number) = self.sprint_under_way(&repo).await? {
                self.ask(&Work::Sprint { repo, number }).await?;
            }
        }
        Ok(())
    }

    /// Requests handling of everything that may have been held, for one source or all. What a crash prevents is
    /// handled when it is due.
    pub async fn go_on(&self, of: Option<&RepoName>) -> Result<(), Error> {
        let open = self.open_work(of).await?.into_iter();
        let mut works: Vec<Work> = open.filter_map(|entry| entry.continued_by).collect();
        works.extend(self.starters(of).await?);
        let mut asked = BTreeSet::new();
        self.ask_once(works, &mut asked).await?;
        let effects = self.due_effects(of).await?;
        self.ask_once(effects, &mut asked).await
    }

    /// Requests what was not asked for yet.
    async fn ask_once(&self, works: Vec<Work>, asked: &mut BTreeSet<String>) -> Result<(), Error> {
        for work in works {
            if asked.insert(work.key()) {
                self.ask(&work).await?;
            }
        }
        Ok(())
    }

    /// What begins jobs and runs: the slots of accounts, and the schedules of pipelines.
    async fn starters(&self, of: Option<&RepoName>) -> Result<Vec<Work>, Error> {
        let accounts = self.store.accounts().await?.into_iter();
        let slots = accounts.map(|found| Work::Slots {
            account: found.value.name,
        });
        let mut works: Vec<Work> = slots.collect();
        for source in self.store.sources().await? {
            let Source { repo, pipeline, .. } = source.value;
            if pipeline.is_some() && of.is_none_or(|of| *of == repo) {
                works.push(Work::Schedule { repo });
            }
        }
        Ok(works)
    }

    /// Requests readings of the issues of a source's open deliveries, each by its number.
    pub(crate) async fn ask_for_issues(&self, of: &RepoName) -> Result<(), Error> {
        let open = self.store.open_deliveries().await?.into_iter();
        let issues = open.filter_map(|found| found.value.issue);
        for issue in issues.filter(|issue| issue.repo == *of) {
            let work = Work::Intake {
                repo: issue.repo,
                number: Some(issue.number),
                webhook: None,
            };
            self.ask(&work).await?;
        }
        Ok(())
    }

    async fn ask(&self, work: &Work) -> Result<(), Error> {
        let now = SignedDuration::ZERO;
        Ok(self.queue.send(&work.to_body(), now).await?)
    }
}
