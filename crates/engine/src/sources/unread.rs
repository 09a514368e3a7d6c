//! Sources whose issues could not be read: no surface may show one of them as idle.

use domain::intake::{self, Intake};
use domain::policy::Source;
use domain::status::UnreadIssuesView;

use crate::ports::RecordsError;
use crate::store::{Store, Versioned};

impl Store {
    /// How far the issues of a source were read. Those of a source without a label are not read at intervals.
    pub async fn intake(&self, source: &Source) -> Result<Intake, RecordsError> {
        match source.deliveries.label {
            Some(_) => Ok(self.get_or_initial::<Intake>(&source.repo).await?.value),
            None => Ok(Intake::default()),
        }
    }

    /// Those of these sources whose issues could not be read.
    pub async fn unread_issues(
        &self,
        sources: &[Versioned<Source>],
    ) -> Result<Vec<UnreadIssuesView>, RecordsError> {
        let mut unread = Vec::new();
        for source in sources {
            let intake = self.intake(&source.value).await?;
            let repo = &source.value.repo;
            unread.extend(intake.failure().map(|(at, why)| UnreadIssuesView {
                repo: repo.clone(),
                at,
                sentence: intake::unread(repo, why),
            }));
        }
        Ok(unread)
    }
}
