//! Issues that are read for a caller who waits, since the API holds no credential.

use std::time::Duration;

use domain::delivery::IssueRef;
use domain::when::plus;

use crate::backend::{Backend, Error};
use crate::jobs::SEEN_JUST_NOW;
use crate::keys;
use crate::readings::ReadIssue;
use crate::work::Work;

impl Backend {
    /// Requests a read of an issue and waits for it, at most `within`; `None` when it is not done by then. One that was
    /// read just now is not read again.
    pub async fn fresh_issue(
        &self,
        issue: &IssueRef,
        within: Duration,
    ) -> Result<Option<ReadIssue>, Error> {
        let key = keys::issue_read(issue);
        let since = self.now();
        let last = self.store.read::<ReadIssue>(&key).await?;
        let last = last.map(|found| found.value);
        if let Some(last) = last.filter(|last| last.read_at > plus(since, -SEEN_JUST_NOW)) {
            return Ok(Some(last));
        }
        let mut unit = self.unit();
        let issue = issue.clone();
        unit.enqueue(&key.pk, Work::Issue { issue });
        self.commit(unit).await?;
        self.awaited(&key, since, within).await
    }
}
