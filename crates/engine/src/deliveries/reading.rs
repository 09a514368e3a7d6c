//! Issues that are read for a caller who waits, since the API holds no credential.

use std::time::Duration;

use domain::delivery::IssueRef;

use crate::backend::{Backend, Error};
use crate::keys;
use crate::readings::ReadIssue;
use crate::work::Work;

impl Backend {
    /// Requests a read of an issue and waits for it, at most `within`; `None` when it is not done by then. One that was
    /// read just now is not read again, unless that reading speaks against a delivery: its issue may have changed since.
    pub async fn fresh_issue(
        &self,
        issue: &IssueRef,
        within: Duration,
    ) -> Result<Option<ReadIssue>, Error> {
        let began = self.now();
        let work = Work::Issue {
            issue: issue.clone(),
        };
        let key = keys::issue_read(issue);
        let read = self.fresh::<ReadIssue>(key.clone(), work.clone(), within);
        match read.await? {
            Some(read) if read.read_at < began && !read.is_takeable() => {
                Ok(self.read_anew(key, work, within).await?.or(Some(read)))
            }
            read => Ok(read),
        }
    }
}
