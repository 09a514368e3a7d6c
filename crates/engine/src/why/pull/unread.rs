//! Pull requests that are not followed: not read yet for the job that names them, or linked to no job.

use domain::advice::Advice;
use domain::ids::PullRef;
use domain::job::Job;
use jiff::Timestamp;

use super::{postponed, unjudged};
use crate::backend::{Backend, Error};
use crate::keys;
use crate::settings::OutboxRow;
use crate::store::decode;
use crate::why::{Why, WhySubject};
use crate::work::Work;

/// Maximum number of waiting requests to read a pull request that are loaded.
const PARKED_MAX: usize = 20;

impl Backend {
    /// Explains why a pull request is not followed: it could not be read yet for the job that names it, or it is linked to none.
    pub(in crate::why) async fn why_not_followed(&self, reference: &PullRef) -> Result<Why, Error> {
        let mut found = WhySubject::default();
        self.switches(&mut found, &reference.repo).await?;
        let job = self.job_naming(reference).await?;
        if job.is_none() {
            not_ours(&mut found, reference);
        }
        let next_look = self.why_never_read(&mut found, reference).await?;
        let pull = Some(reference.clone());
        let Some(job) = job else {
            return Ok(found.into_why(None, pull, "not-ours", next_look));
        };
        if next_look.is_none() {
            found.because("pull_unread", unjudged(reference));
        }
        self.accepted(&mut found, &job, None).await?;
        found.waits_for = Some(self.waits_for(&job).await?);
        Ok(found.into_why(Some(job.id), pull, "unread", next_look))
    }

    /// Explains why a pull request that is not followed yet could not be read, until it is tried again. Returns when that is.
    pub(in crate::why) async fn why_never_read(
        &self,
        found: &mut WhySubject,
        reference: &PullRef,
    ) -> Result<Option<Timestamp>, Error> {
        let now = self.now();
        let parked = self.parked(reference).await?.into_iter();
        let unread = parked.filter_map(|row| row.unread);
        let unread = unread.filter(|unread| unread.again_at > now);
        let Some(next) = unread.min_by_key(|unread| unread.again_at) else {
            return Ok(None);
        };
        let told = postponed(reference, &next);
        found.because(told.code, told.sentence);
        let sentence = format!("Pull request {reference} is read.");
        found.then(next.again_at, sentence);
        Ok(Some(next.again_at))
    }

    /// The job whose session names a pull request that is still to be read for it.
    async fn job_naming(&self, reference: &PullRef) -> Result<Option<Job>, Error> {
        for row in self.parked(reference).await? {
            if let Work::Pull { job: Some(id), .. } = &row.work {
                let job = self.store.job(id).await?.map(|found| found.value);
                let naming = job.filter(|job| job.pull() == Some(reference));
                if naming.is_some() {
                    return Ok(naming);
                }
            }
        }
        Ok(None)
    }

    /// The stored requests to read a pull request that is not followed yet.
    async fn parked(&self, reference: &PullRef) -> Result<Vec<OutboxRow>, Error> {
        let page = self
            .store
            .records()
            .query(&keys::pull_pk(reference), keys::OUT, None, PARKED_MAX)
            .await?;
        // One that cannot be read explains nothing.
        let rows = page.records.iter();
        let rows = rows.filter_map(|record| decode::<OutboxRow>(record).ok());
        Ok(rows.map(|row| row.value).collect())
    }
}

/// Why a pull request that is linked to no job is ignored.
fn not_ours(found: &mut WhySubject, reference: &PullRef) {
    let sentence = format!(
        "No job of this installation is known to have made {reference}, so nothing is written to it; Gaffer links a pull request only if its session lists it, or if its text and its branch both name the session."
    );
    found.because("not_ours", sentence);
    found.next.push(Advice::Adopt.about(&reference.repo));
}
