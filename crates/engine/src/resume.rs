//! The begin and the end of a pause: sprints are looked at, and what was held is handled at once, not only when it is due.

use domain::delivery::Delivery;
use domain::ids::RepoName;
use domain::job::JobPhase;
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
        let meant = |repo: &RepoName| of.is_none_or(|of| of == repo);
        for account in self.store.accounts().await? {
            let account = account.value.name;
            for job in self.store.watched(&account).await? {
                if meant(&job.value.repo) {
                    self.ask(&Work::Job { id: job.value.id }).await?;
                }
            }
            // Slots begin jobs that are queued; a create that was held belongs to its job. Others may have taken its turn.
            for job in self.store.queued(&account).await? {
                if meant(&job.value.repo) && matches!(job.value.phase, JobPhase::Creating { .. }) {
                    self.ask(&Work::Job { id: job.value.id }).await?;
                }
            }
            self.ask(&Work::Slots { account }).await?;
        }
        for pull in self.store.open_pulls().await? {
            let pull = pull.value.pull.pull;
            if meant(&pull.repo) {
                let work = Work::Pull {
                    pull,
                    job: None,
                    received_at: None,
                };
                self.ask(&work).await?;
            }
        }
        for source in self.store.sources().await? {
            let Source { repo, pipeline, .. } = source.value;
            if !meant(&repo) {
                continue;
            }
            if let Some(number) = self.sprint_under_way(&repo).await? {
                let repo = repo.clone();
                self.ask(&Work::Sprint { repo, number }).await?;
            }
            if let Some(run) = self.running_pipeline(&repo).await? {
                self.ask(&Work::Pipeline { id: run.id }).await?;
            }
            if pipeline.is_some() {
                self.ask(&Work::Schedule { repo }).await?;
            }
        }
        for delivery in self.store.open_deliveries().await? {
            let Delivery { id, repo, .. } = delivery.value;
            if meant(&repo) {
                self.ask(&Work::Delivery { id }).await?;
            }
        }
        Ok(())
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
