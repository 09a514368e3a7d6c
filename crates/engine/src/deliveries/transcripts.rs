//! What was said and done in a run, for those who ask: as it was kept, or read afresh.

use std::time::Duration;

use domain::delivery::{Delivery, Run, RunResult, TranscriptState};
use domain::ids::{DeliveryId, RunId};

use crate::backend::{Backend, Error};
use crate::keys;
use crate::readings::TranscriptPage;
use crate::work::Work;

/// A page of a transcript, with what it is a page of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunTranscript {
    /// The run.
    pub run: Run,
    /// Which page, from 1.
    pub page: u32,
    /// The page.
    pub kept: TranscriptPage,
}

/// What is answered to a request for a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TranscriptAnswer {
    /// The page.
    Page(Box<RunTranscript>),
    /// There is no transcript, or no such page of it.
    Nothing,
    /// Jules could not be read, and why.
    Unread(String),
    /// It is not there yet.
    Later,
}

impl Backend {
    /// A run of a delivery.
    pub async fn run_of(&self, id: &DeliveryId, run: &RunId) -> Result<Run, Error> {
        let found = self.store.get::<Delivery>(id).await?;
        let runs = found.map(|found| found.value.runs).unwrap_or_default();
        let run_found = runs.into_iter().find(|it| it.id == *run);
        run_found.ok_or_else(|| Error::NoSuch {
            what: "run",
            name: run.to_string(),
        })
    }

    /// The newest run that has a transcript, else the newest run; none while there is none.
    pub async fn latest_run(&self, id: &DeliveryId) -> Result<Option<Run>, Error> {
        let found = self.store.get::<Delivery>(id).await?;
        let runs = found.map(|found| found.value.runs).unwrap_or_default();
        let has_transcript = |run: &&Run| !run.transcript.is_none();
        let newest = runs.iter().rev().find(has_transcript);
        Ok(newest.or(runs.last()).cloned())
    }

    /// The newest run that failed: an analysis is about it unless it names another one. None while none has failed.
    pub async fn latest_failed_run(&self, id: &DeliveryId) -> Result<Option<Run>, Error> {
        let found = self.store.get::<Delivery>(id).await?;
        let runs = found.map(|found| found.value.runs).unwrap_or_default();
        let has_failed = |run: &Run| run.status == RunResult::Failed;
        Ok(runs.into_iter().rfind(has_failed))
    }

    /// A page of a run's transcript, from 1. One that is not kept, or no longer, is read afresh, and awaited at most
    /// `within`.
    pub async fn run_transcript(
        &self,
        id: &DeliveryId,
        run: &RunId,
        page: u32,
        within: Duration,
    ) -> Result<TranscriptAnswer, Error> {
        let run = self.run_of(id, run).await?;
        if run.transcript.is_none() {
            return Ok(TranscriptAnswer::Nothing);
        }
        let Some(first) = self.first_page(id, &run, within).await? else {
            return Ok(TranscriptAnswer::Later);
        };
        if let Some(failure) = first.failure {
            return Ok(TranscriptAnswer::Unread(failure));
        }
        if page == 0 || page > first.pages {
            return Ok(TranscriptAnswer::Nothing);
        }
        let kept = match page {
            1 => Some(first),
            _ => {
                let key = keys::transcript(id, &run.id, page);
                let found = self.store.read::<TranscriptPage>(&key).await?;
                // A page of another reading is no page of this one.
                let found = found.map(|found| found.value);
                found.filter(|found| found.read_at == first.read_at)
            }
        };
        Ok(match kept {
            Some(kept) => TranscriptAnswer::Page(Box::new(RunTranscript { run, page, kept })),
            None => TranscriptAnswer::Later,
        })
    }

    /// The first page, which says how many there are.
    async fn first_page(
        &self,
        id: &DeliveryId,
        run: &Run,
        within: Duration,
    ) -> Result<Option<TranscriptPage>, Error> {
        let key = keys::transcript(id, &run.id, 1);
        let found = self.store.read::<TranscriptPage>(&key).await?;
        let kept = found.map(|found| found.value).filter(|kept| kept.pages > 0);
        // What is kept while more may be written is read afresh.
        if kept.is_some() && run.transcript == TranscriptState::Kept {
            return Ok(kept);
        }
        let Some(job) = &run.job else {
            return Ok(kept);
        };
        let work = Work::Transcript {
            id: id.clone(),
            run: run.id.clone(),
        };
        let read = self.read_for(job, key, work, within).await?;
        Ok(read.or(kept))
    }
}
