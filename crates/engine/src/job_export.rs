//! Everything that is stored about a job, a delivery or a pipeline, read together for an export.

use domain::delivery::Delivery;
use domain::effect::Effect;
use domain::event::Event;
use domain::ids::{DeliveryId, JobId, RepoName, RunId};
use domain::job::Job;
use domain::pipeline::{Pipeline, Requirement};
use serde::Serialize;

use crate::keys;
use crate::ports::{PageToken, RecordsError};
use crate::readings::TranscriptPage;
use crate::settings::TrackedPull;
use crate::store::{Store, Versioned, decode};

/// Everything that is stored about a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobExport {
    /// The job.
    pub job: Job,
    /// The job's events, in order of observation.
    pub events: Vec<Event>,
    /// Effects with their outcomes.
    pub effects: Vec<Effect>,
    /// Its current pull request, if it has one.
    pub pull_record: Option<TrackedPull>,
    /// Effects of that pull request.
    pub pull_effects: Vec<Effect>,
    /// What its merges were judged by, one for each head.
    pub evidence: Vec<serde_json::Value>,
}

/// Everything that is stored about a delivery: its plan, its spans and its runs are in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DeliveryExport {
    /// The delivery, open or closed.
    pub delivery: Delivery,
    /// What it announced before it had a job, in order of observation; later events are with its job.
    pub events: Vec<Event>,
    /// What was said and done in its runs, as far as that is kept.
    pub transcripts: Vec<TranscriptExport>,
    /// Its own effects with their outcomes; those of its job and its pull request are with the job.
    pub effects: Vec<Effect>,
}

/// What was said and done in a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TranscriptExport {
    /// The run.
    pub run: RunId,
    /// The kept pages in order.
    pub pages: Vec<TranscriptPage>,
}

impl Store {
    /// A page of stored deliveries, the oldest first, and where the next page begins.
    pub async fn delivery_exports(
        &self,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<(Vec<DeliveryExport>, Option<PageToken>), RecordsError> {
        let list = keys::DELIVERIES;
        let page = self.records().list(list, false, after, limit).await?;
        let mut exports = Vec::with_capacity(page.records.len());
        for record in &page.records {
            let id: Versioned<DeliveryId> = decode(record)?;
            let Some(found) = self.get::<Delivery>(&id.value).await? else {
                continue;
            };
            let pk = keys::delivery_pk(&id.value);
            exports.push(DeliveryExport {
                events: self.events_below(&pk).await?,
                transcripts: self.transcripts_of(&found.value).await?,
                effects: values(self.effects(&pk).await?),
                delivery: found.value,
            });
        }
        Ok((exports, page.next))
    }

    async fn transcripts_of(
        &self,
        delivery: &Delivery,
    ) -> Result<Vec<TranscriptExport>, RecordsError> {
        let pk = keys::delivery_pk(&delivery.id);
        let mut transcripts = Vec::new();
        for run in &delivery.runs {
            if run.transcript.is_none() {
                continue;
            }
            let found = self.children(&pk, &keys::transcript_of(&run.id)).await?;
            let pages = of_one_reading(values(found));
            if !pages.is_empty() {
                let run = run.id.clone();
                transcripts.push(TranscriptExport { run, pages });
            }
        }
        Ok(transcripts)
    }

    /// The runs of a repository's pipeline, the oldest first.
    pub async fn pipelines_of(&self, repo: &RepoName) -> Result<Vec<Pipeline>, RecordsError> {
        Ok(values(self.all(&keys::pipelines_of(repo)).await?))
    }

    /// The requirements of a repository, the oldest first.
    pub async fn requirements_of(&self, repo: &RepoName) -> Result<Vec<Requirement>, RecordsError> {
        let mut found: Vec<Requirement> = Vec::new();
        for list in keys::requirements_of(repo) {
            found.extend(values(self.all(&list).await?));
        }
        found.sort_by_key(|requirement| requirement.created_at);
        Ok(found)
    }

    /// A page of jobs, the oldest first, and where the next page begins.
    pub async fn job_exports(
        &self,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<(Vec<JobExport>, Option<PageToken>), RecordsError> {
        let (jobs, next) = self.all_jobs(after, limit).await?;
        let mut dossiers = Vec::with_capacity(jobs.len());
        for job in jobs {
            dossiers.push(self.dossier(job).await?);
        }
        Ok((dossiers, next))
    }

    /// The same without anything that belongs to the jobs.
    pub async fn all_jobs(
        &self,
        after: Option<PageToken>,
        limit: usize,
    ) -> Result<(Vec<Job>, Option<PageToken>), RecordsError> {
        let page = self.records().list(keys::JOBS, false, after, limit).await?;
        let mut jobs = Vec::with_capacity(page.records.len());
        for record in &page.records {
            let id: Versioned<JobId> = decode(record)?;
            jobs.extend(self.job(&id.value).await?.map(|found| found.value));
        }
        Ok((jobs, page.next))
    }

    async fn dossier(&self, job: Job) -> Result<JobExport, RecordsError> {
        let events = self.events(&job.id).await?;
        let effects = values(self.effects(&keys::job_pk(&job.id)).await?);
        let Some(reference) = job.pull().cloned() else {
            return Ok(JobExport {
                job,
                events,
                effects,
                pull_record: None,
                pull_effects: Vec::new(),
                evidence: Vec::new(),
            });
        };
        let pk = keys::pull_pk(&reference);
        let pull_record = self.pull(&reference).await?.map(|found| found.value);
        Ok(JobExport {
            job,
            events,
            effects,
            pull_record,
            pull_effects: values(self.effects(&pk).await?),
            evidence: values(self.children(&pk, keys::EVIDENCE).await?),
        })
    }
}

/// The pages of the reading that the first of them is of: later ones may be left of a longer reading before.
fn of_one_reading(mut pages: Vec<TranscriptPage>) -> Vec<TranscriptPage> {
    let Some(first) = pages.first() else {
        return pages;
    };
    let (read_at, count) = (first.read_at, first.pages);
    pages.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    pages.retain(|page| page.read_at == read_at);
    pages
}

fn values<T>(found: Vec<Versioned<T>>) -> Vec<T> {
    found.into_iter().map(|found| found.value).collect()
}
