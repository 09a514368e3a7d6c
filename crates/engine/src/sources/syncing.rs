//! The reading of a source's issues for a caller who waits, since the API holds no credential.

use std::time::Duration;

use domain::ids::RepoName;
use domain::intake::{Intake, ReadingResult};
use domain::policy::Source;
use domain::refusal::NotNow;

use crate::backend::{Backend, Error};
use crate::store::Aggregate;
use crate::work::Work;

impl Backend {
    /// Requests the reading that the source's due row asks for, and waits for it, at most `within`; `None` when it is
    /// not done by then.
    ///
    /// # Errors
    /// With [`Error::NotNow`] for a source whose issues are not read.
    pub async fn sync_source(
        &self,
        repo: &RepoName,
        within: Duration,
    ) -> Result<Option<ReadingResult>, Error> {
        let source = self.must::<Source>(repo).await?.value;
        if source.deliveries.label.is_none() {
            let sentence = format!("{repo} has no label whose issues become deliveries");
            return Err(NotNow::new("no_intake_label", sentence).into());
        }
        if source.paused {
            let sentence = format!("{repo} is paused: its issues are not read");
            return Err(NotNow::new("source_paused", sentence).into());
        }
        let work = Work::Intake {
            repo: source.repo.clone(),
            number: None,
            webhook: None,
        };
        let key = Intake::key(&source.repo);
        let read: Option<Intake> = self.read_anew(key, work, within).await?;
        Ok(read.and_then(|intake| intake.last).map(|last| last.result))
    }
}
