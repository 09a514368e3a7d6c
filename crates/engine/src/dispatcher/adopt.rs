//! Decides about an adoption after reading its session.

use domain::delivery;
use domain::failure::FailureClass;
use domain::ids::{BranchName, JobId};
use domain::job::{self, NewJob, SessionRelation};
use domain::marker::Marker;
use domain::policy::{Source, Terms};
use domain::priority::Priority;
use domain::refusal::NotNow;
use domain::session::SessionView;
use domain::when::plus;
use jiff::SignedDuration;

use super::Dispatcher;
use crate::backend::{Error, IndexEntry, ignore_conflict};
use crate::jobs::adoption::{Adoption, refusal};
use crate::keys;
use crate::retention;
use crate::store::Versioned;

/// Interval of checks whether a create is settled.
const UNSETTLED_FOR: SignedDuration = SignedDuration::from_mins(5);

/// What a session is that we made.
enum OwnSession {
    /// Its job waits for the outcome of its create.
    Unsettled,
    /// Its job has it, finds it later, or does not want it.
    Superseded(NotNow),
}

impl Dispatcher {
    /// Adopts the session, or writes down why not.
    pub(super) async fn adopt(&self, id: &JobId) -> Result<(), Error> {
        let found = self
            .backend
            .store
            .read::<Adoption>(&keys::adoption(id))
            .await?;
        let Some(asked) = found.filter(|asked| asked.value.refused.is_none()) else {
            return Ok(());
        };
        if self
            .backend
            .store
            .job_of(&asked.value.session)
            .await?
            .is_some()
        {
            return self.forget(id, &asked).await;
        }
        let source = self.source(&asked.value.repo).await?;
        let view = match self
            .readers
            .sessions
            .get(&source.account, &asked.value.session)
            .await
        {
            Ok(view) => view,
            Err(failure) if failure.class == FailureClass::NotFound => {
                let sentence = format!(
                    "account `{}` knows no session {}",
                    source.account, asked.value.session
                );
                return self
                    .refuse(id, &asked, NotNow::new("no_such_session", sentence))
                    .await;
            }
            Err(failure) => return Err(failure.into()),
        };
        let not_now = self.not_ours_to_take(&asked.value, &view);
        if let Some(not_now) = not_now.or_else(|| still_at_work(&asked.value, &view)) {
            return self.refuse(id, &asked, not_now).await;
        }
        match self.made_by_us(&view).await? {
            None => self.take(id, &asked, &view, &source).await,
            // Its create determines its job, and then the adoption is carried out or refused.
            Some(OwnSession::Unsettled) => self.later(id, &asked).await,
            Some(OwnSession::Superseded(not_now)) => self.refuse(id, &asked, not_now).await,
        }
    }

    /// How a session with our own marker relates to its job, although the job does not point to it: a second job
    /// would watch it beside the first. `None` if there is no such job, or it ended without a session.
    async fn made_by_us(&self, view: &SessionView) -> Result<Option<OwnSession>, Error> {
        let marker = Marker::find(&view.title);
        let ours = marker.filter(|marker| marker.installation == self.backend.installation);
        let Some(marker) = ours else { return Ok(None) };
        let Some(job) = self.backend.store.job(&marker.job).await? else {
            return Ok(None);
        };
        match job::relation(&job.value, &view.id, marker.attempt) {
            SessionRelation::Unsettled => Ok(Some(OwnSession::Unsettled)),
            SessionRelation::Stray => Ok(None),
            SessionRelation::Own | SessionRelation::Duplicate => Ok(Some(superseded(
                view,
                &marker,
                "which has it or puts it away: use that job",
            ))),
            SessionRelation::Ahead => Ok(Some(superseded(
                view,
                &marker,
                "which finds it at its next attempt: retry that job",
            ))),
        }
    }

    async fn take(
        &self,
        id: &JobId,
        asked: &Versioned<Adoption>,
        view: &SessionView,
        source: &Source,
    ) -> Result<(), Error> {
        let branch = view.branch.clone().or_else(|| source.branch.clone());
        let new = NewJob {
            id: id.clone(),
            installation: self.backend.installation.clone(),
            account: source.account.clone(),
            repo: source.repo.clone(),
            branch: branch.unwrap_or_else(BranchName::main),
            title: Some(view.title.clone()).filter(|title| !title.trim().is_empty()),
            prompt: format!("Adopted session {}", view.id),
            agent: asked.value.agent.clone(),
            resume: None,
            priority: Priority::default(),
            terms: Terms::default(),
            part: None,
            delivery: asked.value.delivery.clone(),
        };
        let mut step = match job::adopt(new, view, self.backend.now()) {
            Ok(step) => step,
            Err(not_now) => return self.refuse(id, asked, not_now).await,
        };
        if let Some(by) = &asked.value.by {
            let at = asked.value.asked_at;
            job::record_order(&mut step.aggregate, job::Order::Adopt, by, at);
        }
        let mut unit = self.backend.unit();
        self.backend.save_job(&mut unit, None, &step).await?;
        unit.put(keys::session(&view.id), id, None, IndexEntry::default());
        unit.delete(keys::adoption(id), asked);
        self.wake_up(&mut unit, id, &source.account).await?;
        ignore_conflict(self.backend.commit(unit).await)
    }

    /// Another installation's sessions are left to it unless a person says otherwise.
    fn not_ours_to_take(&self, asked: &Adoption, view: &SessionView) -> Option<NotNow> {
        let marker = Marker::find(&view.title)?;
        let other = marker.installation != self.backend.installation;
        (other && !asked.take_over).then(|| NotNow::new("other_installation", format!(
                "session {} belongs to the installation `{}`: if that one is gone for good, adopt it with `take_over`",
                view.id, marker.installation
            )))
    }

    async fn later(&self, id: &JobId, asked: &Versioned<Adoption>) -> Result<(), Error> {
        let mut unit = self.backend.unit();
        let place = IndexEntry::due(Some(plus(self.backend.now(), UNSETTLED_FOR)));
        let key = keys::adoption(id);
        unit.put(key, &asked.value, Some(asked.version), place);
        ignore_conflict(self.backend.commit(unit).await)
    }

    async fn refuse(
        &self,
        id: &JobId,
        asked: &Versioned<Adoption>,
        not_now: NotNow,
    ) -> Result<(), Error> {
        let refused = Adoption {
            refused: Some(refusal(not_now)),
            ..asked.value.clone()
        };
        let mut unit = self.backend.unit();
        unit.put(
            keys::adoption(id),
            &refused,
            Some(asked.version),
            IndexEntry::until(self.backend.now(), retention::REFUSAL),
        );
        ignore_conflict(self.backend.commit(unit).await)
    }

    async fn forget(&self, id: &JobId, asked: &Versioned<Adoption>) -> Result<(), Error> {
        let mut unit = self.backend.unit();
        unit.delete(keys::adoption(id), asked);
        ignore_conflict(self.backend.commit(unit).await)
    }
}

/// A session that is to become a run of a delivery is not adopted while it works.
fn still_at_work(asked: &Adoption, view: &SessionView) -> Option<NotNow> {
    let has_ended = delivery::result_of(&view.state).is_some();
    let is_refused = asked.delivery.is_some() && !has_ended;
    is_refused.then(|| NotNow::new("session_working", delivery::SESSION_WORKING))
}

fn superseded(view: &SessionView, marker: &Marker, what: &str) -> OwnSession {
    let sentence = format!(
        "session {} was made for job {}, {what}",
        view.id, marker.job
    );
    let code = "superseded";
    OwnSession::Superseded(NotNow::new(code, sentence))
}
