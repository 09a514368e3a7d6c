//! Keeps what was said and done in the runs of a delivery, for people and agents who look into them.

use domain::delivery::{
    self, Delivery, TranscriptEntry, TranscriptSpan, TranscriptState, transcript_pages,
    transcript_span,
};
use domain::failure::{Failure, FailureClass};
use domain::ids::{DeliveryId, RunId};
use domain::job::{Job, JobPhase};
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
            match self.keep_transcript(id, run, Reader::Look).await {
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
        let Some(failure) = self.keep_transcript(id, run, Reader::Caller).await? else {
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
        reader: Reader,
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
        let first = self.first_page(id, run).await?;
        let read_at = self.backend.now();
        let is_whole = read_at >= span.through && !(span.is_collected && works(&job.value));
        // A message that comes twice reads nothing twice.
        if is_final(&found.value, run, first.as_ref()) || (reader == Reader::Look && !is_whole) {
            return Ok(None);
        }
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
        let mut reading = LogReading {
            entries,
            left_out: 0,
            read_at,
            is_whole,
        };
        if reading.entries.is_empty()
            && let Some(first) = first.filter(|first| first.value.pages > 0)
        {
            // The session is gone, and what a caller asked for before is all that there is.
            self.take_kept(id, run, first.value, &mut reading).await?;
        }
        self.save_transcript(id, run, &reading).await?;
        Ok(None)
    }

    /// Takes what an earlier reading kept.
    async fn take_kept(
        &self,
        id: &DeliveryId,
        run: &RunId,
        first: TranscriptPage,
        reading: &mut LogReading,
    ) -> Result<(), Error> {
        reading.left_out = first.left_out;
        let (pages, read_at) = (first.pages, first.read_at);
        reading.entries = first.entries;
        for page in 2..=pages {
            let key = keys::transcript(id, run, page);
            let found = self.backend.store.read::<TranscriptPage>(&key).await?;
            let found = found.filter(|found| found.value.read_at == read_at);
            let entries = found.map(|found| found.value.entries);
            reading.entries.extend(entries.unwrap_or_default());
        }
        Ok(())
    }

    /// Saves the pages together with the word that they are there. Those of a run whose log still grows are kept for a
    /// short time only, and the log is read again.
    async fn save_transcript(
        &self,
        id: &DeliveryId,
        run: &RunId,
        reading: &LogReading,
    ) -> Result<(), Error> {
        let (pages, entries) = (&pages(reading), &reading.entries);
        let (read_at, is_whole) = (reading.read_at, reading.is_whole);
        decide_again(format!("delivery {id}"), || async move {
            let first = self.first_page(id, run).await?;
            let found = self.backend.must::<Delivery>(id).await?;
            if is_final(&found.value, run, first.as_ref()) {
                return Ok(Some(()));
            }
            let now = self.backend.now();
            let step = delivery::with_transcript(&found.value, run, entries, now);
            let mut unit = self.backend.unit();
            if is_whole && step.aggregate != found.value {
                let found = Some(&found);
                self.backend.save_delivery(&mut unit, found, &step).await?;
            }
            let until = match is_whole {
                true => retention::TRANSCRIPT,
                false => retention::ANSWER,
            };
            let kept = RunPages {
                id,
                run,
                pages,
                first: first.as_ref(),
                read_at,
                until,
            };
            put_pages(&mut unit, &kept);
            Ok(self.backend.try_commit(unit).await?.then_some(()))
        })
        .await
    }
}

/// The pages of a run that are kept.
struct RunPages<'a> {
    id: &'a DeliveryId,
    run: &'a RunId,
    pages: &'a [TranscriptPage],
    /// The first page as it was stored before.
    first: Option<&'a Versioned<TranscriptPage>>,
    read_at: Timestamp,
    /// For how long they are kept.
    until: SignedDuration,
}

fn put_pages(unit: &mut UnitOfWork, kept: &RunPages<'_>) {
    let RunPages {
        id,
        run,
        pages,
        first,
        read_at,
        until,
    } = *kept;
    let place = || IndexEntry::until(read_at, until);
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

/// What was read of a log.
struct LogReading {
    entries: Vec<TranscriptEntry>,
    /// How many entries an earlier reading left out before them.
    left_out: u32,
    read_at: Timestamp,
    /// Whether nothing more can be written.
    is_whole: bool,
}

/// Who reads a log: looks keep it once nothing more can be written, callers see what there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    Look,
    Caller,
}

/// Whether there are pages.
fn is_kept(first: Option<&Versioned<TranscriptPage>>) -> bool {
    first.is_some_and(|first| first.value.pages > 0)
}

/// Whether a whole reading is kept: no later one may replace it, since the session may be gone by then.
fn is_final(delivery: &Delivery, run: &RunId, first: Option<&Versioned<TranscriptPage>>) -> bool {
    let run = delivery.runs.iter().find(|it| it.id == *run);
    let is_whole = run.is_some_and(|run| run.transcript != TranscriptState::Pending);
    is_whole && is_kept(first)
}

/// Whether the session of a job may still write.
fn works(job: &Job) -> bool {
    match &job.phase {
        JobPhase::Queued { .. } | JobPhase::Creating { .. } => true,
        JobPhase::Watching(watch) => watch.log.completed.is_none(),
        JobPhase::Proposed { .. } | JobPhase::Ended(_) => false,
    }
}

fn unchanged(first: Option<&Versioned<TranscriptPage>>) -> Expect {
    first.map_or(Expect::Absent, |first| Expect::Version(first.version))
}

/// Whether what cannot be found may still appear. The span may end in the future.
fn is_recent(span: &TranscriptSpan, now: Timestamp) -> bool {
    now < plus(span.through, APPEARS_WITHIN)
}

/// The pages of a transcript.
fn pages(reading: &LogReading) -> Vec<TranscriptPage> {
    let (pages, left_out) = transcript_pages(reading.entries.clone());
    let count = u32::try_from(pages.len()).unwrap_or(u32::MAX);
    let left_out = u32::try_from(left_out).unwrap_or(u32::MAX);
    let left_out = left_out.saturating_add(reading.left_out);
    let page = |entries| TranscriptPage {
        read_at: reading.read_at,
        pages: count,
        left_out,
        entries,
        failure: None,
    };
    pages.into_iter().map(page).collect()
}
