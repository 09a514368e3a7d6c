//! Keeps what was said and done in the runs of a delivery, for people and agents who look into them.

use domain::delivery::{
    self, Delivery, TranscriptEntry, TranscriptSpan, transcript_pages, transcript_span,
};
use domain::failure::{Failure, FailureClass};
use domain::ids::{DeliveryId, RunId};
use domain::when::plus;
use jiff::{SignedDuration, Timestamp};

use crate::backend::{Error, IndexEntry, UnitOfWork, decide_again, ignore_conflict};
use crate::dispatcher::Dispatcher;
use crate::ports::Expect;
use crate::readings::TranscriptPage;
use crate::store::Versioned;
use crate::{keys, retention};

/// How long after its run a log that cannot be found may still appear: a session that failed at once may not be visible
/// everywhere yet.
const APPEARS_WITHIN: SignedDuration = SignedDuration::from_mins(10);

impl Dispatcher {
    /// Reads and keeps the transcripts of runs that ended. One that cannot be read now is wanted again at the next
    /// look; it holds up neither the others nor the delivery.
    pub(super) async fn keep_transcripts(&self, id: &DeliveryId, ended: &[RunId]) {
        for run in ended {
            match self.keep_transcript(id, run).await {
                Ok(None) => {}
                Ok(Some(failure)) => {
                    tracing::warn!(delivery.id = %id, %run, %failure, "a transcript could not be read; it is read later");
                }
                Err(error) => {
                    tracing::warn!(delivery.id = %id, %run, %error, "a transcript could not be kept; it is read later");
                }
            }
        }
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
        let first = self.first_page(id, run).await?;
        if is_kept(first.as_ref()) {
            return Ok(());
        }
        let read_at = self.backend.now();
        let told = TranscriptPage::nothing(read_at, Some(&failure));
        let mut unit = self.backend.unit();
        let place = IndexEntry::until(read_at, retention::ANSWER);
        let key = keys::transcript(id, run, 1);
        unit.put_if(key, &told, unchanged(first.as_ref()), place);
        ignore_conflict(self.backend.commit(unit).await)
    }

    async fn first_page(
        &self,
        id: &DeliveryId,
        run: &RunId,
    ) -> Result<Option<Versioned<TranscriptPage>>, Error> {
        let key = keys::transcript(id, run, 1);
        Ok(self.backend.store.read(&key).await?)
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
        // A message that comes twice reads nothing twice.
        if is_kept(self.first_page(id, run).await?.as_ref()) {
            return Ok(None);
        }
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
        if entries.is_empty() && is_recent(&span, read_at) {
            return Ok(None);
        }
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
            let first = self.first_page(id, run).await?;
            if is_kept(first.as_ref()) {
                return Ok(Some(()));
            }
            let found = self.backend.must_delivery(id).await?;
            let now = self.backend.now();
            let step = delivery::with_transcript(&found.value, run, entries, now);
            let mut unit = self.backend.unit();
            if step.aggregate != found.value {
                let found = Some(&found);
                self.backend.save_delivery(&mut unit, found, &step).await?;
            }
            put_pages(&mut unit, (id, run), (pages, first.as_ref()), read_at);
            Ok(self.backend.try_commit(unit).await?.then_some(()))
        })
        .await
    }
}

fn put_pages(
    unit: &mut UnitOfWork,
    (id, run): (&DeliveryId, &RunId),
    (pages, first): (&[TranscriptPage], Option<&Versioned<TranscriptPage>>),
    read_at: Timestamp,
) {
    let place = || IndexEntry::until(read_at, retention::TRANSCRIPT);
    for (page, kept) in (1..).zip(pages) {
        let key = keys::transcript(id, run, page);
        // The first one decides between two readings.
        let expect = match page {
            1 => unchanged(first),
            _ => Expect::Any,
        };
        unit.put_if(key, kept, expect, place());
    }
    if pages.is_empty() {
        // Who waits for it learns that there is none.
        let (key, none) = (
            keys::transcript(id, run, 1),
            TranscriptPage::nothing(read_at, None),
        );
        let place = IndexEntry::until(read_at, retention::ANSWER);
        unit.put_if(key, &none, unchanged(first), place);
    }
}

/// Whether a reading is kept: no later one may replace it, since the session may be gone by then.
fn is_kept(first: Option<&Versioned<TranscriptPage>>) -> bool {
    first.is_some_and(|first| first.value.pages > 0)
}

fn unchanged(first: Option<&Versioned<TranscriptPage>>) -> Expect {
    first.map_or(Expect::Absent, |first| Expect::Version(first.version))
}

/// Whether what cannot be found may still appear. The span may end in the future.
fn is_recent(span: &TranscriptSpan, now: Timestamp) -> bool {
    now < plus(span.through, APPEARS_WITHIN)
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
