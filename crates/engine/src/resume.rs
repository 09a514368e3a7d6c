//! Resuming after a pause: held work is handled at once, not only when it is due.

use domain::delivery::Delivery;
use domain::ids::RepoName;
use domain::job::Phase;
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
                if meant(&job.value.repo) && matches!(job.value.phase, Phase::Creating { .. }) {
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
        let mut unlabelled = Vec::new();
        for source in self.store.sources().await? {
            let Source {
                repo,
                pipeline,
                deliveries,
                ..
            } = source.value;
            if !meant(&repo) {
                continue;
            }
            if deliveries.label.is_none() {
                unlabelled.push(repo.clone());
            }
            if let Some(number) = self.sprint_under_way(&repo).await? {
                let repo = repo.clone();
                self.ask(&Work::Sprint { repo, number }).await?;
            }
            if pipeline.is_some() {
                self.ask(&Work::Schedule { repo }).await?;
            }
        }
        for delivery in self.store.open_deliveries().await? {
            if meant(&delivery.value.repo) {
                self.ask_about(delivery.value, &unlabelled).await?;
            }
        }
        Ok(())
    }

    /// Requests handling of a delivery, and a reading of its issue in a source without a label: no list of issues is read
    /// there, and what a webhook told during the pause of the source was dropped.
    async fn ask_about(&self, delivery: Delivery, unlabelled: &[RepoName]) -> Result<(), Error> {
        let Delivery {
            id, repo, issue, ..
        } = delivery;
        self.ask(&Work::Delivery { id }).await?;
        let Some(issue) = issue.filter(|_| unlabelled.contains(&repo)) else {
            return Ok(());
        };
        let work = Work::Intake {
            repo,
            number: Some(issue.number),
            webhook: None,
        };
        self.ask(&work).await
    }

    async fn ask(&self, work: &Work) -> Result<(), Error> {
        let now = SignedDuration::ZERO;
        Ok(self.queue.send(&work.to_body(), now).await?)
    }
}
