//! Pull requests that cannot be read now: they are read later, and no message is spent on waiting.

use domain::failure::{Failure, FailureClass};
use domain::ids::{JobId, PullRef};
use domain::redact::presentable;
use jiff::{SignedDuration, Timestamp};

use crate::backend::{Error, IndexEntry, ignore_conflict};
use crate::dispatcher::Dispatcher;
use crate::keys;
use crate::ports::Expect;
use crate::settings::{OutboxRow, TrackedPull, UnreadPull};
use crate::store::Versioned;
use crate::work::Work;

/// The first wait for a pull request that could be read a moment ago.
const AGAIN_SOON: SignedDuration = SignedDuration::from_secs(15);

/// The longest wait while nothing can be read.
const AGAIN_LATE: SignedDuration = SignedDuration::from_mins(5);

/// How much of a failure is kept, in characters.
const WHY_CHARS_MAX: usize = 300;

/// The wait for a pull request that was never read.
const AGAIN_UNREAD: SignedDuration = SignedDuration::from_secs(60);

impl Dispatcher {
    /// Postpones the next reading. A pull request of ours has a due time; for another one the request stays in the
    /// outbox.
    pub(super) async fn unread(
        &self,
        reference: &PullRef,
        hint: Option<&JobId>,
        failure: &Failure,
    ) -> Result<(), Error> {
        tracing::warn!(pull = %reference, %failure, "the pull request cannot be read now");
        if let Some(found) = self.backend.store.pull(reference).await? {
            let wait = self.wait_of(&found, failure);
            self.look_at_effects_again(reference, wait).await?;
            return self.read_later(found, wait, failure).await;
        }
        if self.is_worth_another_look(hint, failure).await? {
            return self.park(reference, hint, failure).await;
        }
        Ok(())
    }

    /// Makes one of ours due later, and keeps why it was not read. A settled one, which has no due, stays so.
    async fn read_later(
        &self,
        found: Versioned<TrackedPull>,
        wait: SignedDuration,
        failure: &Failure,
    ) -> Result<(), Error> {
        if found.due.is_none() {
            return Ok(());
        }
        let mut unit = self.backend.unit();
        let again_at = unit.now() + wait;
        let next = TrackedPull {
            unread: Some(unread(failure, again_at)),
            ..found.value
        };
        let reference = &next.pull.pull;
        let list = keys::listed(keys::OPEN_PULLS, keys::pull_pk(reference));
        let place = IndexEntry {
            due: Some(again_at),
            list: list.filter(|_| !next.pull.is_settled()),
            forget: None,
        };
        unit.put(keys::pull(reference), &next, Some(found.version), place);
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// What is to be done about a pull request comes after its reading, so it is due again with that, and not only when the claim
    /// of the poller that found it due has run out.
    async fn look_at_effects_again(
        &self,
        reference: &PullRef,
        wait: SignedDuration,
    ) -> Result<(), Error> {
        let pk = keys::pull_pk(reference);
        let at = self.backend.now() + wait;
        for found in self.backend.store.effects(&pk).await? {
            if !found.value.is_settled() {
                let key = keys::effect(&pk, &found.value.id);
                self.backend.bring_forward(&key, at).await?;
            }
        }
        Ok(())
    }

    /// The longer nothing could be read, the longer the wait: half as long again.
    fn wait_of(&self, found: &Versioned<TrackedPull>, failure: &Failure) -> SignedDuration {
        let unread_for = found.value.read_at.map_or(SignedDuration::ZERO, |read| {
            self.backend.now().duration_since(read)
        });
        let growing = (unread_for / 2).clamp(AGAIN_SOON, AGAIN_LATE);
        failure
            .asked_wait()
            .map_or(growing, |asked| asked.max(AGAIN_SOON))
    }

    /// A job that goes on needs its pull request. For an unlinked one it asks again only if the answer can change by
    /// itself.
    async fn is_worth_another_look(
        &self,
        hint: Option<&JobId>,
        failure: &Failure,
    ) -> Result<bool, Error> {
        if let Some(id) = hint {
            return Ok(self
                .backend
                .store
                .job(id)
                .await?
                .is_some_and(|job| !job.value.is_ended()));
        }
        Ok(match failure.class {
            FailureClass::Throttled
            | FailureClass::Unavailable
            | FailureClass::Network
            | FailureClass::Unauthorized => true,
            FailureClass::NotFound
            | FailureClass::Garbled
            | FailureClass::Forbidden
            | FailureClass::Precondition
            | FailureClass::Conflict
            | FailureClass::Invalid => false,
        })
    }

    /// Writes one row for each pull request and job, however many messages failed, and keeps in it why it was not read.
    async fn park(
        &self,
        reference: &PullRef,
        hint: Option<&JobId>,
        failure: &Failure,
    ) -> Result<(), Error> {
        let wait = failure
            .asked_wait()
            .map_or(AGAIN_UNREAD, |asked| asked.max(AGAIN_SOON));
        let work = Work::Pull {
            pull: reference.clone(),
            job: hint.cloned(),
            received_at: None,
        };
        let mut unit = self.backend.unit();
        let again_at = unit.now() + wait;
        let row = OutboxRow {
            work,
            unread: Some(unread(failure, again_at)),
        };
        unit.put_if(
            keys::parked(&keys::pull_pk(reference), hint),
            &row,
            Expect::Any,
            IndexEntry::due(Some(again_at)),
        );
        self.backend.commit(unit).await
    }
}

/// What is kept of a failed reading.
fn unread(failure: &Failure, again_at: Timestamp) -> UnreadPull {
    UnreadPull {
        class: failure.class,
        why: presentable(&failure.message, WHY_CHARS_MAX),
        again_at,
    }
}
