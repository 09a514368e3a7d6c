//! Writes, and how far they follow a repository that was renamed.

use domain::failure::Failure;

use super::Client;
use super::call::{Answer, Call, Purpose, moved_to, success};
use super::transport::Received;

impl Client {
    /// Sends a write. It follows a renamed repository only if that is the one that was last read under its old name.
    pub(crate) async fn write(&self, call: Call<'_>) -> Result<Answer, Failure> {
        self.write_as(call, Purpose::Write).await
    }

    /// The same for a write that goes on with what an earlier one began: it waits for no turn of its own, since what was
    /// begun would be begun again at every turn.
    pub(crate) async fn follow_up(&self, call: Call<'_>) -> Result<Answer, Failure> {
        self.write_as(call, Purpose::FollowUp).await
    }

    async fn write_as(&self, call: Call<'_>, purpose: Purpose) -> Result<Answer, Failure> {
        let exchanged = Box::pin(self.perform(&call, purpose, false)).await?;
        let Some(url) = self.same_repository_at(&call, &exchanged.received) else {
            return success(&call, exchanged.received, None);
        };
        let call = Call { url, ..call };
        let until = self.deadline();
        // Nothing was done at the first address, so this is still the one write that was paid for.
        let exchanged = Box::pin(self.attempt(&call, exchanged.pass, false, until)).await?;
        success(&call, exchanged.received, None)
    }

    /// Where a write that was led on has to go: the same path below the number of the repository that was last read.
    fn same_repository_at(&self, call: &Call<'_>, received: &Received) -> Option<String> {
        let to = moved_to(received)?;
        let keeps_its_method = matches!(received.status.as_u16(), 307 | 308);
        let id = self.identity(call.repo)?;
        let expected = self.by_number(call.repo, id, &call.url)?;
        (keeps_its_method && to == expected).then_some(expected)
    }
}
