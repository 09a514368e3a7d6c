//! Adoption: a person hands over a session that was started elsewhere. The API records the request; the dispatcher
//! reads the session and decides.

use std::time::Duration;

use domain::ids::{AgentName, DeliveryId, JobId, RepoName, SessionId};
use domain::job::Job;
use domain::policy::Source;
use domain::refusal::NotNow;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::backend::{Backend, Error, IndexEntry, OUTBOX_GRACE};
use crate::keys;
use crate::wait::WaitState;
use crate::work::Work;

/// What is wanted of an adoption.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adoption {
    /// The session.
    pub session: SessionId,
    /// The repository it works on, which has to be a source.
    pub repo: RepoName,
    /// Who is woken; the source's agent without one.
    pub agent: Option<AgentName>,
    /// Whether a session that carries another installation's marker may be taken over.
    pub take_over: bool,
    /// The delivery that collects it as a run: its job belongs to that from the start, and only a session that has ended is adopted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delivery: Option<DeliveryId>,
    /// Who asked for it, and through what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When it was asked for.
    pub asked_at: Timestamp,
    /// Why it was refused, if it was: a code and a sentence.
    pub refused: Option<(String, String)>,
}

/// The outcome of an adoption within the wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Adopted {
    /// The session is watched under this job.
    Job(Box<Job>),
    /// It was refused: a code and a sentence.
    Refused(String, String),
    /// Not decided yet; the job will have this id.
    Later(JobId),
}

impl Backend {
    /// Asks for a session to be adopted and waits for the decision, at most `within`. One that is ours already answers its job.
    pub async fn adopt(&self, adoption: Adoption, within: Duration) -> Result<Adopted, Error> {
        if let Some(known) = self.store.job_of(&adoption.session).await? {
            return Ok(Adopted::Job(Box::new(self.must_job(&known).await?.value)));
        }
        self.must::<Source>(&adoption.repo).await?;
        let id = JobId::from_ulid(self.ulid());
        let mut unit = self.unit();
        let place = IndexEntry::due(Some(unit.now() + OUTBOX_GRACE));
        unit.put(keys::adoption(&id), &adoption, None, place);
        unit.enqueue(&keys::job_pk(&id), Work::Adopt { id: id.clone() });
        self.commit(unit).await?;
        self.decided(&id, &adoption.session, within).await
    }

    /// How far an adoption is that was asked for.
    pub async fn adopted(&self, id: &JobId, session: &SessionId) -> Result<Adopted, Error> {
        if let Some(job) = self.store.job_of(session).await? {
            return Ok(Adopted::Job(Box::new(self.must_job(&job).await?.value)));
        }
        let asked = self.store.read::<Adoption>(&keys::adoption(id)).await?;
        let refused = asked.and_then(|asked| asked.value.refused);
        Ok(match refused {
            Some((code, sentence)) => Adopted::Refused(code, sentence),
            None => Adopted::Later(id.clone()),
        })
    }

    async fn decided(
        &self,
        id: &JobId,
        session: &SessionId,
        within: Duration,
    ) -> Result<Adopted, Error> {
        self.look_within(within, || async {
            Ok(match self.adopted(id, session).await? {
                open @ Adopted::Later(_) => WaitState::NotYet(open),
                decided @ (Adopted::Job(_) | Adopted::Refused(..)) => WaitState::Enough(decided),
            })
        })
        .await
    }
}

/// A refusal as stored.
pub(crate) fn refusal(not_now: NotNow) -> (String, String) {
    (not_now.code.to_owned(), not_now.sentence)
}
