//! Keeps what was said and done in the runs of a delivery, for people and agents who look into them.

use domain::delivery::{
    self, Delivery, TranscriptEntry, TranscriptSpan, transcript_pages, transcript_span,
};
use domain::failure::{Failure, FailureClass};
use domain::ids::{DeliveryId, RunId};
use domain::when::is_within;
use jiff::{SignedDuration, Timestamp};

use crate::backend::{Error, IndexEntry, UnitOfWork, decide_again};
use crate::dispatcher::Dispatcher;
use crate::ports::Expect;
use crate::readings::TranscriptPage;
use crate::{keys, retention};

/// How long after its run a log that cannot be found may still appear: a session that failed at once may not be visible
/// everywhere yet.
const APPEARS_WITHIN: SignedDuration = SignedDuration::from_mins(10);

impl Dispatcher {
    /// Reads and keeps the transcripts of runs that ended. One that cannot be read now is wanted again at the next
    /// look; it holds up neither the others nor the delivery.
    pub(super) async fn keep_transcripts(
        &self,
        id: &DeliveryId,
        ended: &[RunId],
    ) -> Result<(), Error> {
        for run in ended {
            if let Some(failure) = self.keep_transcript(id, run).await? {
                tracing::warn!(delivery.id = %id, %run, %failure, "a transcript could not be read; it is read later");
            }
        }
        Ok(())
    }

    /// Reads a transcript for a caller who waits, and tells a failure, too.
    pub(in crate::dispatcher) async fn transcript_for_caller(
        &self,
        id: &DeliveryId,
        run: &RunId,
    ) -> Result<(), Error> {
        let Some(failure) = self.keep_transcript(id, run).await? else {
            return Ok(());
        };
        let read_at = self.backend.now();
        let told = TranscriptPage::nothing(read_at, Some(&failure));
        let mut unit = self.backend.unit();
        let place = IndexEntry::until(read_at, retention::ANSWER);
        unit.put_if(keys::transcript(id, run, 1), &told, Expect::Any, place);
        self.backend.commit(unit).await
    }

    /// Reads the log of a run's session and keeps its part of it. Returns why it could not be read.
    async fn keep_transcript(
        &self,
        id: &DeliveryId,
        run: &RunId,
    ) -> Result<Option<Failure>, Error> {
        let Some(found) = self.backend.store.get::<Delivery>(id).await? else {
            return Ok(None);
        };
        let Some(span) = transcript_span(&found.value, run) else {
            return Ok(None);
        };
        let Some(job) = self.backend.store.job(&span.job).await? else {
            return Ok(None);
        };
        let read_at = self.backend.now();
        let sessions = &self.readers.sessions;
        let log = sessions.activities(&job.value.account, &span.session, span.after);
        let entries = match log.await {
            Ok(log) => delivery::transcript(&log, &span),
            Err(failure)
                if failure.class == FailureClass::NotFound && !is_recent(&span, read_at) =>
            {
                Vec::new()
            }
            Err(failure) => return Ok(Some(failure)),
        };
        self.save_transcript((id, run), &entries, read_at).await?;
        Ok(None)
    }

    /// Saves the pages together with the word that they are there.
    async fn save_transcript(
        &self,
        (id, run): (&DeliveryId, &RunId),
        entries: &[TranscriptEntry],
        read_at: Timestamp,
    ) -> Result<(), Error> {
        let pages = &pages(entries, read_at);
        decide_again(format!("delivery {id}"), || async move {
            let found = self.backend.must_delivery(id).await?;
            let now = self.backend.now();
            let step = delivery::with_transcript(&found.value, run, entries, now);
            let mut unit = self.backend.unit();
            if step.aggregate != found.value {
                let found = Some(&found);
                self.backend.save_delivery(&mut unit, found, &step).await?;
            }
            put_pages(&mut unit, (id, run), pages, read_at);
            Ok(self.backend.try_commit(unit).await?.then_some(()))
        })
        .await
    }
}

fn put_pages(
    unit: &mut UnitOfWork,
    (id, run): (&DeliveryId, &RunId),
    pages: &[TranscriptPage],
    read_at: Timestamp,
) {
    let place = || IndexEntry::until(read_at, retention::TRANSCRIPT);
    for (page, kept) in (1..).zip(pages) {
        let key = keys::transcript(id, run, page);
        unit.put_if(key, kept, Expect::Any, place());
    }
    if pages.is_empty() {
        // Who waits for it learns that there is none.
        let (key, none) = (
            keys::transcript(id, run, 1),
            TranscriptPage::nothing(read_at, None),
        );
        let place = IndexEntry::until(read_at, retention::ANSWER);
        unit.put_if(key, &none, Expect::Any, place);
    }
}

fn is_recent(span: &TranscriptSpan, now: Timestamp) -> bool {
    is_within(span.through, now, APPEARS_WITHIN)
}

/// The pages of a transcript.
fn pages(entries: &[TranscriptEntry], read_at: Timestamp) -> Vec<TranscriptPage> {
    let (pages, left_out) = transcript_pages(entries.to_vec());
    let count = u32::try_from(pages.len()).unwrap_or(u32::MAX);
    let left_out = u32::try_from(left_out).unwrap_or(u32::MAX);
    let page = |entries| TranscriptPage {
        read_at,
        pages: count,
        left_out,
        entries,
        failure: None,
    };
    pages.into_iter().map(page).collect()
}
