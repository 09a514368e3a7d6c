//! The end of a sprint: jobs of members that are in end with it, others are left to people, and one event says so.

use domain::effect::{Action, RepoAction};
use domain::event::{Audience, Event, EventContext, Occurrence};
use domain::ids::{EventId, JobId, PullRef};
use domain::job::{self, Job};
use domain::mail::{HUMAN, Outgoing, Recipient};
use domain::outgoing_text::{left_out, sprint_end};
use domain::policy::Timing;
use domain::sprint::{MemberState, Sprint, SprintMember, SprintState};
use domain::step::Step;
use jiff::Timestamp;

use super::conflicts::weaver;
use super::named;
use crate::backend::{Error, decide_again};
use crate::dispatcher::Dispatcher;
use crate::save::EventRoute;
use crate::store::Versioned;

impl Dispatcher {
    /// Carries out what the end of a sprint asks for; done twice it does nothing more.
    pub(super) async fn end_sprint(&self, found: &Versioned<Sprint>) -> Result<(), Error> {
        let sprint = &found.value;
        if self.mark_shown(found).await? || found.due.is_none() {
            return Ok(());
        }
        for member in &sprint.members {
            self.end_member(sprint, member).await?;
        }
        self.end_job(&sprint.integration, job::leave).await?;
        self.tell_of_end(sprint).await?;
        let mut unit = self.backend.unit();
        let id = (sprint.repo.clone(), sprint.number);
        unit.save_at(&id, sprint, (Some(found.version), None));
        self.backend.try_commit(unit).await.map(drop)
    }

    async fn end_member(&self, sprint: &Sprint, member: &SprintMember) -> Result<(), Error> {
        match &sprint.state {
            SprintState::Aborted { .. } => self.call_off(sprint, member).await,
            SprintState::Done { .. } | SprintState::PartiallyDone { .. } => {
                let is_in = matches!(member.state, MemberState::Applied { .. });
                match self.merged(sprint).await?.filter(|_| is_in) {
                    Some(into) => {
                        let end = |job: &Job, now| job::woven(job, &into, now);
                        self.end_job(&member.job, end).await
                    }
                    None => self.end_job(&member.job, job::leave).await,
                }
            }
            SprintState::Working
            | SprintState::Integrating
            | SprintState::Fixing
            | SprintState::Verifying => Ok(()),
        }
    }

    /// The one pull request, if it is merged.
    async fn merged(&self, sprint: &Sprint) -> Result<Option<PullRef>, Error> {
        let Some(woven) = &sprint.woven else {
            return Ok(None);
        };
        let found = self.backend.store.pull(&woven.pull).await?;
        let landing = found.map(|found| domain::sprint::landing(&found.value.pull, Some(woven)));
        let is_merged = landing == Some(domain::sprint::Landing::Merged);
        Ok(is_merged.then(|| woven.pull.clone()))
    }

    /// Cancels the job of a member, and takes the label of the sprint off its pull request, which stays.
    async fn call_off(&self, sprint: &Sprint, member: &SprintMember) -> Result<(), Error> {
        let Some(found) = self.backend.store.job(&member.job).await? else {
            return Ok(());
        };
        // The label goes first: a job that is over by then is not called off again.
        if let Some(pull) = found.value.pull().cloned() {
            let unlabel = Action::Repo(RepoAction::Unlabel {
                pull,
                label: sprint.number.label(),
            });
            let effect = |job: &Job, _now| {
                let mut step = Step::unchanged(job.clone());
                step.due = job::looked_at(job, &Timing::default());
                step.effects.push(unlabel.clone());
                step
            };
            self.end_job(&member.job, effect).await?;
        }
        self.cancel_member(&named(sprint), &member.job).await
    }

    /// Ends a job, if it is there.
    async fn end_job(
        &self,
        id: &JobId,
        end: impl Fn(&Job, Timestamp) -> Step<Job> + Sync,
    ) -> Result<(), Error> {
        decide_again(format!("the end of job {id}"), || async {
            let Some(found) = self.backend.store.job(id).await? else {
                return Ok(Some(()));
            };
            let step = end(&found.value, self.backend.now());
            let mut unit = self.backend.unit();
            self.backend
                .save_job(&mut unit, Some(&found), &step)
                .await?;
            Ok::<_, Error>(self.backend.try_commit(unit).await?.then_some(()))
        })
        .await
    }

    /// One event, and mail to people about members that are not in.
    async fn tell_of_end(&self, sprint: &Sprint) -> Result<(), Error> {
        let source = self.source(&sprint.repo).await?;
        let mut unit = self.backend.unit();
        let event = Event {
            id: EventId::from_name(&format!("sprint:{}:{}", sprint.repo.key(), sprint.number)),
            job: None,
            account: sprint.account.clone(),
            attempt: 0,
            seq: None,
            observed_at: unit.now(),
            status: String::new(),
            last_activity: None,
            what: Occurrence::Sprint {
                repo: sprint.repo.clone(),
                sprint: sprint.number,
                words: sprint_end(sprint),
            },
            audience: Audience::Agent,
            aid: EventContext {
                pull: sprint.woven.as_ref().map(|woven| woven.pull.clone()),
                ..EventContext::default()
            },
        };
        let route = EventRoute {
            agent: self.backend.awake(source.agent).await?,
            repo: Some(sprint.repo.clone()),
            resume: None,
        };
        self.backend
            .save_account_events(&mut unit, &[event], &route)
            .await?;
        self.backend.commit(unit).await?;
        self.mail_people(sprint).await
    }

    async fn mail_people(&self, sprint: &Sprint) -> Result<(), Error> {
        let is_aborted = matches!(sprint.state, SprintState::Aborted { .. });
        let Some((subject, body)) = left_out(sprint).filter(|_| !is_aborted) else {
            return Ok(());
        };
        let (Some(from), Ok(to), Ok(subject), Ok(body)) =
            (weaver(), HUMAN.parse(), subject.parse(), body.parse())
        else {
            return Ok(());
        };
        let outgoing = Outgoing {
            from,
            to: Recipient::Persona(to),
            subject,
            body,
            attachments: Vec::new(),
        };
        self.send_once(sprint, &outgoing, "left-out")
            .await
            .map(drop)
    }
}
